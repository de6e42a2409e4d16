// How Protocol answers: plain responses, refusals, and responses that a stream handler writes.

#include <utility>

#include "connection/protocol.hpp"
#include "message/producer_stream.hpp"
#include "message/response_access.hpp"
#include "message/serialise.hpp"
#include "mote/status.hpp"

namespace mote {
namespace {

using Phase = Exchange::Phase;

}  // namespace

// A 200 with its content, on a connection that persists, is the outcome of nearly every request.
[[gnu::flatten]] void Protocol::respond(Connection& connection, bool persistent) {
  if (persistent && head_.method != Method::Head && head_.minor_version != 0 && !draining_ &&
      ResponseAccess::is_plain(response_)) [[likely]] {
    const std::string_view content = response_.body();
    write_head(output_, date_,
               {.fields = ResponseAccess::fields(response_),
                .plain_text = ResponseAccess::plain_text(response_),
                .length = content.size()},
               content);
    return;
  }
  respond_unusually(connection, persistent && !draining_);
}

void Protocol::respond_unusually(Connection& connection, bool persistent) {
  const int status = response_.status();
  if (status == 205) ResponseAccess::drop_content(response_);  // RFC 9110 section 15.3.6
  const std::string_view body = response_.body();
  const bool head_request = head_.method == Method::Head;
  if (ResponseAccess::stream(response_) != nullptr ||
      (body.size() > ResponseAccess::kLargeBody && !head_request)) {
    start_response_stream(connection, persistent);
    return;
  }
  const bool forbidden = status_forbids_content(status);
  write_head(output_, date_,
             {.status = status,
              .fields = ResponseAccess::fields(response_),
              .plain_text = ResponseAccess::plain_text(response_),
              .delimiting = forbidden ? Delimiting::None : Delimiting::Length,
              .length = body.size(),
              .persistence = persistence(persistent)},
             head_request || forbidden ? std::string_view{} : body);
  if (!persistent) connection.set(Connection::kClosing);
}

// Answers the request in head_, which cannot be read any further, and ends the connection.
void Protocol::refuse(Connection& connection, syntax::Fault fault) {
  response_.reset();
  response_.status(fault.status).text(fault.reason);
  respond(connection, false);
}

// The same after other connections have used head_: reads again what is known of the request, for
// an answer to HEAD must go without content.
void Protocol::refuse_later(Connection& connection, syntax::Fault fault) {
  const Exchange& state = *connection.exchange;
  if (state.phase == Phase::Stream || state.phase == Phase::Respond) {
    head_.method = state.response.head_request ? Method::Head : Method::Get;
  } else {
    const std::string& head = state.phase == Phase::Head ? state.input : state.head;
    (void)syntax::parse_head(head, options_.limits, head_);
  }
  refuse(connection, fault);
}

// Answers a request without looking at its content. Where `keep` is false the connection ends, for
// content would have to be read that is too much or may never come.
std::size_t Protocol::refuse_request(Connection& connection, syntax::Fault fault, bool keep) {
  response_.reset();
  response_.status(fault.status).text(fault.reason);
  respond(connection, keep && head_.persistent());
  return 0;
}

// Answers a request that no handler wants. `rest` is what has come after its head.
std::size_t Protocol::answer_unrouted(Connection& connection, bool path_found,
                                      std::string_view rest) {
  const bool has_body = head_.framing != syntax::Framing::None;
  const Preview content = has_body ? preview_content(rest) : Preview{};
  if (content.fault) return refuse_request(connection, content.fault, false);
  const bool asterisk = head_.target.form == syntax::TargetForm::Asterisk;
  const bool implemented = head_.method != Method::Extension && head_.method != Method::Connect;
  response_.reset();
  if (!implemented && !routes_.implements(head_.method_name)) {
    response_.status(501).text("This method is not implemented.\n");
  } else if (asterisk) {
    response_.header("Allow", routes_.all_methods());
  } else if (!path_found) {
    response_.status(404).text("Nothing is found at this path.\n");
  } else if (head_.method == Method::Options) {
    response_.header("Allow", allow_);
  } else {
    response_.status(405).header("Allow", allow_).text("This method is not allowed here.\n");
  }
  // A client that waits for 100 Continue may send its content after this answer or not: only the
  // connection's end makes clear what follows (RFC 9110 section 10.1.1). After CONNECT a client may
  // take the connection for a tunnel.
  const bool unclear = has_body && (head_.expects_continue || content.too_large);
  const bool persistent = head_.persistent() && !unclear && head_.method != Method::Connect;
  respond(connection, persistent);
  if (has_body && !connection.has(Connection::kClosing)) expect_body(connection, nullptr, {}, {});
  return 0;
}

void Protocol::start_response_stream(Connection& connection, bool persistent) {
  std::unique_ptr<StreamHandler> source = std::move(ResponseAccess::stream(response_));
  std::optional<std::uint64_t> length = ResponseAccess::stream_length(response_);
  if (source == nullptr) {
    length = response_.body().size();
    source = std::make_unique<BodyStream>(ResponseAccess::take_body(response_));
  }
  start_stream(connection, std::move(source), persistent);
  Exchange& state = *connection.exchange;
  if (!call_stream(connection, [this, length](StreamHandler&, ResponseWriter& writer) {
        writer.begin(response_, length);
      })) {
    return;
  }
  state.phase = Phase::Respond;
  if (!state.response.without_content) return;
  state.response.finished = true;
  finish_stream(connection);
}

void Protocol::start_stream(Connection& connection, std::unique_ptr<StreamHandler> handler,
                            bool persistent) {
  Exchange& state = exchange(connection);
  state.stream = std::move(handler);
  state.persistent = persistent && !draining_;
  state.response = {};
  state.response.head_request = head_.method == Method::Head;
  state.response.minor_version = head_.minor_version;
  state.response.persistence = persistence(state.persistent);
}

// Calls the stream handler; on an exception answers 500, or ends the connection if it is too late.
bool Protocol::call_stream(Connection& connection, const StreamCall& call) {
  Exchange& state = *connection.exchange;
  StreamTarget target{output_, date_, state.response};
  ResponseWriter writer(target);
  try {
    call(*state.stream, writer);
    return true;
  } catch (const std::exception& error) {
    report(error.what());
  } catch (...) {
    report("an exception that is not a std::exception");
  }
  if (state.response.began) {
    next_ = Next::Abort;
    connection.set(Connection::kClosing);
  } else {
    refuse_later(connection, {500, "The handler of this request failed."});
  }
  return false;
}

void Protocol::pump(Connection& connection) {
  Exchange& state = *connection.exchange;
  if (!state.response.finished) {
    const std::uint64_t before = state.response.written;
    const bool began = state.response.began;
    if (!call_stream(connection, [](StreamHandler& handler, ResponseWriter& writer) {
          handler.on_writable(writer);
        })) {
      return;
    }
    const bool moved = state.response.written != before || state.response.began != began;
    // What would follow goes nowhere: a handler that nothing holds back may never end.
    if (state.response.without_content) state.response.finished = true;
    if (!moved && !state.response.finished) {
      report("a stream handler neither wrote nor finished");
      next_ = Next::Abort;
      connection.set(Connection::kClosing);
      return;
    }
  }
  if (state.response.finished) finish_stream(connection);
}

// Ends a connection in the middle of an exchange. A response that only its connection's end
// delimits would pass for whole if that were an orderly one.
void Protocol::break_off(Connection& connection) {
  const Exchange* const state = connection.exchange;
  if (state != nullptr && state->response.began &&
      state->response.delimiting == Delimiting::Close) {
    next_ = Next::Abort;
  }
  connection.set(Connection::kClosing);
}

void Protocol::finish_stream(Connection& connection) {
  Exchange& state = *connection.exchange;
  connection.set(Connection::kProgress);
  const bool ends = !state.persistent || state.response.persistence == Persistence::Close;
  state.stream.reset();
  state.response = {};
  if (ends || draining_) {
    connection.set(Connection::kClosing);
  } else if (state.decoder.done()) {
    state.phase = Phase::Head;
  } else {
    state.phase = Phase::Discard;
    state.received = 0;
    state.most = options_.limits.body;
  }
}

}  // namespace mote
