#pragma once

#include <string_view>

namespace mote {

/// The reason phrase registered for a status code (RFC 9110 section 15), or an empty view.
[[nodiscard]] std::string_view reason_phrase(int status) noexcept;

/// True where a response of this status never has content: 1xx, 204 and 304 (RFC 9110
/// section 6.4.1).
[[nodiscard]] constexpr bool status_forbids_content(int status) noexcept {
  return status < 200 || status == 204 || status == 304;
}

}  // namespace mote
