#include "syntax/field_section.hpp"

#include <bit>
#include <cstdint>

#include "syntax/bytes.hpp"
#include "syntax/characters.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace mote::syntax {
namespace {

constexpr Fault kBadName{400, "A header field's name is not a token followed by a colon."};
constexpr Fault kFolded{400, "A header line begins with whitespace."};
constexpr Fault kBadValue{400, "A header field's value holds a control character."};
constexpr Fault kBareReturn{400, "A carriage return is not followed by a line feed."};

#ifdef __SSE2__
// Sixteen bytes at a time, on the baseline of every x86-64.
const char* skip_printable_blocks(const char* at, const char* end) noexcept {
  const __m128i high = _mm_set1_epi8(static_cast<char>(0x80));
  const __m128i space = _mm_set1_epi8(static_cast<char>(0x20 ^ 0x80));
  const __m128i del = _mm_set1_epi8(0x7F);
  while (end - at >= 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    // The comparison is signed: flipping the high bits makes it one of unsigned bytes.
    const __m128i below = _mm_cmplt_epi8(_mm_xor_si128(block, high), space);
    const auto marks =
        static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(below, _mm_cmpeq_epi8(block, del))));
    if (marks != 0) return at + std::countr_zero(marks);
    at += 16;
  }
  return at;
}
#else
// Eight bytes at a time: a byte of `marks` is set where the byte of `word` is below 0x20 or is
// 0x7F. A borrow can set false marks above the first true one, never below it.
const char* skip_printable_blocks(const char* at, const char* end) noexcept {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kHighs = kOnes * 0x80U;
  while (end - at >= 8) {
    const auto word = load<std::uint64_t>(at);
    const std::uint64_t below_space = (word - kOnes * 0x20U) & ~word;
    const std::uint64_t delete_bytes = word ^ (kOnes * 0x7FU);
    const std::uint64_t is_delete = (delete_bytes - kOnes) & ~delete_bytes;
    if (((below_space | is_delete) & kHighs) != 0) return at;
    at += 8;
  }
  return at;
}
#endif

// The first control character from `at` on, or `end`.
const char* find_control(const char* at, const char* end) noexcept {
  at = skip_printable_blocks(at, end);
  while (at != end && is(*at, kFieldValue) && *at != '\t') ++at;
  return at;
}

}  // namespace

Progress parse_field_line(const char*& at, const char* end, Field& field, Fault& fault) noexcept {
  const char* cursor = at;
  const char* const name = cursor;
  cursor = skip<kToken>(cursor, end);
  if (cursor == end) return Progress::Incomplete;
  if (*cursor != ':' || cursor == name) {
    fault = (cursor == name && is_space(*cursor)) ? kFolded : kBadName;
    return Progress::Faulty;
  }
  field.name = std::string_view(name, static_cast<std::size_t>(cursor - name));
  ++cursor;
  if (cursor != end && *cursor == ' ') ++cursor;
  while (cursor != end && is_space(*cursor)) [[unlikely]]++ cursor;
  const char* const value = cursor;
  cursor = find_control(cursor, end);
  while (cursor != end && *cursor == '\t') cursor = find_control(cursor + 1, end);
  if (cursor == end) return Progress::Incomplete;
  if (*cursor != '\r') {
    fault = kBadValue;
    return Progress::Faulty;
  }
  if (cursor + 1 == end) return Progress::Incomplete;
  if (cursor[1] != '\n') {
    fault = kBareReturn;
    return Progress::Faulty;
  }
  at = cursor + 2;
  while (cursor != value && is_space(cursor[-1])) --cursor;
  field.value = std::string_view(value, static_cast<std::size_t>(cursor - value));
  return Progress::Complete;
}

}  // namespace mote::syntax
