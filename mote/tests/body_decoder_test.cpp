#include "syntax/body_decoder.hpp"

#include <gtest/gtest.h>

#include "syntax/chunk_line.hpp"

namespace mote::syntax {
namespace {

TEST(BodyDecoder, TakesNoMoreThanTheLength) {
  BodyDecoder decoder(Framing::Length, 5);
  const auto first = decoder.next("hel", Limits{});
  EXPECT_EQ(first.content, "hel");
  EXPECT_FALSE(first.done);
  const auto second = decoder.next("lo, next", Limits{});
  EXPECT_EQ(second.content, "lo");
  EXPECT_EQ(second.consumed, 2U);
  EXPECT_TRUE(second.done);
}

TEST(BodyDecoder, ManySmallExtensionsAreRefused) {
  BodyDecoder decoder(Framing::Chunked, 0);
  std::string input;
  for (int i = 0; i < 100; ++i) input += "1;" + std::string(1000, 'e') + "\r\nx\r\n";
  Fault fault;
  while (!fault && !input.empty()) {
    const auto piece = decoder.next(input, Limits{});
    fault = piece.fault;
    input.erase(0, piece.consumed);
  }
  EXPECT_EQ(fault.status, 400);
}

TEST(ChunkLine, SizesUpTo63Bits) {
  std::uint64_t size = 0;
  EXPECT_TRUE(parse_chunk_line("7fffffffffffffff", size));
  EXPECT_EQ(size, 0x7FFFFFFFFFFFFFFFU);
  EXPECT_TRUE(parse_chunk_line("00000000000000000000aB", size));
  EXPECT_EQ(size, 0xABU);
  EXPECT_FALSE(parse_chunk_line("8000000000000000", size));
  EXPECT_FALSE(parse_chunk_line("fffffffffffffffff", size));
  EXPECT_FALSE(parse_chunk_line("", size));
}

}  // namespace
}  // namespace mote::syntax
