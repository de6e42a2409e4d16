#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace mote {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int get() const noexcept { return fd_; }
  void reset() noexcept;
  /// Gives the descriptor up without closing it.
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

/// A listening, non-blocking TCP socket with SO_REUSEPORT. Throws std::system_error, or
/// std::invalid_argument if `host` is not a numeric address.
[[nodiscard]] Descriptor listen_on(const std::string& host, std::uint16_t port, int backlog);

/// The local port of a bound socket.
[[nodiscard]] std::uint16_t local_port(int fd);

/// Closes so that the peer sees a reset and the kernel drops what it could not send.
void close_with_reset(int fd) noexcept;

}  // namespace mote
