#include "mote/response.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "mote/router.hpp"
#include "wire.hpp"

namespace mote {
namespace {

TEST(Response, RefusesWhatWouldSplitOrMisframeIt) {
  Response response;
  EXPECT_THROW(response.header("X", "a\r\nSet-Cookie: b"), std::invalid_argument);
  EXPECT_THROW(response.header("X: a\r\nY", "b"), std::invalid_argument);
  EXPECT_THROW(response.header("", "b"), std::invalid_argument);
  EXPECT_THROW(response.header("content-length", "5"), std::invalid_argument);
  EXPECT_THROW(response.header("Transfer-Encoding", "chunked"), std::invalid_argument);
  EXPECT_THROW(response.status(100), std::invalid_argument);
  EXPECT_THROW(response.status(600), std::invalid_argument);
}

TEST(Response, ResetForgetsEverything) {
  Response response;
  response.status(404).header("X", "a").text("gone");
  response.reset();
  EXPECT_EQ(response.status(), 200);
  EXPECT_EQ(response.body(), "");
}

std::string head_of(const std::function<void(Response&)>& fill) {
  Router router;
  router.get("/", [&fill](const Request&, Response& response) { fill(response); });
  test::Wire wire(router);
  return wire.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n").received();
}

TEST(Response, HasOneTypeHoweverItsContentIsGiven) {
  const auto types = [](const std::string& head) {
    std::vector<std::string> found;
    const std::string name = "\r\nContent-Type: ";
    for (std::size_t at = 0; (at = head.find(name, at)) != std::string::npos; ++at) {
      const std::size_t value = at + name.size();
      found.push_back(head.substr(value, head.find('\r', value) - value));
    }
    return found;
  };
  using Types = std::vector<std::string>;
  const Types html{"text/html"};
  EXPECT_EQ(types(head_of([](Response& r) { r.header("Content-Type", "text/html").text("a"); })),
            html);
  EXPECT_EQ(types(head_of([](Response& r) { r.text("a").header("Content-Type", "text/html"); })),
            html);
  EXPECT_EQ(
      types(head_of([](Response& r) { r.header("Content-Type", "text/html").static_text("a"); })),
      html);
  EXPECT_EQ(types(head_of([](Response& r) { r.text("a").body("b"); })), Types{});
  EXPECT_EQ(types(head_of([](Response& r) { r.body("a").text("b"); })), Types{"text/plain"});
}

}  // namespace
}  // namespace mote
