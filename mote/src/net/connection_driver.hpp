#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "connection/protocol.hpp"
#include "net/deadlines.hpp"
#include "net/slab.hpp"
#include "net/worker.hpp"

namespace mote {

/// What a worker does whatever tells it that sockets are ready: it owns the connections, takes
/// their input through the protocol, sends, keeps deadlines, accepts and drains.
///
/// A backend waits for the kernel, hands input to take_input() and take_end(), and implements the
/// hooks through which the driver asks to be told more.
class ConnectionDriver : public Worker {
 protected:
  using Milliseconds = std::chrono::milliseconds;

  ConnectionDriver(const Options& options, const RouteTable& routes, Descriptor listener, int wake,
                   std::size_t max_connections);

  // --- the backend's part ---

  /// Begins to tell of a new connection's input; false if it cannot, which costs the connection.
  virtual bool watch(std::uint32_t index) = 0;
  /// The connection's output is blocked: call flush_held() when the socket takes more.
  virtual void await_room(std::uint32_t index) = 0;
  /// The connection takes input again, some of which may have come already.
  virtual void read_on(std::uint32_t index) = 0;
  /// The socket is about to be closed.
  virtual void forget(std::uint32_t index) = 0;
  /// Calls accept_some() when connections wait, from now on or until pause_listening(); false if
  /// it cannot for now.
  virtual bool listen() = 0;
  virtual void pause_listening() = 0;

  // --- the loop's parts, in the order in which a turn of it has them ---

  [[nodiscard]] bool running() const noexcept { return !draining_ || slab_.live() > 0; }
  /// How long nothing is due, or nothing if that is for ever: an idle worker never wakes.
  [[nodiscard]] std::optional<Milliseconds> sleep_length() noexcept;
  void update_clock() noexcept;
  void expire();
  void housekeep();

  void accept_some();
  void begin_drain();

  // --- one connection ---

  /// Processes input and answers it. False if there is nothing to read for now: the connection is
  /// closed, or waits for the socket to take its output.
  bool take_input(std::uint32_t index, std::string_view bytes);
  /// The client has ended its side.
  void take_end(std::uint32_t index);
  /// Sends what was blocked and, once all of it is gone, goes on with the connection.
  void flush_held(std::uint32_t index);
  void close_socket(std::uint32_t index, bool reset);
  void close_all();

  [[nodiscard]] Slab& slab() noexcept { return slab_; }
  [[nodiscard]] Protocol& protocol() noexcept { return protocol_; }
  [[nodiscard]] int listener() const noexcept { return listener_.get(); }
  [[nodiscard]] int wake() const noexcept { return wake_; }
  [[nodiscard]] bool accepting() const noexcept { return accepting_; }

  /// Tells the connection from the earlier ones in its slot: 48 bits.
  [[nodiscard]] std::uint64_t tag(std::uint32_t index) noexcept {
    return static_cast<std::uint64_t>(slab_[index].generation) << 32U | index;
  }
  /// The open connection that a tag was made for, or null if it has been closed since.
  [[nodiscard]] Connection* find(std::uint64_t candidate) noexcept {
    const auto index = static_cast<std::uint32_t>(candidate);
    Connection& connection = slab_[index];
    return connection.has(Connection::kOpen) && tag(index) == candidate ? &connection : nullptr;
  }

 private:
  void adopt(Descriptor socket);
  void pause_accepting();
  void resume_accepting();

  template <typename Call>
  Protocol::Next within_memory(const Call& call);
  bool advance(std::uint32_t index, Protocol::Next next);
  bool flush(std::uint32_t index);
  void hold_from(std::uint32_t index, std::size_t sent);
  std::uint64_t has_taken(std::uint32_t index);
  void renew_write(std::uint32_t index);
  bool finish(std::uint32_t index);
  void keep_time(std::uint32_t index) noexcept;

  void continue_drain();
  template <typename Predicate>
  void close_where(Predicate predicate, bool reset);

  const Options& options_;
  Protocol protocol_;
  Slab slab_;
  Deadlines deadlines_;
  Descriptor listener_;
  int wake_;
  Milliseconds now_{0};
  std::uint32_t tick_ = 0;
  std::int64_t date_second_ = -1;
  bool accepting_ = false;
  Milliseconds accept_again_{0};
  bool draining_ = false;
  bool idle_closed_ = false;
  Milliseconds drain_began_{0};
};

}  // namespace mote
