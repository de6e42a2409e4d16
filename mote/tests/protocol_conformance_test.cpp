// What the server answers to one raw message: the status, and whether the connection goes on.

#include <gtest/gtest.h>

#include "wire.hpp"

namespace mote::test {
namespace {

struct Case {
  const char* name;
  std::string input;
  std::vector<int> statuses;
  bool closed;
};

const std::string kHost = "Host: example.org\r\n";

std::string get(const std::string& fields) {
  return "GET /hello HTTP/1.1\r\n" + fields + "\r\n";
}
std::string line(const std::string& request_line) {
  return request_line + "\r\n" + kHost + "\r\n";
}
std::string post(const std::string& fields, const std::string& content) {
  return "POST /echo HTTP/1.1\r\n" + kHost + fields + "\r\n" + content;
}
std::string chunked(const std::string& content) {
  return post("Transfer-Encoding: chunked\r\n", content);
}
// Chunked content for a resource that takes none, with a request behind it.
std::string unwanted(const std::string& method_and_path, const std::string& content) {
  return method_and_path + " HTTP/1.1\r\n" + kHost + "Transfer-Encoding: chunked\r\n\r\n" +
         content + get(kHost);
}
std::string empty_lines(int count) {
  std::string lines;
  while (count-- > 0) lines += "\r\n";
  return lines;
}

class Conformance : public testing::TestWithParam<Case> {};

TEST_P(Conformance, AnswersAsTheStandardSays) {
  const Router router = make_router();
  Wire wire(router);
  wire.send(GetParam().input);
  EXPECT_EQ(wire.statuses(), GetParam().statuses) << wire.received();
  EXPECT_EQ(wire.closed(), GetParam().closed);
  EXPECT_FALSE(wire.aborted());
}

const Case kRequestLine[] = {
    {"Plain", line("GET /hello HTTP/1.1"), {200}, false},
    {"LeadingEmptyLine", "\r\n\r\n" + line("GET /hello HTTP/1.1"), {200}, false},
    {"EightEmptyLines", empty_lines(8) + line("GET /hello HTTP/1.1"), {200}, false},
    {"NineEmptyLines", empty_lines(9) + line("GET /hello HTTP/1.1"), {400}, true},
    {"LeadingBareLineFeed", "\n" + line("GET /hello HTTP/1.1"), {400}, true},
    {"LeadingSpace", " " + line("GET /hello HTTP/1.1"), {400}, true},
    {"TwoSpaces", line("GET  /hello HTTP/1.1"), {400}, true},
    {"Tab", line("GET\t/hello HTTP/1.1"), {400}, true},
    {"TrailingSpace", line("GET /hello HTTP/1.1 "), {400}, true},
    {"NoVersion", "GET /hello\r\n\r\n", {400}, true},
    {"LowerCaseVersion", line("GET /hello http/1.1"), {400}, true},
    {"Http10", "GET /hello HTTP/1.0\r\n\r\n", {200}, true},
    {"Http10KeepAlive", "GET /hello HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", {200}, false},
    {"Http12", line("GET /hello HTTP/1.2"), {200}, false},
    {"Http2", line("GET /hello HTTP/2.0"), {505}, true},
    {"Http09", line("GET /hello HTTP/0.9"), {505}, true},
    {"TwoDigitMinor", line("GET /hello HTTP/1.10"), {400}, true},
    {"NoMinor", line("GET /hello HTTP/1"), {400}, true},
    {"BareLineFeed", "GET /hello HTTP/1.1\nHost: a\n\n", {400}, true},
    {"BareReturn", "GET /hello HTTP/1.1\rHost: a\r\r", {400}, true},
    {"MethodNotToken", line("G(T /hello HTTP/1.1"), {400}, true},
    {"EmptyMethod", line(" /hello HTTP/1.1"), {400}, true},
    {"LowerCaseMethod", line("get /hello HTTP/1.1"), {501}, false},
    {"UnknownMethod", line("BREW /hello HTTP/1.1"), {501}, false},
    {"LongMethod", line(std::string(5000, 'A') + " /hello HTTP/1.1"), {501}, true},
    {"KnownMethodNotAllowed", line("DELETE /hello HTTP/1.1"), {405}, false},
    {"Trace", line("TRACE /hello HTTP/1.1"), {405}, false},
    {"NotFound", line("GET /nothing HTTP/1.1"), {404}, false},
    {"LongestTarget", line("GET /" + std::string(8191, 'a') + " HTTP/1.1"), {404}, false},
    {"TooLongTarget", line("GET /" + std::string(8192, 'a') + " HTTP/1.1"), {414}, true},
    {"TlsHello", std::string("\x16\x03\x01\x02\x00\x01", 6), {400}, true},
};

const Case kTarget[] = {
    {"Query", line("GET /hello?a=b&c=%20/? HTTP/1.1"), {200}, false},
    {"EncodedLetter", line("GET /%68ello HTTP/1.1"), {200}, false},
    {"DotSegments", line("GET /a/./../hello HTTP/1.1"), {200}, false},
    {"EncodedSlashStays", line("GET %2Fhello HTTP/1.1"), {400}, true},
    {"BadEncoding", line("GET /hell%6 HTTP/1.1"), {400}, true},
    {"BadEncodingInQuery", line("GET /hello?%zz HTTP/1.1"), {400}, true},
    {"Fragment", line("GET /hello#part HTTP/1.1"), {400}, true},
    {"QuoteInPath", line("GET /hel\"lo HTTP/1.1"), {400}, true},
    {"HighByte", line("GET /hell\xC3\xB6 HTTP/1.1"), {400}, true},
    {"RelativePath", line("GET hello HTTP/1.1"), {400}, true},
    {"Absolute", line("GET http://other.example/hello HTTP/1.1"), {200}, false},
    {"AbsoluteUpperScheme", line("GET HTTP://other.example:80/hello HTTP/1.1"), {200}, false},
    {"AbsoluteWithoutPath", line("GET http://other.example HTTP/1.1"), {404}, false},
    {"AbsoluteWithUserinfo", line("GET http://me@other.example/hello HTTP/1.1"), {400}, true},
    {"AbsoluteWithoutHost", line("GET http:///hello HTTP/1.1"), {400}, true},
    {"AbsoluteOtherScheme", line("GET ftp://other.example/hello HTTP/1.1"), {400}, true},
    {"AbsoluteHttps", line("GET https://other.example/hello HTTP/1.1"), {421}, true},
    {"Asterisk", line("OPTIONS * HTTP/1.1"), {200}, false},
    {"AsteriskAsAbsolute", line("OPTIONS http://other.example HTTP/1.1"), {200}, false},
    {"AsteriskForGet", line("GET * HTTP/1.1"), {400}, true},
    {"OptionsOfPath", line("OPTIONS /hello HTTP/1.1"), {200}, false},
    {"OptionsOfNothing", line("OPTIONS /nothing HTTP/1.1"), {404}, false},
    {"Connect", line("CONNECT example.org:443 HTTP/1.1"), {501}, true},
    {"ConnectWithoutPort", line("CONNECT example.org HTTP/1.1"), {400}, true},
    {"ConnectEmptyPort", line("CONNECT example.org: HTTP/1.1"), {400}, true},
    {"ConnectPath", line("CONNECT /hello HTTP/1.1"), {400}, true},
    {"AuthorityForGet", line("GET example.org:80 HTTP/1.1"), {400}, true},
};

const Case kFields[] = {
    {"NoHost", get(""), {400}, true},
    {"TwoHosts", get(kHost + kHost), {400}, true},
    {"EmptyHost", get("Host:\r\n"), {200}, false},
    {"HostOfSpaces", get("Host: \t \r\n"), {200}, false},
    {"HostOfPortAlone", get("Host: :80\r\n"), {400}, true},
    {"HostOfColonAlone", get("Host: :\r\n"), {400}, true},
    {"HostWithPort", get("Host: example.org:8080\r\n"), {200}, false},
    {"HostIpv6", get("Host: [2001:db8::1]:8080\r\n"), {200}, false},
    {"HostBadIpv6", get("Host: [2001:db8]\r\n"), {400}, true},
    {"HostWithPath", get("Host: example.org/a\r\n"), {400}, true},
    {"HostWithUserinfo", get("Host: me@example.org\r\n"), {400}, true},
    {"HostWithSpace", get("Host: a b\r\n"), {400}, true},
    {"HostBadPort", get("Host: a:8a\r\n"), {400}, true},
    {"HostPortTooLarge", get("Host: a:65536\r\n"), {400}, true},
    {"HostTwoPorts", get("Host: a:1:2\r\n"), {400}, true},
    {"Http10BadHost", "GET /hello HTTP/1.0\r\nHost: a b\r\n\r\n", {400}, true},
    {"SpaceBeforeColon", get("Host : a\r\n"), {400}, true},
    {"SpaceInName", get(kHost + "X Y: a\r\n"), {400}, true},
    {"EmptyName", get(kHost + ": a\r\n"), {400}, true},
    {"NoColon", get(kHost + "X\r\n"), {400}, true},
    {"Folded", get(kHost + "X: a\r\n b\r\n"), {400}, true},
    {"FirstLineFolded", get(" X: a\r\n" + kHost), {400}, true},
    {"Nul", get(kHost + std::string("X: a\0b\r\n", 8)), {400}, true},
    {"BareReturnInValue", get(kHost + "X: a\rb\r\n"), {400}, true},
    {"BareLineFeedInSection", get(kHost + "X: a\nY: b\r\n"), {400}, true},
    {"Delete", get(kHost + "X: a\x7F\r\n"), {400}, true},
    {"ObsText", get(kHost + "X: \xE4\r\n"), {200}, false},
    {"Tabs", get(kHost + "X:\t a\tb \t\r\n"), {200}, false},
    {"EmptyValue", get(kHost + "X:\r\n"), {200}, false},
    {"TooLarge", get(kHost + "X: " + std::string(40'000, 'a') + "\r\n"), {431}, true},
    {"Close", get(kHost + "Connection: x, Close\r\n"), {200}, true},
    {"KeepAliveAndClose",
     get(kHost + "Connection: keep-alive\r\nConnection: close\r\n"),
     {200},
     true},
    {"CloseAmongOptions",
     get(kHost + "Connection: close, keep-alive\r\n") + get(kHost),
     {200},
     true},
    {"ExpectWithoutContent",
     get(kHost + "Expect: 100-continue\r\n") + get(kHost),
     {200, 200},
     false},
    {"SameSectionOtherVersion",
     get(kHost) + "GET /hello HTTP/1.0\r\n" + kHost + "\r\n",
     {200, 200},
     true},
    {"EncodedSlashIsNoSlash", line("GET /x/..%2fhello HTTP/1.1"), {404}, false},
    {"Upgrade", get(kHost + "Connection: Upgrade\r\nUpgrade: h2c\r\n"), {200}, false},
    {"UnknownExpectation", get(kHost + "Expect: payment\r\n"), {417}, false},
    {"ExpectInHttp10", "GET /hello HTTP/1.0\r\nExpect: payment\r\n\r\n", {200}, true},
    {"NothingAfterClose", get(kHost + "Connection: close\r\n") + get(kHost), {200}, true},
    {"Pipelined", get(kHost) + get(kHost) + get(kHost), {200, 200, 200}, false},
    {"FaultAfterGood", get(kHost) + get(""), {200, 400}, true},
    {"HandlerFails", line("GET /fails HTTP/1.1"), {500}, false},
};

const Case kFraming[] = {
    {"Length", post("Content-Length: 3\r\n", "abc"), {200}, false},
    {"LengthZero", post("Content-Length: 0\r\n", ""), {200}, false},
    {"LeadingZeros", post("Content-Length: 003\r\n", "abc"), {200}, false},
    {"LengthThenNext", post("Content-Length: 3\r\n", "abc") + get(kHost), {200, 200}, false},
    {"NegativeLength", post("Content-Length: -3\r\n", "abc"), {400}, true},
    {"PlusLength", post("Content-Length: +3\r\n", "abc"), {400}, true},
    {"HexLength", post("Content-Length: 0x3\r\n", "abc"), {400}, true},
    {"EmptyLength", post("Content-Length:\r\n", "abc"), {400}, true},
    {"LengthList", post("Content-Length: 3, 3\r\n", "abc"), {400}, true},
    {"TwoLengths", post("Content-Length: 3\r\nContent-Length: 4\r\n", "abcd"), {400}, true},
    {"HugeLength", post("Content-Length: 18446744073709551619\r\n", "abc"), {413}, true},
    {"HugeLengthOfNotFound",
     "POST /nothing HTTP/1.1\r\n" + kHost + "Content-Length: 18446744073709551621\r\n\r\nhello" +
         get(kHost),
     {413},
     true},
    {"HugeLengthThatIsNoNumber",
     post("Content-Length: 18446744073709551619x\r\n", ""),
     {400},
     true},
    {"LongestLength", post("Content-Length: 18446744073709551615\r\n", ""), {413}, true},
    {"TooLarge", post("Content-Length: 1048577\r\n", ""), {413}, true},
    {"RouteLimit",
     "POST /small HTTP/1.1\r\n" + kHost + "Content-Length: 5\r\n\r\nabcde",
     {413},
     true},
    {"LengthRequired",
     "POST /length HTTP/1.1\r\n" + kHost + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     {411},
     true},
    {"BodyOfGet", get(kHost + "Content-Length: 3\r\n") + "abc" + get(kHost), {200, 200}, false},
    {"BodyOfNotFound",
     "POST /nothing HTTP/1.1\r\n" + kHost + "Content-Length: 3\r\n\r\nabc" + get(kHost),
     {404, 200},
     false},
    {"ChunksOfNotFound", unwanted("POST /nothing", "3\r\nabc\r\n0\r\n\r\n"), {404, 200}, false},
    {"BadChunkOfNotFound", unwanted("POST /nothing", "g\r\nhello\r\n0\r\n\r\n"), {400}, true},
    {"BadChunkOfNotAllowed", unwanted("POST /hello", "g\r\nhello\r\n0\r\n\r\n"), {400}, true},
    {"BadChunkOfNotImplemented", unwanted("BREW /hello", "g\r\nhello\r\n0\r\n\r\n"), {400}, true},
    {"BadSecondChunkOfNotFound", unwanted("POST /nothing", "3\r\nabc\r\ng\r\n"), {400}, true},
    {"BadTrailerOfNotFound", unwanted("POST /nothing", "0\r\nX Sum: 1\r\n\r\n"), {400}, true},
    {"ChunkTooLargeOfNotFound", unwanted("POST /nothing", "100000005\r\nhello"), {404}, true},
    {"LengthAndChunked",
     post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
     {400},
     true},
    {"ChunkedAndLength",
     post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"),
     {400},
     true},
    {"Http10Chunked",
     "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     {400},
     true},
    {"ChunkedTwice", post("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n"), {400}, true},
    {"ChunkedNotLast", post("Transfer-Encoding: chunked, gzip\r\n", ""), {400}, true},
    {"NotChunked", post("Transfer-Encoding: gzip\r\n", ""), {400}, true},
    {"Identity", post("Transfer-Encoding: identity\r\n", ""), {400}, true},
    {"EmptyCoding", post("Transfer-Encoding:\r\n", ""), {400}, true},
    {"UnknownThenChunked", post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), {501}, true},
    {"UnknownLineThenChunked",
     post("Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n", ""),
     {501},
     true},
    {"QuotedChunked", post("Transfer-Encoding: \"chunked\"\r\n", "0\r\n\r\n"), {400}, true},
    {"UpperChunked", post("Transfer-Encoding: CHUNKED\r\n", "0\r\n\r\n"), {200}, false},
    {"EmptyElement", post("Transfer-Encoding: , chunked\r\n", "0\r\n\r\n"), {200}, false},
    {"Chunks", chunked("3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n"), {200}, false},
    {"ChunksThenNext", chunked("3\r\nabc\r\n0\r\n\r\n") + get(kHost), {200, 200}, false},
    {"Extensions", chunked("3;a;b=c;d=\"e\\\"f;\"\r\nabc\r\n0;last\r\n\r\n"), {200}, false},
    {"ExtensionWhitespace", chunked("3 ; a = b\r\nabc\r\n0\r\n\r\n"), {200}, false},
    {"BadExtension", chunked("3;=b\r\nabc\r\n0\r\n\r\n"), {400}, true},
    {"UnendedQuote", chunked("3;a=\"b\r\nabc\r\n0\r\n\r\n"), {400}, true},
    {"ReturnInExtension", chunked("3;a=b\rc\r\nabc\r\n0\r\n\r\n"), {400}, true},
    {"LongExtension", chunked("3;" + std::string(5000, 'a') + "\r\nabc\r\n0\r\n\r\n"), {400}, true},
    {"NoSize", chunked("\r\nabc\r\n0\r\n\r\n"), {400}, true},
    {"NotHex", chunked("g\r\nabc\r\n0\r\n\r\n"), {400}, true},
    {"HexPrefix", chunked("0x3\r\nabc\r\n0\r\n\r\n"), {400}, true},
    {"NegativeSize", chunked("-3\r\nabc\r\n0\r\n\r\n"), {400}, true},
    {"LeadingSpace", chunked(" 3\r\nabc\r\n0\r\n\r\n"), {400}, true},
    {"TrailingSpace", chunked("3 \r\nabc\r\n0\r\n\r\n"), {400}, true},
    {"SizeOverflow", chunked("10000000000000003\r\nabc\r\n0\r\n\r\n"), {400}, true},
    {"TrailersThatFrameChangeNothing",
     chunked("3\r\nabc\r\n0\r\nContent-Length: 9\r\nHost: b\r\nTransfer-Encoding: x\r\n\r\n") +
         get(kHost),
     {200, 200},
     false},
    {"ManyZeroesBeforeTheSize",
     chunked(std::string(40, '0') + "3\r\nabc\r\n0\r\n\r\n"),
     {200},
     false},
    {"ChunkAnnouncedTooLarge", chunked("100000005\r\nhello"), {413}, true},
    {"HugeChunk", chunked("ffffffff\r\n" + std::string(1'100'000, 'a')), {413}, true},
    {"LineFeedAfterSize", chunked("3\nabc\r\n0\r\n\r\n"), {400}, true},
    {"LineFeedAfterData", chunked("3\r\nabc\n0\r\n\r\n"), {400}, true},
    {"DataTooLong", chunked("3\r\nabcd\r\n0\r\n\r\n"), {400}, true},
    {"Trailers", chunked("0\r\nX-Sum: 1\r\nY: 2\r\n\r\n") + get(kHost), {200, 200}, false},
    {"BadTrailer", chunked("0\r\nX Sum: 1\r\n\r\n"), {400}, true},
    {"FoldedTrailer", chunked("0\r\nX: 1\r\n 2\r\n\r\n"), {400}, true},
    {"LargeTrailers", chunked("0\r\nX: " + std::string(40'000, 'a') + "\r\n\r\n"), {431}, true},
    {"SmuggledRequestIsContent",
     post("Content-Length: 41\r\n", "GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n1234567"),
     {200},
     false},
};

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(RequestLine, Conformance, testing::ValuesIn(kRequestLine), case_name);
INSTANTIATE_TEST_SUITE_P(Target, Conformance, testing::ValuesIn(kTarget), case_name);
INSTANTIATE_TEST_SUITE_P(Fields, Conformance, testing::ValuesIn(kFields), case_name);
INSTANTIATE_TEST_SUITE_P(Framing, Conformance, testing::ValuesIn(kFraming), case_name);

TEST(Head, TellsTheSameAsGetWithoutContent) {
  const Router router = make_router();
  Wire get_wire(router);
  Wire head_wire(router);
  get_wire.send(line("GET /hello HTTP/1.1"));
  head_wire.send(line("HEAD /hello HTTP/1.1"));
  EXPECT_EQ(head_wire.received() + "Hello, world!", get_wire.received());
}

TEST(Head, ErrorsHaveNoContentEither) {
  const Router router = make_router();
  for (const std::string& input :
       {line("HEAD /nothing HTTP/1.1"), std::string("HEAD /hello HTTP/1.1\r\n\r\n"),
        line("HEAD /large HTTP/1.1"), line("HEAD /count HTTP/1.1"), line("HEAD /hello HTTP/3.0")}) {
    Wire wire(router);
    wire.send(input);
    EXPECT_EQ(last_body(wire.received()), "") << input;
  }
}

TEST(Head, TimeoutHasNoContent) {
  const Router router = make_router();
  Wire wire(router);
  wire.send("HEAD /hello HTTP/1.1\r\nHost: ").time_out();
  EXPECT_EQ(wire.statuses(), std::vector{408});
  EXPECT_EQ(last_body(wire.received()), "");
}

TEST(Status, NoContentHasNoFraming) {
  const Router router = make_router();
  for (const char* path : {"/none", "/same"}) {
    Wire wire(router);
    wire.send(line(std::string("GET ") + path + " HTTP/1.1"));
    EXPECT_EQ(wire.received().find("Content-Length"), std::string::npos);
    EXPECT_EQ(wire.received().find("Transfer-Encoding"), std::string::npos);
    EXPECT_EQ(last_body(wire.received()), "");
  }
}

TEST(Allow, ListsTheMethodsOfThePath) {
  const Router router = make_router();
  Wire wire(router);
  wire.send(line("PUT /hello HTTP/1.1"));
  EXPECT_NE(wire.received().find("\r\nAllow: GET, HEAD, OPTIONS\r\n"), std::string::npos);
}

TEST(Connection, ClosesAreAnnouncedAndKeepAliveIsConfirmed) {
  const Router router = make_router();
  Wire faulty(router);
  faulty.send(get(""));
  EXPECT_NE(faulty.received().find("\r\nConnection: close\r\n"), std::string::npos);
  for (const char* content : {"g\r\nhello\r\n", "100000005\r\nhello"}) {
    Wire unrouted(router);
    unrouted.send(unwanted("POST /nothing", content));
    EXPECT_NE(unrouted.received().find("\r\nConnection: close\r\n"), std::string::npos) << content;
  }
  Wire old(router);
  old.send("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_NE(old.received().find("\r\nConnection: keep-alive\r\n"), std::string::npos);
}

TEST(Drain, EveryResponseAnnouncesTheEnd) {
  const Router router = make_router();
  Wire wire(router);
  wire.protocol().drain();
  wire.send(get(kHost) + get(kHost));
  EXPECT_EQ(wire.statuses(), std::vector{200});
  EXPECT_NE(wire.received().find("\r\nConnection: close\r\n"), std::string::npos);
}

TEST(HalfClose, CompleteRequestsAreAnsweredAndPartOfOneIsRefused) {
  const Router router = make_router();
  Wire wire(router);
  wire.send(get(kHost) + "GET /hel").end_input();
  EXPECT_EQ(wire.statuses(), (std::vector{200, 400}));
  EXPECT_TRUE(wire.closed());
}

}  // namespace
}  // namespace mote::test
