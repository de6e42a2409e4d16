#include <gtest/gtest.h>

#include "wire.hpp"

namespace mote::test {
namespace {

const std::string kExpecting =
    "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";

TEST(Continue, IsSentWhereContentIsAwaited) {
  const Router router = make_router();
  Wire wire(router);
  wire.send(kExpecting);
  EXPECT_EQ(wire.received(), "HTTP/1.1 100 Continue\r\n\r\n");
  wire.send("hello");
  EXPECT_EQ(wire.statuses(), (std::vector{100, 200}));
  EXPECT_EQ(last_body(wire.received()), "hello");
}

TEST(Continue, IsLeftOutWhereContentHasCome) {
  const Router router = make_router();
  Wire wire(router);
  wire.send(kExpecting + "he").send("llo");
  EXPECT_EQ(wire.statuses(), std::vector{200});
}

TEST(Continue, AFinalAnswerInsteadEndsTheConnection) {
  const Router router = make_router();
  Wire wire(router);
  wire.send(
      "POST /nothing HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(wire.statuses(), std::vector{404});
  EXPECT_TRUE(wire.closed());
}

TEST(Unwanted, AFaultBehindTheAnswerEndsTheConnection) {
  const Router router = make_router();
  Wire wire(router);
  wire.send("POST /hello HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  EXPECT_EQ(wire.statuses(), std::vector{405});
  EXPECT_FALSE(wire.closed());
  wire.send("g\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(wire.statuses(), std::vector{405});
  EXPECT_TRUE(wire.closed());
}

TEST(Trailers, ReachTheHandlerApartFromTheHeaders) {
  const Router router = make_router();
  Wire wire(router);
  wire.send(
      "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n0\r\nX-Sum: 42\r\n\r\n");
  EXPECT_NE(wire.received().find("\r\nX-Sum: 42\r\n"), std::string::npos);
  EXPECT_EQ(last_body(wire.received()), "abc");
}

TEST(Memory, IsGivenBackAfterARequestThatCameInPart) {
  const Router router = make_router();
  Wire wire(router);
  wire.send("GET /hello HTTP/1.1\r\nHos");
  EXPECT_TRUE(wire.holds_memory());
  wire.send("t: a\r\n\r\n");
  EXPECT_FALSE(wire.holds_memory());
  wire.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel");
  EXPECT_TRUE(wire.holds_memory());
  wire.send("lo");
  EXPECT_FALSE(wire.holds_memory());
}

TEST(Memory, OfAClientThatPipelinesAndNeverReadsIsBounded) {
  const Router router = make_router();
  const Options options;
  Wire wire(router);
  wire.block();
  std::string burst;
  for (int i = 0; i < 300; ++i) burst += "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n";
  for (int i = 0; i < 1000; ++i) wire.send(burst);
  EXPECT_LE(wire.held_bytes(), options.limits.write_buffer);
  wire.unblock();
  EXPECT_FALSE(wire.holds_memory());
  EXPECT_EQ(wire.statuses().size(), 300U);
}

TEST(Memory, OfALargeResponseIsNotCopiedWhole) {
  const Router router = make_router();
  const Options options;
  Wire wire(router);
  wire.block();
  wire.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_LE(wire.held_bytes(), 2 * options.limits.write_buffer + 1024);
  wire.unblock();
  EXPECT_EQ(last_body(wire.received()), std::string(300'000, 'x'));
}

TEST(HalfClose, ContentCutShortIsRefused) {
  const Router router = make_router();
  Wire wire(router);
  wire.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel").end_input();
  EXPECT_EQ(wire.statuses(), std::vector{400});
  EXPECT_TRUE(wire.closed());
}

TEST(Timeout, IsAnsweredWith408InHeadAndContent) {
  const Router router = make_router();
  for (const char* part :
       {"GET /hello HT", "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nh"}) {
    Wire wire(router);
    wire.send(part).time_out();
    EXPECT_EQ(wire.statuses(), std::vector{408});
    EXPECT_TRUE(wire.closed());
  }
}

TEST(Interleaving, ConnectionsOfOneProtocolDoNotMix) {
  const Router router = make_router();
  const Options options;
  Protocol protocol(router.table(), options);
  Connection first{};
  Connection second{};
  protocol.receive(first, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhe");
  protocol.receive(second, "HEAD /hello HTTP/1.0\r\n\r\n");
  protocol.output().clear();
  protocol.receive(first, "llo");
  EXPECT_EQ(last_body(std::string(protocol.output().view())), "hello");
  EXPECT_FALSE(first.has(Connection::kClosing));
  protocol.output().clear();
  protocol.end(first);
  protocol.end(second);
}

}  // namespace
}  // namespace mote::test
