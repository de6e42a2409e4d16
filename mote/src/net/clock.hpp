#pragma once

#include <chrono>
#include <ctime>

namespace mote {

/// Monotonic time to the kernel's tick, which costs no system call.
inline std::chrono::milliseconds coarse_now() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::chrono::milliseconds(static_cast<std::int64_t>(now.tv_sec) * 1000 +
                                   now.tv_nsec / 1'000'000);
}

/// Seconds since the epoch, for Date.
inline std::time_t wall_seconds() noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now.tv_sec;
}

}  // namespace mote
