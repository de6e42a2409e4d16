#pragma once

#include "syntax/head.hpp"

namespace mote::syntax {

/// Parses `method SP target SP HTTP/x.y CRLF` (RFC 9112 section 3) from `at`, which moves past it.
[[nodiscard]] Progress parse_request_line(const char*& at, const char* end, const Limits& limits,
                                          Head& head, Fault& fault) noexcept;

}  // namespace mote::syntax
