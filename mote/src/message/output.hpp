#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

namespace mote {

/// The bytes to send next: one growing buffer a worker, shared by its connections in turn.
class Output {
 public:
  Output();
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void append(std::string_view bytes) {
    if (bytes.empty()) return;  // a null view is not an argument for memcpy
    char* to = reserve(bytes.size());
    std::memcpy(to, bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  /// Room for `count` more bytes, to be filled and then counted with commit().
  char* reserve(std::size_t count) {
    if (capacity_ - size_ < count) [[unlikely]]
      grow(count);
    return data_ + size_;
  }
  void commit(std::size_t count) noexcept { size_ += count; }

  /// Empties the buffer and gives back what an unusual response made it grow.
  void clear() noexcept {
    size_ = 0;
    if (capacity_ > kKeptCapacity) [[unlikely]]
      shrink();
  }
  /// Drops the bytes after the first `size`.
  void truncate(std::size_t size) noexcept { size_ = size; }

  [[nodiscard]] std::string_view view() const noexcept { return {data_, size_}; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

 private:
  static constexpr std::size_t kKeptCapacity = 128UL * 1024;

  void grow(std::size_t count);
  void shrink() noexcept;

  char* data_;
  std::size_t size_ = 0;
  std::size_t capacity_;
};

}  // namespace mote
