#include "syntax/head.hpp"

#include <gtest/gtest.h>

namespace mote::syntax {
namespace {

Progress parse(std::string_view input, Head& head) {
  return parse_head(input, Limits{}, head);
}

TEST(Head, KeepsFieldsInOrderAndTrimsValues) {
  Head head;
  const std::string_view input = "GET / HTTP/1.1\r\nHost: a\r\nA:\t 1 2 \r\nB:\r\n\r\nrest";
  ASSERT_EQ(parse(input, head), Progress::Complete);
  EXPECT_EQ(head.size, input.size() - 4);
  ASSERT_EQ(head.field_count, 3U);
  EXPECT_EQ(head.fields[1].name, "A");
  EXPECT_EQ(head.fields[1].value, "1 2");
  EXPECT_EQ(head.fields[2].value, "");
}

TEST(Head, EveryPrefixIsIncomplete) {
  const std::string_view input =
      "POST http://a:1/b?c HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: "
      "100-continue\r\n\r\n";
  Head head;
  for (std::size_t size = 0; size < input.size(); ++size) {
    ASSERT_EQ(parse(input.substr(0, size), head), Progress::Incomplete) << size;
  }
  ASSERT_EQ(parse(input, head), Progress::Complete);
  EXPECT_EQ(head.content_length, 5U);
  EXPECT_TRUE(head.expects_continue);
  EXPECT_EQ(head.target.authority, "a:1");
}

TEST(Head, ControlCharactersAreFoundAtEveryPlaceOfALongValue) {
  Head head;
  for (std::size_t place = 0; place < 70; ++place) {
    for (const char control : {'\0', '\x01', '\x1F', '\x7F', '\n'}) {
      std::string value(70, 'v');
      value[place] = control;
      const std::string input = "GET / HTTP/1.1\r\nHost: a\r\nX: " + value + "\r\n\r\n";
      ASSERT_EQ(parse(input, head), Progress::Faulty) << place << " " << int{control};
    }
    for (const char allowed : {'\t', '\x80', '\xFF', '~', ' '}) {
      std::string value(70, 'v');
      value[place] = allowed;
      const std::string input = "GET / HTTP/1.1\r\nHost: a\r\nX: " + value + "\r\n\r\n";
      ASSERT_EQ(parse(input, head), Progress::Complete) << place << " " << int{allowed};
    }
  }
}

TEST(Head, LimitsHoldWhileTheHeadIsIncomplete) {
  Head head;
  const std::string host = "GET / HTTP/1.1\r\nHost: a\r\n";
  EXPECT_EQ(parse("GET /" + std::string(9000, 'a'), head), Progress::Faulty);
  EXPECT_EQ(head.fault.status, 414);
  EXPECT_EQ(parse(host + "X: " + std::string(33'000, 'a'), head), Progress::Faulty);
  EXPECT_EQ(head.fault.status, 431);
  std::string many = host;
  for (int i = 0; i < 200; ++i) many += "X: a\r\n";
  EXPECT_EQ(parse(many, head), Progress::Faulty);
  EXPECT_EQ(head.fault.status, 431);
  EXPECT_EQ(parse(std::string(100, 'A'), head), Progress::Faulty);
  EXPECT_EQ(head.fault.status, 501);
}

TEST(Head, AHostThatWasValidOnceDoesNotLetOthersPass) {
  Head head;
  for (const char* host : {"example.org", "example.or/", "example.org", "example.org "}) {
    const std::string input = std::string("GET / HTTP/1.1\r\nHost: ") + host + "\r\n\r\n";
    const bool valid = std::string_view(host).find('/') == std::string_view::npos;
    EXPECT_EQ(parse(input, head), valid ? Progress::Complete : Progress::Faulty) << host;
  }
}

}  // namespace
}  // namespace mote::syntax
