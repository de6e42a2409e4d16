#include "syntax/field_section.hpp"

#include <cstdint>
#include <cstring>

#include "syntax/characters.hpp"

namespace mote::syntax {
namespace {

constexpr Fault kBadName{400, "A header field's name is not a token followed by a colon."};
constexpr Fault kFolded{400, "A header line begins with whitespace."};
constexpr Fault kBadValue{400, "A header field's value holds a control character."};
constexpr Fault kBareReturn{400, "A carriage return is not followed by a line feed."};

// Skips 8 bytes at a time while none of them is below 0x20 or equal to 0x7F. A value has few control
// characters (one, its CR), so most of it goes by here.
const char* skip_printable(const char* at, const char* end) noexcept {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kHighs = kOnes * 0x80U;
  while (end - at >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    const std::uint64_t below_space = (word - kOnes * 0x20U) & ~word;
    const std::uint64_t delete_bytes = word ^ (kOnes * 0x7FU);
    const std::uint64_t is_delete = (delete_bytes - kOnes) & ~delete_bytes;
    if (((below_space | is_delete) & kHighs) != 0) break;
    at += 8;
  }
  return at;
}

}  // namespace

Progress parse_field_line(const char*& at, const char* end, Field& field, Fault& fault) noexcept {
  const char* cursor = at;
  const char* const name = cursor;
  while (cursor != end && is(*cursor, kToken)) ++cursor;
  if (cursor == end) return Progress::Incomplete;
  if (*cursor != ':' || cursor == name) {
    fault = (cursor == name && is_space(*cursor)) ? kFolded : kBadName;
    return Progress::Faulty;
  }
  field.name = std::string_view(name, static_cast<std::size_t>(cursor - name));
  ++cursor;
  while (cursor != end && is_space(*cursor)) ++cursor;
  const char* const value = cursor;
  for (;;) {
    cursor = skip_printable(cursor, end);
    while (cursor != end && is(*cursor, kFieldValue)) {
      ++cursor;
      if (*(cursor - 1) == '\t') break;  // rare: back to the fast path after it
    }
    if (cursor == end) return Progress::Incomplete;
    if (!is(*cursor, kFieldValue)) break;
  }
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
