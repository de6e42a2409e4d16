#include "syntax/host.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <cstring>

#include "syntax/characters.hpp"

namespace mote::syntax {
namespace {

bool is_ipv6(std::string_view text) noexcept {
  std::array<char, INET6_ADDRSTRLEN + 1> zero_terminated{};
  if (text.size() >= zero_terminated.size()) return false;
  std::memcpy(zero_terminated.data(), text.data(), text.size());
  in6_addr address{};
  return std::strlen(zero_terminated.data()) == text.size() &&
         inet_pton(AF_INET6, zero_terminated.data(), &address) == 1;
}

// IPvFuture = "v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" )
bool is_ip_future(std::string_view text) noexcept {
  if (text.empty() || lower(text.front()) != 'v') return false;
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos || dot < 2 || dot + 1 == text.size()) return false;
  for (const char c : text.substr(dot + 1)) {
    if (!is(c, kRegName) && c != ':') return false;
  }
  return all(text.substr(1, dot - 1), kHex);
}

bool is_port(std::string_view text) noexcept {
  unsigned value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return false;
    value = value * 10 + static_cast<unsigned>(c - '0');
    if (value > 65535) return false;
  }
  return true;
}

// Length of the reg-name that `text` starts with, or npos for a bad percent-encoding.
std::size_t reg_name_length(std::string_view text) noexcept {
  std::size_t at = 0;
  while (at < text.size()) {
    if (is(text[at], kRegName)) {
      ++at;
    } else if (text[at] == '%') {
      if (at + 2 >= text.size() || !is(text[at + 1], kHex) || !is(text[at + 2], kHex)) {
        return std::string_view::npos;
      }
      at += 3;
    } else {
      break;
    }
  }
  return at;
}

}  // namespace

bool parse_authority(std::string_view text, Authority& authority) noexcept {
  std::size_t host_end = 0;
  if (!text.empty() && text.front() == '[') {
    const std::size_t bracket = text.find(']');
    if (bracket == std::string_view::npos) return false;
    const std::string_view literal = text.substr(1, bracket - 1);
    if (!is_ipv6(literal) && !is_ip_future(literal)) return false;
    host_end = bracket + 1;
  } else {
    host_end = reg_name_length(text);
    if (host_end == std::string_view::npos) return false;
  }
  authority.host = text.substr(0, host_end);
  authority.has_port = host_end < text.size();
  authority.port = {};
  if (!authority.has_port) return true;
  if (text[host_end] != ':') return false;
  authority.port = text.substr(host_end + 1);
  return is_port(authority.port);
}

}  // namespace mote::syntax
