#include "syntax/target.hpp"

#include <gtest/gtest.h>

namespace mote::syntax {
namespace {

std::string normal(std::string_view path) {
  std::string out;
  normalise_path(path, out);
  return out;
}

TEST(NormalisePath, FollowsRfc3986) {
  EXPECT_EQ(normal("/a/b/c/./../../g"), "/a/g");
  EXPECT_EQ(normal("/%7euser/%41"), "/~user/A");
  EXPECT_EQ(normal("/a%2fb%C3%a4"), "/a%2Fb%C3%A4");
  EXPECT_EQ(normal("/../../a"), "/a");
  EXPECT_EQ(normal("/a/.."), "/");
  EXPECT_EQ(normal("/a/."), "/a/");
  EXPECT_EQ(normal("/%2e%2e/a"), "/a");
  EXPECT_EQ(normal("//a//"), "//a//");
  EXPECT_EQ(normal("/.a/..b"), "/.a/..b");
}

TEST(PercentDecode, KeepsWhatIsMalformed) {
  std::string out;
  percent_decode("a%20b+c%zz%4", true, out);
  EXPECT_EQ(out, "a b c%zz%4");
  percent_decode("a+b", false, out);
  EXPECT_EQ(out, "a+b");
}

TEST(Target, AbsoluteFormGivesAuthorityPathAndQuery) {
  Target target;
  ASSERT_FALSE(parse_target(Method::Get, "http://a:8/b/c?d", target));
  EXPECT_EQ(target.authority, "a:8");
  EXPECT_EQ(target.path, "/b/c");
  EXPECT_EQ(target.query, "d");
  ASSERT_FALSE(parse_target(Method::Get, "http://a?d", target));
  EXPECT_EQ(target.path, "/");
  EXPECT_EQ(target.query, "d");
}

}  // namespace
}  // namespace mote::syntax
