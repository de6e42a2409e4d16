#include "syntax/chunk_line.hpp"

#include "syntax/characters.hpp"

namespace mote::syntax {
namespace {

// Each takes its match from the front of `rest`.

void skip_whitespace(std::string_view& rest) noexcept {
  while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
}

bool take_token(std::string_view& rest) noexcept {
  std::size_t length = 0;
  while (length < rest.size() && is(rest[length], kToken)) ++length;
  rest.remove_prefix(length);
  return length > 0;
}

// quoted-string, RFC 9110 section 5.6.4; the opening quote is at the front
bool take_quoted_string(std::string_view& rest) noexcept {
  for (std::size_t at = 1; at < rest.size(); ++at) {
    if (rest[at] == '"') {
      rest.remove_prefix(at + 1);
      return true;
    }
    if (rest[at] == '\\') ++at;
    if (at == rest.size() || !is(rest[at], kFieldValue)) return false;
  }
  return false;
}

// *( BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] )
bool are_extensions(std::string_view rest) noexcept {
  while (!rest.empty()) {
    skip_whitespace(rest);
    if (rest.empty() || rest.front() != ';') return false;
    rest.remove_prefix(1);
    skip_whitespace(rest);
    if (!take_token(rest)) return false;
    std::string_view after = rest;
    skip_whitespace(after);
    if (after.empty() || after.front() != '=') continue;
    rest = after.substr(1);
    skip_whitespace(rest);
    const bool quoted = !rest.empty() && rest.front() == '"';
    if (!(quoted ? take_quoted_string(rest) : take_token(rest))) return false;
  }
  return true;
}

}  // namespace

bool parse_chunk_line(std::string_view line, std::uint64_t& size) noexcept {
  size = 0;
  std::size_t digits = 0;
  while (digits < line.size() && is(line[digits], kHex)) {
    if (size >> 59U != 0) return false;
    size = size * 16 + hex_value(line[digits]);
    ++digits;
  }
  return digits > 0 && are_extensions(line.substr(digits));
}

}  // namespace mote::syntax
