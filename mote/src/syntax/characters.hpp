#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace mote::syntax {

/// Character classes of the grammars, one bit each.
enum Class : std::uint8_t {
  kToken = 1U << 0U,       // tchar, RFC 9110 section 5.6.2
  kFieldValue = 1U << 1U,  // field-vchar, SP and HTAB, RFC 9110 section 5.5
  kPath = 1U << 2U,        // pchar without pct-encoded, and "/", RFC 3986 section 3.3
  kQuery = 1U << 3U,       // kPath and "?", RFC 3986 section 3.4
  kRegName = 1U << 4U,     // unreserved and sub-delims, RFC 3986 section 3.2.2
  kUnreserved = 1U << 5U,  // RFC 3986 section 2.3
  kHex = 1U << 6U,
  kPlainPath = 1U << 7U,  // kPath without ".": no normalisation can change it
};

namespace detail {

constexpr bool contains(std::string_view set, int c) {
  return set.find(static_cast<char>(c)) != std::string_view::npos;
}

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> table{};
  for (int c = 0; c < 256; ++c) {
    const bool digit = c >= '0' && c <= '9';
    const bool upper = c >= 'A' && c <= 'Z';
    const bool lower = c >= 'a' && c <= 'z';
    const bool alphanumeric = digit || upper || lower;
    const bool ascii = c > 0 && c < 0x7F;
    const bool unreserved = alphanumeric || (ascii && contains("-._~", c));
    const bool reg_name = unreserved || (ascii && contains("!$&'()*+,;=", c));
    const bool path = reg_name || (ascii && contains(":@/", c));
    unsigned bits = 0;
    bits |= (alphanumeric || (ascii && contains("!#$%&'*+-.^_`|~", c))) ? unsigned{kToken} : 0U;
    bits |= ((c >= 0x20 && c != 0x7F) || c == '\t') ? unsigned{kFieldValue} : 0U;
    bits |= path ? unsigned{kPath} : 0U;
    bits |= (path || c == '?') ? unsigned{kQuery} : 0U;
    bits |= reg_name ? unsigned{kRegName} : 0U;
    bits |= unreserved ? unsigned{kUnreserved} : 0U;
    bits |= (digit || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f')) ? unsigned{kHex} : 0U;
    bits |= (path && c != '.') ? unsigned{kPlainPath} : 0U;
    table[static_cast<std::size_t>(c)] = static_cast<std::uint8_t>(bits);
  }
  return table;
}

}  // namespace detail

inline constexpr std::array<std::uint8_t, 256> kClasses = detail::make_classes();

constexpr bool is(char c, Class wanted) {
  return (kClasses[static_cast<unsigned char>(c)] & wanted) != 0;
}

constexpr bool all(std::string_view text, Class wanted) {
  for (const char c : text) {
    if (!is(c, wanted)) return false;
  }
  return true;
}

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// A token is not empty.
constexpr bool is_token(std::string_view text) {
  return !text.empty() && all(text, kToken);
}

/// Value of a character for which is(c, kHex) holds.
constexpr unsigned hex_value(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code <= '9' ? code - '0' : (code | 0x20U) - 'a' + 10U;
}

constexpr char lower(char c) {
  return (c >= 'A' && c <= 'Z') ? static_cast<char>(c + ('a' - 'A')) : c;
}

constexpr bool is_space(char c) {
  return c == ' ' || c == '\t';
}

constexpr std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace mote::syntax
