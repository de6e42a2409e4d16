#include "wire.hpp"

#include <cstdlib>

namespace mote::test {

Wire::Wire(const Router& router, Options options)
    : options_(std::move(options)), protocol_(router.table(), options_) {
  connection_.fd = -1;
  connection_.set(Connection::kOpen);
}

Wire::~Wire() {
  protocol_.end(connection_);
}

void Wire::settle(Protocol::Next next) {
  for (;;) {
    if (next == Protocol::Next::Abort) {
      aborted_ = true;
      connection_.set(Connection::kClosing);
    }
    Output& output = protocol_.output();
    if (!output.empty()) {
      if (blocked_) {
        protocol_.hold(connection_, output.view());
        output.clear();
        return;
      }
      received_.append(output.view());
      output.clear();
    }
    if (next != Protocol::Next::Drain) break;
    next = protocol_.resume(connection_);
  }
  protocol_.rest(connection_);
}

Wire& Wire::send(std::string_view bytes) {
  // A closed connection's driver discards input, a blocked one's does not read.
  if (closed() || connection_.output_blocked()) return *this;
  // A buffer of the exact size lets AddressSanitizer see a read past its end.
  const std::vector<char> exact(bytes.begin(), bytes.end());
  settle(protocol_.receive(connection_, {exact.data(), exact.size()}));
  return *this;
}

Wire& Wire::drip(std::string_view bytes) {
  for (const char& byte : bytes) send({&byte, 1});
  return *this;
}

Wire& Wire::end_input() {
  settle(protocol_.end_of_input(connection_));
  return *this;
}

Wire& Wire::time_out() {
  settle(protocol_.time_out(connection_));
  return *this;
}

void Wire::unblock() {
  blocked_ = false;
  if (!connection_.output_blocked()) return;
  received_.append(connection_.exchange->unsent());
  connection_.exchange->output.clear();
  settle(protocol_.resume(connection_));
}

std::size_t Wire::held_bytes() const {
  if (connection_.exchange == nullptr) return 0;
  const Exchange& state = *connection_.exchange;
  return sizeof state + state.input.capacity() + state.output.capacity() + state.head.capacity() +
         state.body.capacity();
}

std::vector<int> Wire::statuses() const {
  std::vector<int> found;
  constexpr std::string_view kStart = "HTTP/1.1 ";
  for (std::size_t at = received_.find(kStart); at != std::string::npos;
       at = received_.find(kStart, at + 1)) {
    // The words may stand in an answer's text too, without a number after them.
    const int status = std::atoi(received_.c_str() + at + kStart.size());
    if (status != 0) found.push_back(status);
  }
  return found;
}

std::string last_body(const std::string& received) {
  const std::size_t head = received.rfind("HTTP/1.1 ");
  const std::size_t end = received.find("\r\n\r\n", head);
  return end == std::string::npos ? "" : received.substr(end + 4);
}

namespace {

// Sends the content back as it comes.
class Echo final : public StreamHandler {
 public:
  void on_content(std::string_view piece, ResponseWriter& writer) override {
    if (!began_) writer.begin(head_);
    began_ = true;
    writer.write(piece);
  }
  void on_end(ResponseWriter& writer) override {
    if (!began_) writer.begin(head_);
    writer.finish();
  }

 private:
  Response head_;
  bool began_ = false;
};

}  // namespace

Router make_router() {
  Router router;
  router.get("/hello", [](const Request&, Response& response) { response.text("Hello, world!"); });
  router.post("/echo", [](const Request& request, Response& response) {
    response.body(request.body());
    if (const auto value = request.trailers().get("X-Sum")) response.header("X-Sum", *value);
  });
  router.post("/length", [](const Request&, Response&) {}, {.require_length = true});
  router.post("/small", [](const Request&, Response&) {}, {.max_body = 4, .require_length = false});
  router.get("/none", [](const Request&, Response& response) { response.status(204); });
  router.get("/same", [](const Request&, Response& response) { response.status(304); });
  router.get("/fails", [](const Request&, Response&) { throw std::runtime_error("on purpose"); });
  router.get("/large",
             [](const Request&, Response& response) { response.body(std::string(300'000, 'x')); });
  router.get("/count", [](const Request&, Response& response) {
    response.stream([i = 0](std::string& piece) mutable {
      piece = std::to_string(++i);
      return i < 5;
    });
  });
  router.stream("POST", "/stream", [](const Request&) { return std::make_unique<Echo>(); });
  return router;
}

}  // namespace mote::test
