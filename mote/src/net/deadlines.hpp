#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include "connection/connection.hpp"
#include "mote/options.hpp"
#include "net/slab.hpp"

namespace mote {

/// The deadlines of a worker's connections: a list for each kind of timeout.
///
/// All deadlines of one kind lie equally far ahead when they are set, so that each list is in order
/// by itself: setting one is an append, and only the heads have to be looked at.
class Deadlines {
 public:
  using Milliseconds = std::chrono::milliseconds;

  Deadlines(Slab& slab, const Timeouts& timeouts) noexcept;

  /// Puts the connection under a timeout that starts at `now`, in place of any other.
  void set(std::uint32_t index, Timer timer, std::uint32_t now) noexcept {
    Connection& connection = slab_[index];
    const std::uint32_t deadline = now + list(timer).ticks;
    // Most requests on a connection that is busy fall here: the tick has not changed.
    if (connection.timer == timer && connection.deadline == deadline) return;
    move(index, timer, deadline);
  }
  void clear(std::uint32_t index) noexcept;

  struct Expired {
    std::uint32_t index;
    Timer timer;
  };
  /// A connection whose deadline has passed, taken off its list, or nothing.
  std::optional<Expired> take_expired(std::uint32_t now) noexcept;

  /// How long to sleep from `now`: until the first deadline, or nothing if there is none.
  [[nodiscard]] std::optional<Milliseconds> until_first(Milliseconds now) noexcept;

  /// First connection under a timeout, or nothing.
  [[nodiscard]] std::optional<std::uint32_t> first(Timer timer) noexcept;

  /// The tick that a time falls in. Ticks are coarse so that a busy connection moves rarely.
  static std::uint32_t tick(Milliseconds time) noexcept {
    return static_cast<std::uint32_t>(time.count() / kTickLength);
  }

 private:
  static constexpr std::int64_t kTickLength = 16;  // milliseconds
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct List {
    std::uint32_t head = kNone;
    std::uint32_t tail = kNone;
    std::uint32_t ticks = 0;
    bool enabled = false;
  };

  List& list(Timer timer) noexcept { return lists_[static_cast<std::size_t>(timer)]; }
  void move(std::uint32_t index, Timer timer, std::uint32_t deadline) noexcept;
  void unlink(Connection& connection) noexcept;

  Slab& slab_;
  std::array<List, 5> lists_;
};

}  // namespace mote
