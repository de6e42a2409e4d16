#pragma once

#include <string_view>

namespace mote::syntax {

/// An authority without userinfo: uri-host [ ":" port ] (RFC 9110 section 7.2).
struct Authority {
  std::string_view host;
  std::string_view port;
  bool has_port = false;  // a colon, with or without digits after it
};

/// Splits and checks an authority; false if its syntax is wrong or its port above 65,535.
/// An empty host is syntactically right (RFC 3986 section 3.2.2).
[[nodiscard]] bool parse_authority(std::string_view text, Authority& authority) noexcept;

}  // namespace mote::syntax
