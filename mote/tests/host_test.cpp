#include "syntax/host.hpp"

#include <gtest/gtest.h>

namespace mote::syntax {
namespace {

TEST(Authority, AcceptsWhatTheGrammarAllows) {
  for (const char* text : {"", "a", "a:", "a:0", "a:65535", "127.0.0.1:80", "[::1]", "[::1]:80",
                           "[v1.a:b]", "a%20b", "a_b-c.d~!$&'()*+,;=", "EXAMPLE.org"}) {
    Authority authority;
    EXPECT_TRUE(parse_authority(text, authority)) << text;
  }
}

TEST(Authority, RefusesTheRest) {
  for (const char* text :
       {"a b",  "a/b",  "a?b",  "a#b",    "u@a",        "a:b",     "a:65536", "a:1:2",
        "[::1", "::1",  "[]",   "[::1]a", "[::1%eth0]", "[v1.]",   "[v.a]",   "a%2",
        "a%zz", "a\\b", "a\"b", "<a>",    "\xC3\xA4",   "http://a"}) {
    Authority authority;
    EXPECT_FALSE(parse_authority(text, authority)) << text;
  }
}

TEST(Authority, SplitsHostAndPort) {
  Authority authority;
  ASSERT_TRUE(parse_authority("[::1]:8080", authority));
  EXPECT_EQ(authority.host, "[::1]");
  EXPECT_EQ(authority.port, "8080");
}

}  // namespace
}  // namespace mote::syntax
