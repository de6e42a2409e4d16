#include "syntax/head.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace mote::syntax {
namespace {

Progress parse(std::string_view input, Head& head) {
  return parse_head(input, Limits{}, head);
}

// What a head means, as text: equal texts are equal meanings.
std::string meaning(std::string_view input, Head& head) {
  const Progress progress = parse(input, head);
  std::string text = std::to_string(static_cast<int>(progress));
  if (progress == Progress::Faulty) return text + head.fault.reason;
  if (progress == Progress::Incomplete) return text;
  for (const unsigned number :
       {unsigned{head.minor_version}, static_cast<unsigned>(head.method),
        static_cast<unsigned>(head.framing), unsigned{head.persistent()},
        unsigned{head.expects_continue}, unsigned{head.expects_unknown}, unsigned{head.has_host},
        static_cast<unsigned>(head.content_length), static_cast<unsigned>(head.size)}) {
    text += " " + std::to_string(number);
  }
  text += " " + std::string(head.target_text);
  if (head.has_host) text += " at " + std::string(head.host);
  for (const Field& field : head.lines()) {
    text += "\n" + std::string(field.name) + ": " + std::string(field.value);
  }
  return text;
}

const std::vector<std::string> kSections = {
    "Host: a\r\n\r\n",
    "Host: b\r\n\r\n",
    "Host: a\r\nAccept: */*\r\n\r\n",
    "Host: a\r\nConnection: close\r\n\r\n",
    "Host: a\r\nContent-Length: 3\r\n\r\n",
    "Host: a\r\nTransfer-Encoding: chunked\r\n\r\n",
    "Host: a\r\nExpect: 100-continue\r\nContent-Length: 12\r\n\r\n",
    "Host: a\r\nHost: a\r\n\r\n",
    "Host: a b\r\n\r\n",
    "Connection: keep-alive\r\n\r\n",
    "\r\n",
};

TEST(Head, WhatIsRememberedChangesNoMeaning) {
  Head used;
  for (const std::string line :
       {"GET / HTTP/1.1\r\n", "POST /b HTTP/1.0\r\n", "HEAD http://h/ HTTP/1.1\r\n"}) {
    for (const std::string& before : kSections) {
      for (const std::string& after : kSections) {
        for (const std::string version : {"1.1", "1.0"}) {
          (void)parse(line + before, used);
          Head fresh;
          const std::string next = "PUT /next HTTP/" + version + "\r\n" + after;
          ASSERT_EQ(meaning(next, used), meaning(next, fresh)) << before << "then\n" << next;
        }
      }
    }
  }
}

TEST(Head, AChangeOfAnyByteOfARememberedSectionIsSeen) {
  const std::string input = "GET /a HTTP/1.1\r\nHost: a:1\r\nContent-Length: 10\r\n\r\n";
  for (std::size_t place = 0; place < input.size(); ++place) {
    for (const char other : {'0', ' ', ':', '\r', '\n', '\0', 'x', '\xFF'}) {
      Head used;
      ASSERT_EQ(parse(input, used), Progress::Complete);
      std::string changed = input;
      changed[place] = other;
      Head fresh;
      ASSERT_EQ(meaning(changed, used), meaning(changed, fresh)) << place << ' ' << int{other};
      ASSERT_EQ(meaning(changed.substr(0, place), used), meaning(changed.substr(0, place), fresh));
    }
  }
}

TEST(Head, FieldsStayReadableWhenTheirInputIsGoneOnceTheyAreRemembered) {
  Head head;
  for (int i = 0; i < 3; ++i) {
    // A block of its own each time, so that AddressSanitizer sees a view of an earlier one.
    const auto input = std::make_unique<std::string>(
        "GET /" + std::to_string(i) +
        " HTTP/1.1\r\nHost: example.org\r\nX-Long: " + std::string(300, 'v') + "\r\n\r\n");
    ASSERT_EQ(parse(*input, head), Progress::Complete);
    EXPECT_EQ(head.host, "example.org");
    EXPECT_EQ(head.fields[1].value, std::string(300, 'v'));
    EXPECT_EQ(head.target_text, "/" + std::to_string(i));
  }
}

TEST(Head, ASectionTooLargeToRememberIsParsedEachTime) {
  Head head;
  const std::string input =
      "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(SectionMemo::kMostBytes, 'v') + "\r\n\r\n";
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(parse(input, head), Progress::Complete);
    EXPECT_EQ(head.field_count, 2U);
    EXPECT_EQ(head.fields[1].value.size(), SectionMemo::kMostBytes);
  }
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
