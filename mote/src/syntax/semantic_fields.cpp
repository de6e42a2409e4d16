#include "syntax/semantic_fields.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "syntax/characters.hpp"
#include "syntax/host.hpp"
#include "syntax/list.hpp"

namespace mote::syntax {
namespace {

// Compares a token of the right length with a name of lower-case letters and hyphens. In a token
// only the two cases of a letter, and only the hyphen itself, turn into these when bit 5 is set.
template <std::size_t Size>
bool is_name(std::string_view token, const char (&name)[Size]) noexcept {
  unsigned different = 0;
  for (std::size_t i = 0; i + 1 < Size; ++i) {
    different |=
        (static_cast<unsigned char>(token[i]) | 0x20U) ^ static_cast<unsigned char>(name[i]);
  }
  return different == 0;
}

Fault note_host(std::string_view value, Head& head) noexcept {
  if (head.has_host) return {400, "The request has more than one Host field."};
  Authority authority;
  if (!parse_authority(value, authority)) return {400, "The Host field is not a host and port."};
  // RFC 9110 section 4.2.1: an http URI with an empty host is invalid. Host alone may be empty.
  if (authority.host.empty() && authority.has_port) {
    return {400, "The Host field has a port and no host."};
  }
  head.has_host = true;
  head.host = value;
  return kNoFault;
}

// RFC 9110 section 8.6 lets a server refuse repeated lengths even where they agree; that leaves no
// room for two readings of one message.
Fault note_content_length(std::string_view value, Head& head) noexcept {
  if (head.has_content_length) return {400, "The request has more than one Content-Length."};
  if (value.empty()) return {400, "Content-Length is empty."};
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t length = 0;
  bool countable = true;
  for (const char c : value) {
    if (!is_digit(c)) return {400, "Content-Length is not a decimal number."};
    const auto digit = static_cast<std::uint64_t>(c - '0');
    countable = countable && length <= (kMost - digit) / 10;
    if (countable) length = length * 10 + digit;
  }
  // Later requests could not be separated from this request's content.
  if (!countable) return {413, "Content-Length is larger than this server can count."};
  head.has_content_length = true;
  head.content_length = length;
  return kNoFault;
}

void note_connection(std::string_view value, Head& head) noexcept {
  for_each_element(value, [&head](std::string_view option) {
    head.wants_close |= equal_ignoring_case(option, "close");
    head.wants_keep_alive |= equal_ignoring_case(option, "keep-alive");
  });
}

void note_expect(std::string_view value, Head& head) noexcept {
  for_each_element(value, [&head](std::string_view expectation) {
    const bool known = equal_ignoring_case(expectation, "100-continue");
    head.expects_continue |= known;
    head.expects_unknown |= !known;
  });
}

Fault decide_transfer_encoding(Head& head) noexcept {
  // RFC 9112 section 6.1: with HTTP/1.0 the framing is faulty, and so it is beside a length.
  if (head.minor_version == 0) return {400, "HTTP/1.0 has no Transfer-Encoding."};
  if (head.has_content_length) {
    return {400, "The request has both Transfer-Encoding and Content-Length."};
  }
  bool chunked_last = false;
  bool chunked_before = false;
  bool unknown = false;
  for (const Field& field : head.lines()) {
    if (!equal_ignoring_case(field.name, "transfer-encoding")) continue;
    for_each_element(field.value, [&](std::string_view coding) {
      chunked_before |= chunked_last;
      chunked_last = equal_ignoring_case(coding, "chunked");
      unknown |= !chunked_last;
    });
  }
  if (!chunked_last || chunked_before) {
    return {400, "Transfer-Encoding does not end in one chunked coding."};
  }
  if (unknown) return {501, "The only transfer coding implemented is chunked."};
  head.framing = Framing::Chunked;
  return kNoFault;
}

}  // namespace

Fault note_field(const Field& field, Head& head) noexcept {
  switch (field.name.size()) {
    case 4:
      if (is_name(field.name, "host")) return note_host(field.value, head);
      break;
    case 6:
      if (is_name(field.name, "expect")) note_expect(field.value, head);
      break;
    case 10:
      if (is_name(field.name, "connection")) note_connection(field.value, head);
      break;
    case 14:
      if (is_name(field.name, "content-length")) return note_content_length(field.value, head);
      break;
    case 17:
      head.has_transfer_encoding |= is_name(field.name, "transfer-encoding");
      break;
    default:
      break;
  }
  return kNoFault;
}

Fault check_semantics(Head& head) noexcept {
  if (!head.has_host && head.minor_version >= 1) {
    return {400, "An HTTP/1.1 request needs a Host field."};
  }
  if (head.minor_version == 0) {
    // RFC 9110 section 10.1.1: an HTTP/1.0 client's expectation is ignored.
    head.expects_continue = false;
    head.expects_unknown = false;
  }
  if (head.has_transfer_encoding) return decide_transfer_encoding(head);
  if (head.content_length != 0) head.framing = Framing::Length;
  return kNoFault;
}

}  // namespace mote::syntax
