#include "syntax/target.hpp"

#include "mote/fields.hpp"
#include "syntax/characters.hpp"
#include "syntax/host.hpp"

namespace mote::syntax {
namespace {

constexpr Fault kBadTarget{400, "The request target is not a valid URI reference."};

// path and query of an origin-form or absolute-form target, from the path on
Fault parse_path_and_query(std::string_view text, Target& target) noexcept {
  const char* at = text.data();
  const char* const end = at + text.size();
  const char* const start = at;
  bool unusual = false;
  char before = 0;
  for (; at != end; ++at) {
    const char c = *at;
    if (!is(c, kPath)) {
      if (c == '?') break;
      if (c != '%' || end - at < 3 || !is(at[1], kHex) || !is(at[2], kHex)) return kBadTarget;
      unusual = true;
      at += 2;
    }
    unusual |= c == '.' && before == '/';
    before = c;
  }
  target.path = std::string_view(start, static_cast<std::size_t>(at - start));
  target.needs_normalisation = unusual;
  if (at == end) {
    target.query = {};
    return kNoFault;
  }
  const char* const query = ++at;
  for (; at != end; ++at) {
    if (is(*at, kQuery)) continue;
    if (*at != '%' || end - at < 3 || !is(at[1], kHex) || !is(at[2], kHex)) return kBadTarget;
    at += 2;
  }
  target.query = std::string_view(query, static_cast<std::size_t>(end - query));
  return kNoFault;
}

Fault parse_absolute(Method method, std::string_view text, Target& target) noexcept {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return kBadTarget;
  const std::string_view scheme = text.substr(0, colon);
  if (equal_ignoring_case(scheme, "https")) {
    // RFC 9110 section 7.4: an https resource must not be served over an unsecured connection.
    return {421, "This connection is not secured, so it does not serve https resources."};
  }
  if (!equal_ignoring_case(scheme, "http") || text.substr(colon + 1, 2) != "//") return kBadTarget;
  std::string_view rest = text.substr(colon + 3);
  const std::size_t authority_end = std::min(rest.find_first_of("/?#"), rest.size());
  target.form = TargetForm::Absolute;
  target.authority = rest.substr(0, authority_end);
  rest.remove_prefix(authority_end);
  Authority authority;
  // RFC 9110 sections 4.2.1 and 4.2.4: an empty host and userinfo are refused.
  if (!parse_authority(target.authority, authority) || authority.host.empty()) return kBadTarget;
  if (rest.empty() && method == Method::Options) {
    // RFC 9112 section 3.2.4: the last proxy would have sent "*".
    target.form = TargetForm::Asterisk;
    target.path = "*";
    return kNoFault;
  }
  const Fault fault = parse_path_and_query(rest, target);
  if (!fault && target.path.empty()) target.path = "/";
  return fault;
}

// CONNECT needs a host and a port that is not empty (RFC 9110 section 9.3.6).
Fault parse_authority_form(std::string_view text, Target& target) noexcept {
  Authority authority;
  if (!parse_authority(text, authority) || authority.host.empty() || authority.port.empty()) {
    return {400, "CONNECT needs a target of the form host:port."};
  }
  target.form = TargetForm::Authority;
  target.authority = text;
  return kNoFault;
}

void remove_last_segment(std::string& path) {
  const std::size_t slash = path.rfind('/');
  path.resize(slash == std::string::npos ? 0 : slash);
}

// RFC 3986 section 5.2.4, on a path that starts with a slash
void remove_dot_segments(std::string& path) {
  std::string out;
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::size_t next = std::min(rest.find('/', 1), rest.size());
    const std::string_view segment = rest.substr(0, next);
    const bool last = next == rest.size();
    if (segment == "/.") {
      if (last) out += '/';
    } else if (segment == "/..") {
      remove_last_segment(out);
      if (last) out += '/';
    } else {
      out += segment;
    }
    rest.remove_prefix(next);
  }
  path = std::move(out);
}

}  // namespace

Fault parse_target(Method method, std::string_view text, Target& target) noexcept {
  target.form = TargetForm::Origin;
  target.authority = {};
  target.path = {};
  target.query = {};
  target.needs_normalisation = false;
  if (method == Method::Connect) return parse_authority_form(text, target);
  if (text.front() == '/') return parse_path_and_query(text, target);
  if (text == "*") {
    if (method != Method::Options) return {400, "Only OPTIONS may have \"*\" as its target."};
    target.form = TargetForm::Asterisk;
    target.path = text;
    return kNoFault;
  }
  return parse_absolute(method, text, target);
}

void normalise_path(std::string_view path, std::string& out) {
  constexpr std::string_view kUpperHex = "0123456789ABCDEF";
  out.clear();
  for (std::size_t at = 0; at < path.size(); ++at) {
    if (path[at] != '%') {
      out += path[at];
      continue;
    }
    const unsigned high = hex_value(path[at + 1]);
    const unsigned low = hex_value(path[at + 2]);
    at += 2;
    const char decoded = static_cast<char>(high * 16 + low);
    if (is(decoded, kUnreserved)) {
      out += decoded;
    } else {
      out += {'%', kUpperHex[high], kUpperHex[low]};
    }
  }
  remove_dot_segments(out);
}

void percent_decode(std::string_view text, bool plus_is_space, std::string& out) {
  out.clear();
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '%' && at + 2 < text.size() && is(text[at + 1], kHex) && is(text[at + 2], kHex)) {
      out += static_cast<char>(hex_value(text[at + 1]) * 16 + hex_value(text[at + 2]));
      at += 2;
    } else {
      out += (c == '+' && plus_is_space) ? ' ' : c;
    }
  }
}

}  // namespace mote::syntax
