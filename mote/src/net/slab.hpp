#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "connection/connection.hpp"

namespace mote {

/// The connections of one worker: address space for as many as there may be, memory only for the
/// pages in use, handed back when many connections have closed.
///
/// A free slot is the lowest one, which keeps the connections dense and lets whole pages fall free.
class Slab {
 public:
  /// Reserves address space for `capacity` connections. Throws std::bad_alloc if it cannot.
  explicit Slab(std::size_t capacity);
  ~Slab();
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  /// Takes the lowest free slot; nothing when all are taken. The slot is zero but for its
  /// generation, which differs from those of the last 65,535 slots taken.
  std::optional<std::uint32_t> take() noexcept;
  void release(std::uint32_t index) noexcept;

  [[nodiscard]] Connection& operator[](std::uint32_t index) noexcept { return slots_[index]; }
  [[nodiscard]] std::size_t live() const noexcept { return live_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  /// One past the highest slot that may be taken.
  [[nodiscard]] std::uint32_t extent() const noexcept { return extent_; }

  /// Whether so many connections have closed since the last trim that another is worth its cost.
  [[nodiscard]] bool wants_trim() const noexcept {
    return peak_ >= kLeastToTrim && live_ <= peak_ / 2;
  }
  /// Gives the pages without connections back to the system.
  void trim() noexcept;

 private:
  static constexpr std::size_t kLeastToTrim = 512;
  static constexpr std::size_t kWordBits = 64;

  void give_back(std::size_t first_page, std::size_t end_page) noexcept;

  std::size_t capacity_;
  std::size_t words_;
  Connection* slots_;
  std::uint64_t* taken_;        // a bit a slot
  std::size_t first_word_ = 0;  // no word before it has a free slot
  std::size_t live_ = 0;
  std::size_t peak_ = 0;  // most live since the last trim
  std::uint32_t extent_ = 0;
  std::uint16_t generation_ = 0;
};

}  // namespace mote
