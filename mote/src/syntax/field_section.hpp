#pragma once

#include <cstddef>
#include <string_view>

#include "mote/fields.hpp"
#include "syntax/fault.hpp"

namespace mote::syntax {

/// Where a parser stands after it has looked at the input.
enum class Progress : unsigned char {
  Incomplete,  // right so far; more input is needed
  Complete,
  Faulty,
};

/// Parses one field line and its CRLF from `at`, which moves past the line if it is complete.
///
/// Refuses what RFC 9112 section 5 lets a server refuse: whitespace around the name, folded lines,
/// and every line ending but CRLF.
[[nodiscard]] Progress parse_field_line(const char*& at, const char* end, Field& field,
                                        Fault& fault) noexcept;

}  // namespace mote::syntax
