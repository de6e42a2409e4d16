#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "connection/response_writer.hpp"
#include "mote/stream.hpp"
#include "syntax/body_decoder.hpp"

namespace mote {

/// What a connection holds beyond its slot while a request or a response is under way.
struct Exchange {
  enum class Phase : std::uint8_t {
    Head,     // waiting for (the rest of) a head
    Collect,  // content is collected for a handler
    Stream,   // content goes to a stream handler
    Discard,  // content that nobody wants, up to the limit
    Respond,  // a stream handler still has to finish its response
  };

  Phase phase = Phase::Head;
  bool persistent = true;       // the connection outlives this exchange
  std::string input;            // unprocessed bytes, from the start of a message or inside one
  std::size_t parse_again = 0;  // size of `input` at which an incomplete head is looked at again
  std::string output;           // what the socket did not take
  std::size_t output_sent = 0;
  std::string head;  // of the request whose content is collected
  std::string body;
  syntax::BodyDecoder decoder;
  std::uint64_t received = 0;   // content so far
  std::uint64_t most = 0;       // content allowed
  std::uint64_t unrenewed = 0;  // bytes moved since the deadline was last renewed
  std::uint64_t queued = 0;     // bytes in the socket's send queue at that time
  std::unique_ptr<StreamHandler> stream;
  StreamedResponse response;

  /// Nothing is left that a slot could not hold.
  [[nodiscard]] bool at_rest() const noexcept {
    return phase == Phase::Head && input.empty() && output.empty();
  }
  [[nodiscard]] std::string_view unsent() const noexcept {
    return std::string_view(output).substr(output_sent);
  }
};

}  // namespace mote
