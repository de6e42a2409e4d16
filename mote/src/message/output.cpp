#include "message/output.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace mote {
namespace {

// Holds what is sent at once and the response that goes past it, so that it seldom moves. Pages
// that nothing has written to take no memory.
constexpr std::size_t kFirstCapacity = 16384;

char* resize(char* data, std::size_t capacity) {
  void* const moved = std::realloc(data, capacity);  // NOLINT(cppcoreguidelines-no-malloc)
  if (moved == nullptr) throw std::bad_alloc();
  return static_cast<char*>(moved);
}

}  // namespace

Output::Output() : data_(resize(nullptr, kFirstCapacity)), capacity_(kFirstCapacity) {}

Output::~Output() {
  std::free(data_);  // NOLINT(cppcoreguidelines-no-malloc)
}

void Output::grow(std::size_t count) {
  const std::size_t wanted = std::max(capacity_ * 2, size_ + count);
  data_ = resize(data_, wanted);
  capacity_ = wanted;
}

void Output::shrink() noexcept {
  // A realloc to less that fails leaves the larger block in place, which does no harm.
  void* const moved = std::realloc(data_, kFirstCapacity);  // NOLINT(cppcoreguidelines-no-malloc)
  if (moved == nullptr) return;
  data_ = static_cast<char*>(moved);
  capacity_ = kFirstCapacity;
}

}  // namespace mote
