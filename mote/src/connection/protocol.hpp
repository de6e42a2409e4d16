#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "connection/connection.hpp"
#include "message/date_line.hpp"
#include "message/output.hpp"
#include "message/request_builder.hpp"
#include "mote/options.hpp"
#include "mote/response.hpp"
#include "routing/route_table.hpp"
#include "syntax/head.hpp"

namespace mote {

/// The server side of HTTP/1.1 as a state machine without input or output of its own.
///
/// A driver hands it the bytes that a connection received and sends what it leaves in output();
/// between the two may be a socket, TLS, or a test. One object serves all connections of a worker:
/// what it holds is scratch, what belongs to a connection is in Connection and its Exchange.
///
/// After each call the driver sends output(). It keeps what could not be sent in Exchange::output
/// and then calls nothing but end() until that has gone out.
class Protocol {
 public:
  enum class Next : std::uint8_t {
    Input,  // everything was processed: call receive() when more has come
    Drain,  // there is more to process: call resume() when the output has been sent
    Abort,  // the response cannot be completed: drop the connection
  };

  Protocol(const RouteTable& routes, const Options& options);

  Next receive(Connection& connection, std::string_view bytes);
  Next resume(Connection& connection);
  /// The client has ended its side. Answers to complete requests still go out.
  Next end_of_input(Connection& connection);
  /// The request timeout has passed: 408, or nothing if a response has begun.
  Next time_out(Connection& connection);

  /// Keeps `unsent` for the connection until the socket takes more.
  void hold(Connection& connection, std::string_view unsent);
  /// Keeps input that came while the output was blocked, for resume(). Room is made for `most`
  /// bytes at once if there is none, because more may follow.
  void keep(Connection& connection, std::string_view bytes, std::size_t most);
  /// Frees what a connection does not need until its next request.
  void rest(Connection& connection) noexcept;
  /// Frees all that the connection holds.
  void end(Connection& connection) noexcept;

  /// From now on every response announces the connection's end.
  void drain() noexcept { draining_ = true; }
  void set_date(std::time_t now) noexcept { date_.set(now); }

  [[nodiscard]] Output& output() noexcept { return output_; }

 private:
  std::size_t process(Connection& connection, std::string_view input);
  std::size_t process_head(Connection& connection, std::string_view input);
  std::size_t begin(Connection& connection, std::string_view head, std::string_view rest);
  std::size_t refuse_request(Connection& connection, syntax::Fault fault, bool keep);
  std::size_t answer_unrouted(Connection& connection, bool path_found, std::string_view rest);
  void expect_body(Connection& connection, const Endpoint* endpoint, std::string_view head,
                   std::string_view rest);

  // What is wrong with content that nobody wants, as far as it has come.
  struct Preview {
    syntax::Fault fault;
    bool too_large = false;
  };
  [[nodiscard]] Preview preview_content(std::string_view rest) const;

  std::size_t process_body(Connection& connection, std::string_view input);
  bool take_content(Connection& connection, std::string_view content);
  void refuse_content(Connection& connection);
  void finish_body(Connection& connection);
  void finish_collected(Connection& connection);

  void run(Connection& connection, const Endpoint& endpoint, bool persistent);
  void respond(Connection& connection, bool persistent);
  [[gnu::noinline]] void respond_unusually(Connection& connection, bool persistent);
  void refuse(Connection& connection, syntax::Fault fault);
  void refuse_later(Connection& connection, syntax::Fault fault);
  void start_stream(Connection& connection, std::unique_ptr<StreamHandler> handler,
                    bool persistent);
  void start_response_stream(Connection& connection, bool persistent);
  using StreamCall = std::function<void(StreamHandler&, ResponseWriter&)>;
  bool call_stream(Connection& connection, const StreamCall& call);
  void pump(Connection& connection);
  void break_off(Connection& connection);
  void finish_stream(Connection& connection);

  Exchange& exchange(Connection& connection);
  [[nodiscard]] Persistence persistence(bool persistent) const noexcept;
  void report(const char* what) const;

  const RouteTable& routes_;
  const Options& options_;
  std::size_t most_at_once_;  // bytes of responses before they are sent
  Output output_;
  DateLine date_;
  syntax::Head head_;
  RequestBuilder builder_;
  Response response_;
  std::string allow_;
  std::array<Field, syntax::Head::kMaxFields> trailers_;
  Next next_ = Next::Input;
  bool draining_ = false;
};

}  // namespace mote
