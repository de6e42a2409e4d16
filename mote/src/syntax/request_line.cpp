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
  if (end - at >= 4 && std::memcmp(at, "GET ", 4) == 0) [[likely]] {
    head.method = Method::Get;
    head.method_name = std::string_view(start, 3);
    at += 4;
    return Progress::Complete;
  }
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
  if (available >= kVersionShape.size() && std::memcmp(at, "HTTP/1.1\r\n", 10) == 0) {
    head.minor_version = 1;
    at += kVersionShape.size();
    return Progress::Complete;
  }
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

}  // namespace

Progress parse_request_line(const char*& at, const char* end, const Limits& limits, Head& head,
                            Fault& fault) noexcept {
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
  if (plain && head.method != Method::Connect) [[likely]] {
    head.target = Target{.path = head.target_text};
    return Progress::Complete;
  }
  fault = parse_target(head.method, head.target_text, head.target);
  return fault ? Progress::Faulty : Progress::Complete;
}

}  // namespace mote::syntax
