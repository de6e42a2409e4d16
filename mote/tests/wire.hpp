#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "connection/protocol.hpp"
#include "mote/router.hpp"

namespace mote::test {

/// A client's connection to Protocol without a socket. Takes the output as a socket would, or not.
class Wire {
 public:
  explicit Wire(const Router& router, Options options = {});
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  /// Delivers bytes as one read would.
  Wire& send(std::string_view bytes);
  /// Delivers them one by one.
  Wire& drip(std::string_view bytes);
  Wire& end_input();
  Wire& time_out();
  /// The socket takes nothing from now on, until unblock().
  void block() { blocked_ = true; }
  void unblock();

  [[nodiscard]] const std::string& received() const { return received_; }
  /// Status codes of the responses, in order.
  [[nodiscard]] std::vector<int> statuses() const;
  [[nodiscard]] bool closed() const { return connection_.has(Connection::kClosing); }
  [[nodiscard]] bool aborted() const { return aborted_; }
  [[nodiscard]] bool holds_memory() const { return connection_.exchange != nullptr; }
  /// Bytes that the connection holds beyond its slot.
  [[nodiscard]] std::size_t held_bytes() const;
  Protocol& protocol() { return protocol_; }

 private:
  void settle(Protocol::Next next);

  Options options_;
  Protocol protocol_;
  Connection connection_{};
  std::string received_;
  bool blocked_ = false;
  bool aborted_ = false;
};

/// `GET /hello`, `POST /echo` (collected), and streams under /stream, as most tests need them.
[[nodiscard]] Router make_router();

/// What follows the head of the last response.
[[nodiscard]] std::string last_body(const std::string& received);

}  // namespace mote::test
