#include "message/date_line.hpp"

#include <gtest/gtest.h>

namespace mote {
namespace {

TEST(DateLine, IsAnImfFixdate) {
  DateLine date;
  EXPECT_EQ(date.line(), "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n");
  date.set(784111777);  // the example of RFC 9110 section 5.6.7
  EXPECT_EQ(date.line(), "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
  date.set(1709251199);
  EXPECT_EQ(date.line(), "Date: Thu, 29 Feb 2024 23:59:59 GMT\r\n");
  EXPECT_TRUE(date.after_ok().starts_with("HTTP/1.1 200 OK\r\nDate: "));
}

}  // namespace
}  // namespace mote
