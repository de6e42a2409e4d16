#include "mote/router.hpp"

#include <gtest/gtest.h>

#include "wire.hpp"

namespace mote::test {
namespace {

// A handler that answers its route's name and the parameters asked for.
Handler tell(std::string name, std::vector<std::string> parameters = {}) {
  return [name, parameters](const Request& request, Response& response) {
    std::string text = name;
    for (const std::string& parameter : parameters) {
      text += " " + parameter + "=" + std::string(request.parameter(parameter));
    }
    response.text(text);
  };
}

std::string ask(const Router& router, const std::string& method, const std::string& target) {
  Wire wire(router);
  wire.send(method + " " + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
  const int status = wire.statuses().at(0);
  return status == 200 ? last_body(wire.received()) : std::to_string(status);
}

Router sample() {
  Router router;
  router.get("/", tell("root"));
  router.get("/users", tell("list"));
  router.get("/users/me", tell("me"));
  router.get("/users/{id}", tell("user", {"id"}));
  router.del("/users/{id}", tell("delete", {"id"}));
  router.get("/users/{who}/posts/{post}", tell("post", {"who", "post"}));
  router.get("/files/{path...}", tell("file", {"path"}));
  router.on("PURGE", "/cache", tell("purge"));
  return router;
}

TEST(Router, LiteralsWinOverParameters) {
  const Router router = sample();
  EXPECT_EQ(ask(router, "GET", "/"), "root");
  EXPECT_EQ(ask(router, "GET", "/users"), "list");
  EXPECT_EQ(ask(router, "GET", "/users/me"), "me");
  EXPECT_EQ(ask(router, "GET", "/users/7"), "user id=7");
  EXPECT_EQ(ask(router, "DELETE", "/users/me"), "delete id=me");
  EXPECT_EQ(ask(router, "GET", "/users/me/posts/3"), "post who=me post=3");
}

TEST(Router, ParametersAreDecodedAfterThePathIsSplit) {
  const Router router = sample();
  EXPECT_EQ(ask(router, "GET", "/users/a%2Fb%20c"), "user id=a/b c");
  EXPECT_EQ(ask(router, "GET", "/files/a/b.txt"), "file path=a/b.txt");
  EXPECT_EQ(ask(router, "GET", "/files/"), "file path=");
}

TEST(Router, EmptySegmentsAreNoParameters) {
  const Router router = sample();
  EXPECT_EQ(ask(router, "GET", "/users/"), "404");
  EXPECT_EQ(ask(router, "GET", "/Users"), "404");
}

TEST(Router, OtherMethods) {
  const Router router = sample();
  EXPECT_EQ(ask(router, "PURGE", "/cache"), "purge");
  EXPECT_EQ(ask(router, "PURGE", "/users"), "405");
  EXPECT_EQ(ask(router, "BREW", "/users"), "501");
  EXPECT_EQ(ask(router, "POST", "/users/7"), "405");
}

TEST(Router, AllowJoinsAllRoutesThatMatch) {
  const Router router = sample();
  Wire wire(router);
  wire.send("POST /users/me HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_NE(wire.received().find("Allow: DELETE, GET, HEAD, OPTIONS\r\n"), std::string::npos);
}

TEST(Router, RefusesBadRoutes) {
  Router router;
  router.get("/a/{b}", tell("a"));
  EXPECT_THROW(router.get("a", tell("x")), std::invalid_argument);
  EXPECT_THROW(router.get("/a b", tell("x")), std::invalid_argument);
  EXPECT_THROW(router.get("/a/{c}", tell("x")), std::invalid_argument);
  EXPECT_THROW(router.get("/{a...}/b", tell("x")), std::invalid_argument);
  EXPECT_THROW(router.on("B(D", "/x", tell("x")), std::invalid_argument);
  EXPECT_THROW(router.get("/x", {}), std::invalid_argument);
  EXPECT_THROW(router.get("/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}", tell("x")),
               std::invalid_argument);
}

TEST(Router, ManyLiteralsAreAllFound) {
  Router router;
  for (int i = 0; i < 500; ++i) router.get("/r" + std::to_string(i), tell(std::to_string(i)));
  for (int i = 0; i < 500; ++i) {
    ASSERT_EQ(ask(router, "GET", "/r" + std::to_string(i)), std::to_string(i));
  }
  EXPECT_EQ(ask(router, "GET", "/r500"), "404");
}

TEST(Request, QueryParameters) {
  Router router;
  router.get("/q", [](const Request& request, Response& response) {
    response.text(request.query_parameter("a b").value_or("none") + "|" +
                  request.query_parameter("c").value_or("none"));
  });
  EXPECT_EQ(ask(router, "GET", "/q?x=1&a+b=%31%26"), "1&|none");
  EXPECT_EQ(ask(router, "GET", "/q?c&a%20b=2&a+b=3"), "2|");
}

}  // namespace
}  // namespace mote::test
