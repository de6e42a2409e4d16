#pragma once

#include <cstdint>

#include "connection/exchange.hpp"

namespace mote {

/// Which timeout a connection is under.
enum class Timer : std::uint8_t { None, Idle, Request, Write, Linger };

/// All that is kept for a connection that waits for its next request: 32 bytes of a slab.
///
/// Anything more lives in the Exchange, which exists only while a request has come in part, a
/// response is blocked, or content is under way. All-zero bytes are a free slot.
struct Connection {
  enum Flag : std::uint8_t {
    kOpen = 1U << 0U,
    kClosing = 1U << 1U,     // no more requests; ends once the output is sent
    kPeerClosed = 1U << 2U,  // the client has ended its side
    kLingering = 1U << 3U,   // our side is ended; input is discarded
    kProgress = 1U << 4U,    // a request completed or much content moved: renew the deadline
    // Requests to the kernel that stand, where the backend makes such:
    kReceiving = 1U << 5U,
    kAwaitingRoom = 1U << 6U,

    kRequested = 1U << 7U,  // a request has come since empty lines were counted
  };

  Exchange* exchange;
  std::uint32_t previous;  // links of the deadline list, slot indices
  std::uint32_t next;
  std::uint32_t deadline;  // tick
  std::int32_t fd;
  std::uint16_t generation;  // tells events of an earlier connection in this slot
  Timer timer;
  std::uint8_t flags;
  std::uint8_t empty_lines;  // before the next request; counted from 0 again after kRequested

  [[nodiscard]] bool has(Flag flag) const noexcept { return (flags & flag) != 0; }
  void set(Flag flag) noexcept { flags = static_cast<std::uint8_t>(flags | flag); }
  void clear(Flag flag) noexcept { flags = static_cast<std::uint8_t>(flags & ~flag); }
  /// A request's head is there.
  void note_request() noexcept {
    flags = static_cast<std::uint8_t>(flags | kProgress | kRequested);
  }
  [[nodiscard]] bool output_blocked() const noexcept {
    return exchange != nullptr && !exchange->output.empty();
  }
};

static_assert(sizeof(Connection) == 32,
              "a connection's slot is what a server pays for each client");

}  // namespace mote
