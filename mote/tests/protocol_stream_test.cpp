#include <gtest/gtest.h>

#include "wire.hpp"

namespace mote::test {
namespace {

const std::string kHead = "POST /stream HTTP/1.1\r\nHost: a\r\nContent-Length: ";

TEST(Stream, AnswersWhileTheRequestIsStillComing) {
  const Router router = make_router();
  Wire wire(router);
  wire.send(kHead + "10\r\n\r\nhello");
  EXPECT_EQ(last_body(wire.received()), "5\r\nhello\r\n");
  wire.send("world");
  EXPECT_EQ(last_body(wire.received()), "5\r\nhello\r\n5\r\nworld\r\n0\r\n\r\n");
  EXPECT_FALSE(wire.holds_memory());
}

TEST(Stream, StopsReadingWhenTheClientDoesNot) {
  const Router router = make_router();
  const Options options;
  Wire wire(router);
  wire.block();
  wire.send(kHead + "10000000\r\n\r\n");
  const std::string piece(50'000, 'x');
  for (int i = 0; i < 100; ++i) wire.send(piece);
  EXPECT_LE(wire.held_bytes(), 2 * options.limits.write_buffer);
}

TEST(Stream, GoesToHttp10UntilTheConnectionEnds) {
  const Router router = make_router();
  Wire wire(router);
  wire.send("GET /count HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(last_body(wire.received()), "12345");
  EXPECT_NE(wire.received().find("\r\nConnection: close\r\n"), std::string::npos);
  EXPECT_EQ(wire.received().find("Transfer-Encoding"), std::string::npos);
  EXPECT_TRUE(wire.closed());
}

TEST(Stream, GoesToHttp11InChunks) {
  const Router router = make_router();
  Wire wire(router);
  wire.send("GET /count HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(last_body(wire.received()),
            "1\r\n1\r\n1\r\n2\r\n1\r\n3\r\n1\r\n4\r\n1\r\n5\r\n0\r\n\r\n");
  EXPECT_FALSE(wire.closed());
}

TEST(Stream, APipelinedRequestWaitsForItsTurn) {
  const Router router = make_router();
  Wire wire(router);
  wire.block();
  wire.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  wire.unblock();
  EXPECT_EQ(wire.statuses(), (std::vector{200, 200}));
  EXPECT_TRUE(wire.received().ends_with("Hello, world!"));
}

class Broken final : public StreamHandler {
 public:
  explicit Broken(bool begins) : begins_(begins) {}
  void on_end(ResponseWriter& writer) override {
    if (begins_) writer.begin(head_);
    throw std::runtime_error("on purpose");
  }

 private:
  Response head_;
  bool begins_;
};

class Lazy final : public StreamHandler {
 public:
  void on_end(ResponseWriter&) override {}
};

Router broken_router() {
  Router router;
  router.stream("GET", "/before", [](const Request&) { return std::make_unique<Broken>(false); });
  router.stream("GET", "/after", [](const Request&) { return std::make_unique<Broken>(true); });
  router.stream("GET", "/lazy", [](const Request&) { return std::make_unique<Lazy>(); });
  router.stream("GET", "/null", [](const Request&) { return nullptr; });
  using Handler = std::unique_ptr<StreamHandler>;
  router.stream("GET", "/error",
                [](const Request&) -> Handler { throw std::runtime_error("on purpose"); });
  router.stream("GET", "/number", [](const Request&) -> Handler { throw 1; });
  return router;
}

TEST(StreamFault, BeforeTheHeadIsA500) {
  const Router router = broken_router();
  for (const char* path : {"/before", "/null", "/error", "/number"}) {
    Wire wire(router);
    wire.send(std::string("GET ") + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(wire.statuses(), std::vector{500});
    EXPECT_TRUE(wire.closed());
  }
}

TEST(StreamFault, AfterTheHeadCutsTheConnection) {
  const Router router = broken_router();
  Wire wire(router);
  wire.send("GET /after HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(wire.aborted());
}

TEST(StreamFault, AHandlerThatDoesNothingCutsTheConnection) {
  const Router router = broken_router();
  Wire wire(router);
  wire.send("GET /lazy HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(wire.aborted());
}

// To HTTP/1.0 an orderly end would say that the response is whole.
TEST(StreamFault, AResponseThatItsEndDelimitsIsCutWithItsRequest) {
  const Router router = make_router();
  const std::string half = "POST /stream HTTP/1.0\r\nContent-Length: 10\r\n\r\nhello";
  EXPECT_TRUE(Wire(router).send(half).time_out().aborted());
  EXPECT_TRUE(Wire(router).send(half).end_input().aborted());
  EXPECT_FALSE(Wire(router).send(kHead + "10\r\n\r\nhello").time_out().aborted());
}

TEST(StreamFault, TheAnswerToHeadGoesWithoutContent) {
  const Router router = broken_router();
  Wire wire(router);
  wire.send("HEAD /before HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(wire.statuses(), std::vector{500});
  EXPECT_TRUE(wire.received().ends_with("\r\n\r\n"));
}

class Endless final : public StreamHandler {
 public:
  explicit Endless(int status = 200) { head_.status(status); }
  void on_end(ResponseWriter& writer) override { writer.begin(head_); }
  void on_writable(ResponseWriter& writer) override { writer.write("more"); }

 private:
  Response head_;
};

TEST(Stream, OfWhatGoesWithoutContentNoneIsAskedForWithoutEnd) {
  Router router;
  router.stream("GET", "/endless", [](const Request&) { return std::make_unique<Endless>(); });
  router.stream("GET", "/204", [](const Request&) { return std::make_unique<Endless>(204); });
  router.stream("GET", "/205", [](const Request&) { return std::make_unique<Endless>(205); });
  Wire wire(router);
  wire.send("HEAD /endless HTTP/1.1\r\nHost: a\r\n\r\n");
  wire.send("GET /204 HTTP/1.1\r\nHost: a\r\n\r\nGET /205 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(wire.statuses(), (std::vector{200, 204, 205}));
  EXPECT_TRUE(wire.received().ends_with("\r\nContent-Length: 0\r\n\r\n"));
  EXPECT_FALSE(wire.holds_memory());
}

TEST(Stream, A205HasNoContentHoweverItIsGiven) {
  Router router;
  router.get("/large", [](const Request&, Response& response) {
    response.status(205).text(std::string(70'000, 'x'));
  });
  router.get("/produced", [](const Request&, Response& response) {
    response.status(205).stream([](std::string& piece) {
      piece += "x";
      return false;
    });
  });
  Wire wire(router);
  wire.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\nGET /produced HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(wire.statuses(), (std::vector{205, 205}));
  EXPECT_TRUE(wire.received().ends_with("\r\nContent-Length: 0\r\n\r\n"));
  EXPECT_LT(wire.received().size(), 500U);
}

// Finishes before the content has all come.
class Early final : public StreamHandler {
 public:
  void on_content(std::string_view, ResponseWriter& writer) override {
    writer.begin(head_, 2);
    writer.write("ok");
    writer.finish();
  }
  void on_end(ResponseWriter&) override { FAIL() << "the response was finished before"; }

 private:
  Response head_;
};

TEST(Stream, TheRestOfTheContentIsDiscardedAfterAnEarlyEnd) {
  Router router = make_router();
  router.stream("POST", "/early", [](const Request&) { return std::make_unique<Early>(); });
  Wire wire(router);
  wire.send("POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc");
  wire.send("defGET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(wire.statuses(), (std::vector{200, 200}));
}

}  // namespace
}  // namespace mote::test
