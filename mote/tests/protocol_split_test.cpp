// However the bytes are cut, the answers are the same.

#include <gtest/gtest.h>

#include "wire.hpp"

namespace mote::test {
namespace {

const std::string kInputs[] = {
    "GET /hello HTTP/1.1\r\nHost: a\r\n\r\nGET /hello?x=%20 HTTP/1.1\r\nHost: a\r\n\r\n",
    "\r\n\r\nHEAD http://b/hello HTTP/1.1\r\nHost: a\r\nX: \tvalue \t\r\n\r\n",
    "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\nhello worldGET /hello HTTP/1.1\r\n"
    "Host: a\r\n\r\n",
    "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    "5;a=\"b\\\"\"\r\nhello\r\n6\r\n world\r\n0\r\nX-Sum: 7\r\nZ: 1\r\n\r\n"
    "GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n",
    "POST /nothing HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
    "GET /hello HTTP/1.0\r\n\r\n",
    "GET /count HTTP/1.1\r\nHost: a\r\n\r\nGET /count HTTP/1.0\r\n\r\n",
    "GET /hello HTTP/1.1\r\nHost: a\r\nX : b\r\n\r\n",
    "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcX\r\n0\r\n\r\n",
    "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA B: 1\r\n\r\n",
    "BREW /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n"
    "\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n",
    "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n",
};

class Split : public testing::TestWithParam<std::string> {};

TEST_P(Split, TwoPiecesAnswerAsOne) {
  const Router router = make_router();
  Wire whole(router);
  whole.send(GetParam());
  for (std::size_t cut = 1; cut < GetParam().size(); ++cut) {
    Wire wire(router);
    wire.send(GetParam().substr(0, cut)).send(GetParam().substr(cut));
    ASSERT_EQ(wire.received(), whole.received()) << "cut at byte " << cut;
    ASSERT_EQ(wire.closed(), whole.closed()) << "cut at byte " << cut;
    ASSERT_EQ(wire.holds_memory(), whole.holds_memory()) << "cut at byte " << cut;
  }
}

TEST_P(Split, SingleBytesAnswerAsOne) {
  const Router router = make_router();
  Wire whole(router);
  whole.send(GetParam());
  Wire wire(router);
  wire.drip(GetParam());
  EXPECT_EQ(wire.received(), whole.received());
  EXPECT_EQ(wire.closed(), whole.closed());
}

TEST_P(Split, AnswersAreTheSameToASlowReader) {
  const Router router = make_router();
  Wire whole(router);
  whole.send(GetParam());
  Wire wire(router);
  wire.block();
  wire.send(GetParam());
  wire.unblock();
  EXPECT_EQ(wire.received(), whole.received());
}

// A stream's chunks follow the pieces of the request, so its answer is compared after decoding.
TEST(SplitStream, ContentIsTheSame) {
  const std::string head = "POST /stream HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string input = head + "5\r\nhello\r\n6;x\r\n world\r\n0\r\n\r\n";
  const Router router = make_router();
  for (std::size_t cut = 1; cut < input.size(); ++cut) {
    Wire wire(router);
    wire.send(input.substr(0, cut)).send(input.substr(cut));
    std::string content;
    syntax::BodyDecoder decoder(syntax::Framing::Chunked, 0);
    std::string rest = last_body(wire.received());
    while (!decoder.done() && !rest.empty()) {
      const auto piece = decoder.next(rest, Limits{});
      ASSERT_FALSE(piece.fault) << wire.received();
      content += piece.content;
      rest.erase(0, piece.consumed);
    }
    ASSERT_EQ(content, "hello world") << "cut at byte " << cut;
    ASSERT_TRUE(decoder.done());
    ASSERT_FALSE(wire.holds_memory());
  }
}

INSTANTIATE_TEST_SUITE_P(Inputs, Split, testing::ValuesIn(kInputs));

}  // namespace
}  // namespace mote::test
