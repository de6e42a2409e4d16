#include "connection/protocol.hpp"

#include <algorithm>
#include <cstring>

namespace mote {
namespace {

using Phase = Exchange::Phase;

// Some clients send an empty line after content (RFC 9112 section 2.2). What goes beyond a few is
// work for no request: it is left in place, where it is not a request line.
constexpr std::uint8_t kMostEmptyLines = 8;

[[gnu::noinline]] std::size_t take_empty_lines(Connection& connection,
                                               std::string_view input) noexcept {
  if (connection.has(Connection::kRequested)) {
    connection.clear(Connection::kRequested);
    connection.empty_lines = 0;
  }
  std::size_t at = 0;
  while (connection.empty_lines < kMostEmptyLines && input.substr(at).starts_with("\r\n")) {
    at += 2;
    ++connection.empty_lines;
  }
  return at;
}

std::size_t skip_empty_lines(Connection& connection, std::string_view input) noexcept {
  if (input.front() != '\r') [[likely]]
    return 0;
  return take_empty_lines(connection, input);
}

// What is left to send, and with it what a client that does not read makes the server hold, stays
// far below the limit. Larger pieces would save no system call worth having.
constexpr std::size_t kMostAtOnce = 8192;

// A string grows by doubling and holds both copies meanwhile, which would be most of what a client
// that sends and does not read costs. These strings grow by little.
void make_room(std::string& kept, std::size_t size) {
  constexpr std::size_t kStep = 1024;
  if (size <= kept.capacity()) return;
  std::string larger;
  larger.reserve((size + kStep - 1) / kStep * kStep);
  larger.append(kept);
  kept.swap(larger);
}

// Room for what a request line has next to its target: a method, two spaces, a version, CRLF.
constexpr std::size_t kLineWithoutTarget = 80;

// An incomplete head is parsed again from its start. That is cheap because it happens only when a
// line has ended, the input has doubled, or a limit must have been passed, so that dripping bytes
// cost a client more than the server and a refusal does not wait for a line's end.
std::size_t next_look(std::size_t size, const Limits& limits) noexcept {
  const std::size_t line = limits.target + kLineWithoutTarget;
  std::size_t next = 2 * size;
  for (const std::size_t limit : {line, line + limits.header_section}) {
    if (size < limit) next = std::min(next, limit);
  }
  return next;
}

bool worth_parsing(const Exchange& exchange, std::string_view arrived) noexcept {
  return exchange.input.size() >= exchange.parse_again ||
         arrived.find('\n') != std::string_view::npos;
}

}  // namespace

Protocol::Protocol(const RouteTable& routes, const Options& options)
    : routes_(routes),
      options_(options),
      most_at_once_(std::min(options.limits.write_buffer, kMostAtOnce)) {}

Protocol::Next Protocol::receive(Connection& connection, std::string_view bytes) {
  next_ = Next::Input;
  Exchange* const before = connection.exchange;
  if (before == nullptr || before->input.empty()) [[likely]] {
    const std::size_t consumed = process(connection, bytes);
    if (consumed < bytes.size()) {
      Exchange& now = exchange(connection);
      now.input.assign(bytes.substr(consumed));
      now.parse_again = next_look(now.input.size(), options_.limits);
    }
    return next_;
  }
  make_room(before->input, before->input.size() + bytes.size());
  before->input.append(bytes);
  if (before->phase == Phase::Head && !worth_parsing(*before, bytes)) return next_;
  return resume(connection);
}

Protocol::Next Protocol::resume(Connection& connection) {
  next_ = Next::Input;
  Exchange* const state = connection.exchange;
  if (state == nullptr) return next_;
  const std::size_t consumed = process(connection, state->input);
  // Small remainders move down; what a burst made the string grow is given back.
  if (consumed == state->input.size()) {
    std::string().swap(state->input);
  } else {
    state->input.erase(0, consumed);
  }
  state->parse_again = next_look(state->input.size(), options_.limits);
  return next_;
}

std::size_t Protocol::process(Connection& connection, std::string_view input) {
  std::size_t at = 0;
  while (!connection.has(Connection::kClosing)) {
    if (output_.size() >= most_at_once_) {
      next_ = Next::Drain;
      return at;
    }
    const Phase phase = connection.exchange == nullptr ? Phase::Head : connection.exchange->phase;
    if (phase == Phase::Respond) {
      pump(connection);
      if (next_ == Next::Abort) return input.size();
      continue;
    }
    const std::string_view rest = input.substr(at);
    if (rest.empty()) return at;
    if (phase == Phase::Head) {
      at += skip_empty_lines(connection, rest);
      const std::size_t head = process_head(connection, input.substr(at));
      at += head;
      if (head == 0) return at;
    } else {
      at += process_body(connection, rest);
    }
  }
  return input.size();
}

// Returns the bytes consumed, 0 while the head is incomplete.
std::size_t Protocol::process_head(Connection& connection, std::string_view input) {
  const syntax::Progress progress = syntax::parse_head(input, options_.limits, head_);
  if (progress != syntax::Progress::Complete) [[unlikely]] {
    // A return alone may become an empty line.
    if (progress == syntax::Progress::Incomplete || input == "\r") return 0;
    refuse(connection, head_.fault);
    return input.size();
  }
  // head_ is parsed again for content that is collected: its size is needed after that.
  const std::size_t size = head_.size;
  if (head_.framing == syntax::Framing::None && !head_.expects_unknown &&
      (head_.target.form == syntax::TargetForm::Origin ||
       head_.target.form == syntax::TargetForm::Absolute)) [[likely]] {
    builder_.assign(head_);
    const RouteMatch match = routes_.find(builder_, allow_);
    if (match.endpoint != nullptr && match.endpoint->handler) [[likely]] {
      connection.note_request();
      run(connection, *match.endpoint, head_.persistent());
      return size;
    }
  }
  return size + begin(connection, {input.data(), size}, {input.data() + size, input.size() - size});
}

// Starts on a request whose head is in head_. Returns how much of `rest`, which follows the head,
// was consumed as its content.
std::size_t Protocol::begin(Connection& connection, std::string_view head, std::string_view rest) {
  using syntax::Framing;
  connection.note_request();
  builder_.assign(head_);
  const bool has_body = head_.framing != Framing::None;
  if (head_.expects_unknown) [[unlikely]] {
    return refuse_request(connection, {417, "Only 100-continue can be expected of this server."},
                          !has_body);
  }
  const auto form = head_.target.form;
  if (form == syntax::TargetForm::Authority || form == syntax::TargetForm::Asterisk) [[unlikely]] {
    return answer_unrouted(connection, form == syntax::TargetForm::Asterisk, rest);
  }
  const RouteMatch match = routes_.find(builder_, allow_);
  if (match.endpoint == nullptr) return answer_unrouted(connection, match.path_found, rest);
  const Endpoint& endpoint = *match.endpoint;
  if (has_body && endpoint.options.require_length && head_.framing == Framing::Chunked) {
    return refuse_request(connection, {411, "This resource needs a Content-Length."}, false);
  }
  const std::uint64_t otherwise = endpoint.factory ? UINT64_MAX : options_.limits.body;
  if (head_.content_length > endpoint.options.max_body.value_or(otherwise)) {
    return refuse_request(connection, {413, "The content is larger than this resource accepts."},
                          false);
  }
  if (endpoint.handler && head_.framing == Framing::Length && rest.size() >= head_.content_length) {
    builder_.set_body(rest.substr(0, head_.content_length));
    run(connection, endpoint, head_.persistent());
    return static_cast<std::size_t>(head_.content_length);
  }
  expect_body(connection, &endpoint, head, rest);
  return 0;
}

Persistence Protocol::persistence(bool persistent) const noexcept {
  if (!persistent) return Persistence::Close;
  return head_.minor_version == 0 ? Persistence::KeepAlive : Persistence::Implied;
}

void Protocol::run(Connection& connection, const Endpoint& endpoint, bool persistent) {
  response_.reset();
  try {
    endpoint.handler(builder_.request(), response_);
  } catch (const std::exception& error) {
    report(error.what());
    response_.reset();
    response_.status(500).text("The handler of this request failed.\n");
  } catch (...) {
    report("an exception that is not a std::exception");
    response_.reset();
    response_.status(500).text("The handler of this request failed.\n");
  }
  respond(connection, persistent);
}

void Protocol::report(const char* what) const {
  if (options_.on_error) options_.on_error(what);
}

Exchange& Protocol::exchange(Connection& connection) {
  if (connection.exchange == nullptr) connection.exchange = new Exchange;
  return *connection.exchange;
}

void Protocol::hold(Connection& connection, std::string_view unsent) {
  Exchange& state = exchange(connection);
  make_room(state.output, unsent.size());
  state.output.assign(unsent);
  state.output_sent = 0;
}

void Protocol::keep(Connection& connection, std::string_view bytes, std::size_t most) {
  Exchange& state = exchange(connection);
  if (state.input.capacity() < state.input.size() + bytes.size()) {
    make_room(state.input, state.input.size() + std::max(bytes.size(), most));
  }
  state.input.append(bytes);
}

void Protocol::rest(Connection& connection) noexcept {
  Exchange* const state = connection.exchange;
  if (state == nullptr) return;
  if (state->at_rest()) {
    end(connection);
  } else if (state->output.empty()) {
    std::string().swap(state->output);
  }
}

void Protocol::end(Connection& connection) noexcept {
  delete connection.exchange;
  connection.exchange = nullptr;
}

Protocol::Next Protocol::end_of_input(Connection& connection) {
  next_ = Next::Input;
  connection.set(Connection::kPeerClosed);
  Exchange* const state = connection.exchange;
  if (connection.has(Connection::kClosing)) return next_;
  if (state != nullptr && state->phase == Phase::Respond) {
    state->persistent = false;
    return next_;
  }
  if (state != nullptr && !state->response.began && !state->at_rest() &&
      state->phase != Phase::Discard) {
    refuse_later(connection, {400, "The request ended before it was complete."});
  }
  break_off(connection);
  return next_;
}

Protocol::Next Protocol::time_out(Connection& connection) {
  next_ = Next::Input;
  Exchange* const state = connection.exchange;
  if (state != nullptr && !state->response.began && state->phase != Phase::Discard) {
    refuse_later(connection, {408, "The request did not arrive in time."});
  }
  break_off(connection);
  return next_;
}

}  // namespace mote
