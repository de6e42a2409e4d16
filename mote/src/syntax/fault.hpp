#pragma once

namespace mote::syntax {

/// Why a message is refused: the status to answer with and one sentence for the client.
struct Fault {
  int status = 0;
  const char* reason = "";

  explicit operator bool() const noexcept { return status != 0; }
};

inline constexpr Fault kNoFault{};

}  // namespace mote::syntax
