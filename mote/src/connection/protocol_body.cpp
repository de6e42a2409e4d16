// How Protocol takes in a request's content.

#include <algorithm>
#include <utility>

#include "connection/protocol.hpp"
#include "message/serialise.hpp"

namespace mote {
namespace {

using Phase = Exchange::Phase;

// Moving this much renews a deadline, so that a steady transfer never times out and a drip does.
constexpr std::uint64_t kRenewalBytes = 16384;

constexpr syntax::Fault kTooLarge{413, "The content is larger than this resource accepts."};

}  // namespace

// The content of the request in head_ is to come: for `endpoint`, or for nobody.
void Protocol::expect_body(Connection& connection, const Endpoint* endpoint, std::string_view head,
                           std::string_view rest) {
  Exchange& state = exchange(connection);
  state.decoder = syntax::BodyDecoder(head_.framing, head_.content_length);
  state.received = 0;
  state.unrenewed = 0;
  state.most = options_.limits.body;
  state.response = {};
  if (endpoint == nullptr) {
    state.phase = Phase::Discard;
    return;
  }
  if (endpoint->options.max_body) state.most = *endpoint->options.max_body;
  if (head_.expects_continue && head_.framing != syntax::Framing::None && rest.empty()) {
    output_.append("HTTP/1.1 100 Continue\r\n\r\n");
  }
  if (endpoint->handler) {
    state.phase = Phase::Collect;
    state.head.assign(head);
    return;
  }
  if (!endpoint->options.max_body) state.most = UINT64_MAX;
  state.phase = Phase::Stream;
  try {
    start_stream(connection, endpoint->factory(builder_.request()), head_.persistent());
  } catch (const std::exception& error) {
    report(error.what());
  } catch (...) {
    report("an exception that is not a std::exception");
  }
  if (state.stream == nullptr) {
    refuse(connection, {500, "The handler of this request failed."});
  } else if (state.decoder.done()) {
    finish_body(connection);
  }
}

// Looks at the content of the request in head_ before its answer is chosen: once that has promised
// that the connection goes on, a fault could only end it without a word.
Protocol::Preview Protocol::preview_content(std::string_view rest) const {
  const std::uint64_t most = options_.limits.body;
  syntax::BodyDecoder decoder(head_.framing, head_.content_length);
  Preview preview{.fault = syntax::kNoFault, .too_large = decoder.announced() > most};
  std::uint64_t received = 0;
  while (!preview.too_large && !decoder.done() && !rest.empty()) {
    const syntax::BodyDecoder::Piece piece = decoder.next(rest, options_.limits);
    if (piece.fault) {
      preview.fault = piece.fault;
      break;
    }
    received += piece.content.size();
    preview.too_large = received > most || decoder.announced() > most - received;
    rest.remove_prefix(piece.consumed);
  }
  return preview;
}

std::size_t Protocol::process_body(Connection& connection, std::string_view input) {
  Exchange& state = *connection.exchange;
  const syntax::BodyDecoder::Piece piece = state.decoder.next(input, options_.limits);
  state.unrenewed += piece.content.size();
  if (state.unrenewed >= kRenewalBytes) {
    state.unrenewed = 0;
    connection.set(Connection::kProgress);
  }
  if (!piece.content.empty() && !take_content(connection, piece.content)) return input.size();
  // A chunk that cannot be accepted is refused when its size is known, not when it has come.
  if (!piece.fault && state.phase != Phase::Head &&
      state.decoder.announced() > state.most - state.received) {
    refuse_content(connection);
    return input.size();
  }
  if (piece.fault) {
    const bool answered = state.phase == Phase::Discard || state.response.began;
    if (answered) {
      break_off(connection);
    } else {
      refuse_later(connection, piece.fault);
    }
    return input.size();
  }
  // A stream that has finished early has gone over to Discard.
  if (piece.done) finish_body(connection);
  return piece.consumed;
}

void Protocol::refuse_content(Connection& connection) {
  const Exchange& state = *connection.exchange;
  if (state.phase == Phase::Discard || state.response.began) {
    break_off(connection);
  } else {
    refuse_later(connection, kTooLarge);
  }
}

// False if the connection ends here.
bool Protocol::take_content(Connection& connection, std::string_view content) {
  Exchange& state = *connection.exchange;
  state.received += content.size();
  if (state.received > state.most) {
    refuse_content(connection);
    return false;
  }
  if (state.phase == Phase::Collect) {
    state.body.append(content);
  } else if (state.phase == Phase::Stream) {
    if (!call_stream(connection, [content](StreamHandler& handler, ResponseWriter& writer) {
          handler.on_content(content, writer);
        })) {
      return false;
    }
    if (state.response.finished) finish_stream(connection);
  }
  return !connection.has(Connection::kClosing);
}

void Protocol::finish_body(Connection& connection) {
  Exchange& state = *connection.exchange;
  if (state.phase == Phase::Collect) {
    finish_collected(connection);
  } else if (state.phase == Phase::Discard) {
    state.phase = Phase::Head;
    connection.set(Connection::kProgress);
  } else if (state.phase == Phase::Stream) {
    state.phase = Phase::Respond;
    if (!call_stream(connection, [](StreamHandler& handler, ResponseWriter& writer) {
          handler.on_end(writer);
        })) {
      return;
    }
    if (state.response.finished) finish_stream(connection);
  }
}

void Protocol::finish_collected(Connection& connection) {
  Exchange& state = *connection.exchange;
  // The head was accepted before, so it is accepted now.
  const std::string head = std::exchange(state.head, {});
  const std::string body = std::exchange(state.body, {});
  (void)syntax::parse_head(head, options_.limits, head_);
  builder_.assign(head_);
  const RouteMatch match = routes_.find(builder_, allow_);
  builder_.set_body(body);

  const std::string_view section = state.decoder.trailer_section();
  const char* at = section.data();
  const char* const end = at + section.size();
  std::size_t count = 0;
  syntax::Fault fault;
  while (at != end && count < trailers_.size() &&
         syntax::parse_field_line(at, end, trailers_[count], fault) == syntax::Progress::Complete) {
    ++count;
  }
  builder_.set_trailers(Fields({trailers_.data(), count}));

  state.phase = Phase::Head;
  state.response = {};
  run(connection, *match.endpoint, head_.persistent());
  connection.set(Connection::kProgress);
}

}  // namespace mote
