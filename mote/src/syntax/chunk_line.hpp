#pragma once

#include <cstdint>
#include <string_view>

namespace mote::syntax {

/// Parses `chunk-size [ chunk-ext ]` without its CRLF (RFC 9112 section 7.1); false if the syntax
/// is wrong or the size does not fit in 63 bits. Extensions are checked and ignored.
[[nodiscard]] bool parse_chunk_line(std::string_view line, std::uint64_t& size) noexcept;

}  // namespace mote::syntax
