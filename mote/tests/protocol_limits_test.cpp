// What goes too far is refused as soon as it has.

#include <gtest/gtest.h>

#include "wire.hpp"

namespace mote::test {
namespace {

const std::string kPlainGet = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n";
const std::string kPlainPost = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";

TEST(EmptyLines, AreCountedHoweverTheyCome) {
  const Router router = make_router();
  Wire wire(router);
  for (int i = 0; i < 8; ++i) wire.send("\r\n");
  EXPECT_FALSE(wire.holds_memory());
  EXPECT_FALSE(wire.closed());
  wire.send("\r\n");
  EXPECT_EQ(wire.statuses(), std::vector{400});
  EXPECT_TRUE(wire.closed());
}

TEST(EmptyLines, AreCountedAnewAfterEachRequest) {
  const Router router = make_router();
  Wire wire(router);
  for (int i = 0; i < 20; ++i) wire.send(kPlainGet).send("\r\n");
  for (int i = 0; i < 20; ++i) wire.send(kPlainPost).drip("\r\n");
  EXPECT_EQ(wire.statuses(), std::vector(40, 200));
}

TEST(Limits, ATargetTooLongIsRefusedBeforeItsLineEnds) {
  const Router router = make_router();
  Wire longest(router);
  longest.send("GET /" + std::string(8187, 'a')).send(std::string(4, 'a'));
  EXPECT_TRUE(longest.statuses().empty());
  longest.send(" HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(longest.statuses(), std::vector{404});
  Wire longer(router);
  longer.send("GET /" + std::string(8187, 'a')).send(std::string(80, 'a'));
  EXPECT_EQ(longer.statuses(), std::vector{414});
}

TEST(Limits, AHeaderSectionTooLargeIsRefusedBeforeItsLineEnds) {
  const Router router = make_router();
  Wire wire(router);
  wire.send("GET /hello HTTP/1.1\r\nHost: a\r\nX: ");
  for (int i = 0; i < 6; ++i) wire.send(std::string(8192, 'a'));
  EXPECT_EQ(wire.statuses(), std::vector{431});
}

}  // namespace
}  // namespace mote::test
