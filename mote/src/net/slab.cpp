#include "net/slab.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <new>

namespace mote {
namespace {

void* reserve(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  // A huge page would cost 2 MB for the first connection.
  (void)madvise(memory, bytes, MADV_NOHUGEPAGE);
  return memory;
}

std::size_t page_size() noexcept {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

std::size_t whole_pages(std::size_t bytes) noexcept {
  return (bytes + page_size() - 1) / page_size() * page_size();
}

}  // namespace

Slab::Slab(std::size_t capacity)
    : capacity_(std::max<std::size_t>(capacity, 1)),
      words_((capacity_ + kWordBits - 1) / kWordBits),
      slots_(static_cast<Connection*>(reserve(whole_pages(capacity_ * sizeof(Connection))))),
      taken_(nullptr) {
  try {
    taken_ = static_cast<std::uint64_t*>(reserve(whole_pages(words_ * sizeof(std::uint64_t))));
  } catch (...) {
    munmap(slots_, whole_pages(capacity_ * sizeof(Connection)));
    throw;
  }
}

Slab::~Slab() {
  munmap(slots_, whole_pages(capacity_ * sizeof(Connection)));
  munmap(taken_, whole_pages(words_ * sizeof(std::uint64_t)));
}

std::optional<std::uint32_t> Slab::take() noexcept {
  while (first_word_ < words_ && taken_[first_word_] == ~std::uint64_t{0}) ++first_word_;
  if (first_word_ == words_) return std::nullopt;
  const auto bit = static_cast<std::size_t>(std::countr_one(taken_[first_word_]));
  const std::size_t index = first_word_ * kWordBits + bit;
  if (index >= capacity_) return std::nullopt;
  taken_[first_word_] |= std::uint64_t{1} << bit;
  ++live_;
  peak_ = std::max(peak_, live_);
  extent_ = std::max(extent_, static_cast<std::uint32_t>(index + 1));
  Connection& slot = slots_[index];
  slot = Connection{};
  slot.generation = ++generation_;
  return static_cast<std::uint32_t>(index);
}

void Slab::release(std::uint32_t index) noexcept {
  const std::size_t word = index / kWordBits;
  taken_[word] &= ~(std::uint64_t{1} << (index % kWordBits));
  first_word_ = std::min(first_word_, word);
  --live_;
  slots_[index].flags = 0;
}

void Slab::give_back(std::size_t first_page, std::size_t end_page) noexcept {
  if (first_page == end_page) return;
  auto* const start = reinterpret_cast<char*>(slots_) + first_page * page_size();
  (void)madvise(start, (end_page - first_page) * page_size(), MADV_DONTNEED);
}

void Slab::trim() noexcept {
  const std::size_t words_a_page = page_size() / sizeof(Connection) / kWordBits;
  const std::size_t pages = (extent_ + words_a_page * kWordBits - 1) / (words_a_page * kWordBits);
  std::size_t run_start = 0;  // first page of the free run that is being measured
  std::size_t last_used = 0;  // one past it
  for (std::size_t page = 0; page < pages; ++page) {
    const std::size_t first = page * words_a_page;
    const std::size_t end = std::min(first + words_a_page, words_);
    const bool used =
        std::any_of(taken_ + first, taken_ + end, [](auto word) { return word != 0; });
    if (!used) continue;
    give_back(run_start, page);
    run_start = page + 1;
    last_used = page + 1;
  }
  give_back(run_start, pages);
  extent_ = static_cast<std::uint32_t>(std::min(last_used * words_a_page * kWordBits, capacity_));
  peak_ = live_;
}

}  // namespace mote
