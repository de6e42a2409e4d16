#include "mote/response.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

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

}  // namespace
}  // namespace mote
