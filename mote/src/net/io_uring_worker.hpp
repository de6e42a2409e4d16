#pragma once

#include <cstdint>
#include <optional>

#include "net/connection_driver.hpp"
#include "net/input_buffers.hpp"
#include "net/ring.hpp"

namespace mote {

/// The event loop over io_uring: a connection's input arrives in a buffer without a system call
/// of its own, by a request that stands until it is cancelled.
class IoUringWorker final : public ConnectionDriver {
 public:
  IoUringWorker(const Options& options, const RouteTable& routes, Descriptor listener, int wake,
                std::size_t max_connections);
  ~IoUringWorker() override;

  void run() override;

 private:
  /// What a completion is of; above the connection's tag in a request's user data.
  enum class Kind : std::uint8_t { Ignored, Input, Room, Listener, Wake };

  bool watch(std::uint32_t index) override;
  void await_room(std::uint32_t index) override;
  void read_on(std::uint32_t index) override;
  void forget(std::uint32_t index) override;
  bool listen() override;
  void pause_listening() override;

  void dispatch(const Completion& completion);
  void on_input(std::uint64_t tag, const Completion& completion);
  void on_room(std::uint64_t tag);
  void on_listener(std::uint64_t serial);
  void take_bytes(Connection& connection, std::uint32_t index, std::string_view bytes);

  void poll(int fd, std::uint32_t events, std::uint64_t user_data);
  void cancel(std::uint64_t user_data);

  static constexpr std::uint64_t user_data(Kind kind, std::uint64_t tag) noexcept {
    return static_cast<std::uint64_t>(kind) << 48U | tag;
  }

  std::optional<Ring> ring_;
  std::optional<InputBuffers> buffers_;
  bool listening_ = false;
  std::uint32_t listen_serial_ = 0;  // tells a poll that was cancelled from the one after it
};

}  // namespace mote
