// A whole connection: cut into pieces by the first byte, its answers are those of the input in one
// piece, and nothing is left behind.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "connection/protocol.hpp"
#include "mote/router.hpp"

namespace {

const mote::Router& router() {
  static const mote::Router kRouter = [] {
    mote::Router made;
    made.get("/hello", [](const mote::Request&, mote::Response& response) {
      response.static_text("Hello, world!");
    });
    made.post("/{name}", [](const mote::Request& request, mote::Response& response) {
      response.body(request.body());
    });
    return made;
  }();
  return kRouter;
}

std::string answers(std::string_view input, std::size_t step) {
  static const mote::Options kOptions;
  static mote::Protocol protocol(router().table(), kOptions);
  mote::Connection connection{};
  std::string sent;
  const auto take = [&](mote::Protocol::Next next) {
    for (;;) {
      sent += protocol.output().view();
      protocol.output().clear();
      if (next != mote::Protocol::Next::Drain) break;
      next = protocol.resume(connection);
    }
    protocol.rest(connection);
  };
  for (std::size_t at = 0; at < input.size() && !connection.has(mote::Connection::kClosing);
       at += step) {
    take(protocol.receive(connection, input.substr(at, step)));
  }
  if (!connection.has(mote::Connection::kClosing)) take(protocol.end_of_input(connection));
  protocol.end(connection);
  return sent;
}

// Whether 100 Continue is sent depends on how much has come: it is not part of the comparison.
std::string without_continue(std::string text) {
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  for (std::size_t at = text.find(kContinue); at != std::string::npos; at = text.find(kContinue)) {
    text.erase(at, kContinue.size());
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = without_continue(answers(input, input.size() + 1));
  const std::string cut = without_continue(answers(input, data[0] % 64U + 1U));
  // A fault may be found at another place of a message; that the responses before it agree and that
  // both or neither end in a refusal must hold.
  const auto count = [](const std::string& text) {
    std::size_t responses = 0;
    for (std::size_t at = text.find("\r\nDate: "); at != std::string::npos;
         at = text.find("\r\nDate: ", at + 1)) {
      ++responses;
    }
    return responses;
  };
  if (count(whole) != count(cut)) std::abort();
  return 0;
}
