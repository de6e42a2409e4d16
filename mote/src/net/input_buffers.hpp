#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "net/ring.hpp"

namespace mote {

/// Buffers of one worker that the kernel fills with what its connections receive, registered with
/// the ring as group 0.
///
/// They are few and small: all of them may fill with what one client sends, and have to be kept
/// for it if it takes no answers.
class InputBuffers {
 public:
  static constexpr std::uint16_t kGroup = 0;
  static constexpr unsigned kCount = 24;  // Linux handles some twenty ready sockets at a time
  static constexpr std::size_t kSize = 2048;

  /// Throws std::system_error where the kernel refuses the registration.
  explicit InputBuffers(const Ring& ring);

  /// What a completion left in its buffer.
  [[nodiscard]] std::string_view view(const Completion& completion) const noexcept {
    return {memory_.at<char>(id_of(completion) * kSize),
            static_cast<std::size_t>(completion.result)};
  }
  /// Lets the kernel fill the completion's buffer again.
  void recycle(const Completion& completion) noexcept { provide(id_of(completion)); }

 private:
  static constexpr unsigned kEntries = 32;  // of the ring of buffers: a power of two

  static std::uint16_t id_of(const Completion& completion) noexcept {
    return static_cast<std::uint16_t>(completion.flags >> IORING_CQE_BUFFER_SHIFT);
  }
  void provide(std::uint16_t id) noexcept;

  Mapping ring_memory_;
  Mapping memory_;
  std::uint16_t tail_ = 0;
};

}  // namespace mote
