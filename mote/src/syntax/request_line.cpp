#include "syntax/request_line.hpp"

#include <cstring>

#include "syntax/bytes.hpp"
#include "syntax/characters.hpp"

namespace mote::syntax {
namespace {

// Longer than any method that is registered; RFC 9112 section 3 asks for 501 beyond.
constexpr std::size_t kMaxMethod = 64;

constexpr Fault kBadLine{400, "The request line is not \"method target HTTP/1.1\"."};
constexpr Fault kLongMethod{501, "No method of that length is implemented."};
constexpr Fault kLongTarget{414, "The request target is longer than this server accepts."};

// "HTTP/" DIGIT "." DIGIT CRLF
constexpr std::string_view kVersionShape = "HTTP/0.0\r\n";

bool fits_version_shape(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool right = kVersionShape[i] == '0' ? is_digit(text[i]) : text[i] == kVersionShape[i];
    if (!right) return false;
  }
  return true;
}

bool is_visible(char c) noexcept {
  return c > ' ' && c < 0x7F;
}

Progress refuse(Fault why, Fault& fault) noexcept {
  fault = why;
  return Progress::Faulty;
}

Progress parse_method(const char*& at, const char* end, Head& head, Fault& fault) noexcept {
  const char* const start = at;
  at = skip<kToken>(at, end);
  const auto length = static_cast<std::size_t>(at - start);
  if (length > kMaxMethod) return refuse(kLongMethod, fault);
  if (at == end) return Progress::Incomplete;
  if (*at != ' ' || length == 0) return refuse(kBadLine, fault);
  head.method_name = std::string_view(start, length);
  head.method = method_from_name(head.method_name);
  ++at;
  return Progress::Complete;
}

Progress parse_version(const char*& at, const char* end, Head& head, Fault& fault) noexcept {
  const auto available = static_cast<std::size_t>(end - at);
  if (!fits_version_shape({at, std::min(available, kVersionShape.size())})) {
    return refuse(kBadLine, fault);
  }
  if (available < kVersionShape.size()) return Progress::Incomplete;
  if (at[5] != '1') return refuse({505, "This server speaks HTTP/1.0 and HTTP/1.1."}, fault);
  // RFC 9110 section 2.5: a higher minor version is processed as the highest that is known.
  head.minor_version = at[7] == '0' ? 0 : 1;
  at += kVersionShape.size();
  return Progress::Complete;
}

// "GET /path HTTP/1.1" with nothing in the path that needs a closer look. Leaves everything else,
// right or wrong, as it was found.
inline bool take_plain_get(const char*& at, const char* end, const Limits& limits,
                           Head& head) noexcept {
  constexpr std::string_view kMethod = "GET ";
  constexpr std::string_view kVersion = " HTTP/1.1\r\n";
  if (end - at < static_cast<std::ptrdiff_t>(kMethod.size() + kVersion.size()) ||
      std::memcmp(at, kMethod.data(), kMethod.size()) != 0) {
    return false;
  }
  const char* const target = at + kMethod.size();
  const char* const after = skip<kPlainPath>(target, end);
  const auto length = static_cast<std::size_t>(after - target);
  if (*target != '/' || length > limits.target ||
      end - after < static_cast<std::ptrdiff_t>(kVersion.size()) ||
      std::memcmp(after, kVersion.data(), kVersion.size()) != 0) {
    return false;
  }
  head.method = Method::Get;
  head.method_name = std::string_view(at, kMethod.size() - 1);
  head.minor_version = 1;
  head.target_text = std::string_view(target, length);
  head.target = Target{.path = head.target_text};
  at = after + kVersion.size();
  return true;
}

[[gnu::noinline]] Progress parse_other_line(const char*& at, const char* end, const Limits& limits,
                                            Head& head, Fault& fault) noexcept {
  if (Progress progress = parse_method(at, end, head, fault); progress != Progress::Complete) {
    return progress;
  }
  const char* const target = at;
  at = skip<kPlainPath>(at, end);
  const bool plain = at != end && *at == ' ' && at != target && *target == '/';
  while (!plain && at != end && is_visible(*at)) ++at;
  const auto length = static_cast<std::size_t>(at - target);
  if (length > limits.target) return refuse(kLongTarget, fault);
  if (at == end) return Progress::Incomplete;
  if (*at != ' ' || length == 0) return refuse(kBadLine, fault);
  head.target_text = std::string_view(target, length);
  ++at;
  if (Progress progress = parse_version(at, end, head, fault); progress != Progress::Complete) {
    return progress;
  }
  if (plain && head.method != Method::Connect) {
    head.target = Target{.path = head.target_text};
    return Progress::Complete;
  }
  fault = parse_target(head.method, head.target_text, head.target);
  return fault ? Progress::Faulty : Progress::Complete;
}

}  // namespace

[[gnu::flatten]] Progress parse_request_line(const char*& at, const char* end, const Limits& limits,
                                             Head& head, Fault& fault) noexcept {
  if (take_plain_get(at, end, limits, head)) [[likely]]
    return Progress::Complete;
  return parse_other_line(at, end, limits, head, fault);
}

}  // namespace mote::syntax
