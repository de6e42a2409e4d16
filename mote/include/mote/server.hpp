#pragma once

#include <cstdint>
#include <memory>

#include "mote/options.hpp"
#include "mote/router.hpp"

namespace mote {

/// An HTTP/1.1 server (RFC 9110, RFC 9112) on its own worker threads.
class Server {
 public:
  /// Binds and listens, so that connections queue from here on. Throws std::system_error if the
  /// address cannot be bound or the kernel refuses the backend asked for, std::invalid_argument for
  /// options out of range.
  Server(Options options, Router router);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Serves until stop(), then drains: no new connections, requests under way are answered with
  /// `Connection: close`, idle connections are closed. The calling thread is the first worker.
  /// May be called once.
  void run();

  /// Asks run() to drain and return. Safe from any thread and from a signal handler.
  void stop() noexcept;

  /// The port that is listened on.
  [[nodiscard]] std::uint16_t port() const noexcept;

  /// The backend in use, never Automatic.
  [[nodiscard]] Backend backend() const noexcept;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace mote
