#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "syntax/characters.hpp"

namespace mote::syntax {

template <typename Word>
Word load(const char* at) noexcept {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// The first byte from `at` on that is not of the class, or `end`. Runs are short (a name, a path),
/// so this is unrolled rather than vectorised.
template <Class Wanted>
const char* skip(const char* at, const char* end) noexcept {
  while (end - at >= 4) {
    if (!is(at[0], Wanted)) return at;
    if (!is(at[1], Wanted)) return at + 1;
    if (!is(at[2], Wanted)) return at + 2;
    if (!is(at[3], Wanted)) return at + 3;
    at += 4;
  }
  while (at != end && is(*at, Wanted)) ++at;
  return at;
}

/// Up to eight bytes as one number: the whole of a short text, the end of a longer one. Texts of
/// one length of up to eight bytes are equal where their numbers are.
inline std::uint64_t last_eight(std::string_view text) noexcept {
  const char* const data = text.data();
  const std::size_t size = text.size();
  if (size >= 8) return load<std::uint64_t>(data + size - 8);
  if (size >= 4) {
    return load<std::uint32_t>(data) |
           static_cast<std::uint64_t>(load<std::uint32_t>(data + size - 4)) << 32U;
  }
  std::uint64_t number = 0;
  for (const char c : text) number = number << 8U | static_cast<unsigned char>(c);
  return number;
}

/// Equality of two texts of the same size without a call: they are short, or differ early.
inline bool same(const char* a, const char* b, std::size_t size) noexcept {
  if (size < 8) return last_eight({a, size}) == last_eight({b, size});
  const char* const last = a + size - 8;
  for (; a < last; a += 8, b += 8) {
    if (load<std::uint64_t>(a) != load<std::uint64_t>(b)) return false;
  }
  return load<std::uint64_t>(last) == load<std::uint64_t>(b - (a - last));
}

}  // namespace mote::syntax
