#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

#include "mote/server.hpp"

namespace mote::test {

/// A server on a free port of the loopback, running on a thread of its own.
class RunningServer {
 public:
  RunningServer(Backend backend, Options options, Router router);
  ~RunningServer();
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return server_.port(); }
  void stop() { server_.stop(); }
  /// Stops and waits until the server has drained.
  void join();

 private:
  Server server_;
  std::jthread thread_;
};

/// A blocking TCP client. Every wait ends after ten seconds.
class Client {
 public:
  explicit Client(std::uint16_t port, int receive_buffer = 0);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// False if the server has reset the connection.
  bool send(std::string_view bytes);
  void end_output();
  /// Reads until `count` bytes, the end of the stream, or a reset.
  std::string receive(std::size_t count);
  /// Reads to the end; was_reset() tells how it ended.
  std::string receive_all() { return receive(static_cast<std::size_t>(-1)); }
  /// Reads one response whose content has a Content-Length.
  std::string response();
  [[nodiscard]] bool was_reset() const { return reset_; }
  [[nodiscard]] bool at_end() const { return end_; }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  /// Appends what has come to unread_; false at the end, on a reset or after ten seconds.
  bool read_some();

  int fd_;
  std::string unread_;
  bool reset_ = false;
  bool end_ = false;
};

inline const std::string kHello = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n";

/// GET /hello, POST /echo and GET /large (16 MB, produced while it is sent).
[[nodiscard]] Router server_router();

/// Resident memory of this process that is not of a file, in bytes.
[[nodiscard]] std::size_t anonymous_memory();

}  // namespace mote::test
