#pragma once

#include <cstdint>
#include <string_view>

namespace mote {

/// Request methods that the library knows by name (RFC 9110 section 9.3, RFC 5789 for PATCH).
/// Every other method token is `Extension`; its name is in Request::method_name().
enum class Method : std::uint8_t {
  Get,
  Head,
  Post,
  Put,
  Delete,
  Connect,
  Options,
  Trace,
  Patch,
  Extension,
};

/// The method that a token names; method tokens are case-sensitive (RFC 9110 section 9.1).
[[nodiscard]] Method method_from_name(std::string_view name) noexcept;

/// The token of a known method; an empty view for `Extension`.
[[nodiscard]] std::string_view method_name(Method method) noexcept;

}  // namespace mote
