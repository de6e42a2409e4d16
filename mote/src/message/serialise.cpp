#include "message/serialise.hpp"

#include <charconv>
#include <cstring>

#include "mote/status.hpp"

namespace mote {
namespace {

// Status line without its reason, Date, the longest framing and Connection lines, and the end.
constexpr std::size_t kFixedPart = 256;

char* put(char* to, std::string_view text) noexcept {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

char* put_number(char* to, std::uint64_t value, int base) noexcept {
  if (value < 10) {
    *to = static_cast<char>('0' + value);
    return to + 1;
  }
  return std::to_chars(to, to + 20, value, base).ptr;
}

// Most lengths have two or three digits.
char* put_length(char* to, std::uint64_t length) noexcept {
  if (length - 10 >= 90) return put_number(to, length, 10);
  const auto tens = static_cast<unsigned>(length) / 10;
  to[0] = static_cast<char>('0' + tens);
  to[1] = static_cast<char>('0' + static_cast<unsigned>(length) - tens * 10);
  return to + 2;
}

// Short content is copied in place: a call of memcpy costs more than the copy. The two blocks of a
// step overlap where the size is not a power of two.
char* put_content(char* to, std::string_view content) noexcept {
  const std::size_t size = content.size();
  if (size >= 8 && size <= 16) {
    std::memcpy(to, content.data(), 8);
    std::memcpy(to + size - 8, content.data() + size - 8, 8);
    return to + size;
  }
  return put(to, content);
}

char* put_start(char* to, const DateLine& date, int status) noexcept {
  if (status == 200) [[likely]]
    return put(to, date.after_ok());
  to = put(to, "HTTP/1.1 ");
  to = put_number(to, static_cast<std::uint64_t>(status), 10);
  to = put(to, " ");
  to = put(to, reason_phrase(status));
  to = put(to, "\r\n");
  return put(to, date.line());
}

}  // namespace

void write_head(Output& output, const DateLine& date, const ResponseHead& head,
                std::string_view content) {
  char* const start = output.reserve(kFixedPart + head.fields.size() + content.size());
  char* to = put_start(start, date, head.status);
  if (head.plain_text) to = put(to, "Content-Type: text/plain\r\n");
  if (!head.fields.empty()) to = put(to, head.fields);
  if (head.delimiting == Delimiting::Length) [[likely]] {
    to = put(to, "Content-Length: ");
    to = put_length(to, head.length);
    to = put(to, "\r\n");
  } else if (head.delimiting == Delimiting::Chunked) {
    to = put(to, "Transfer-Encoding: chunked\r\n");
  }
  if (head.persistence == Persistence::Close) {
    to = put(to, "Connection: close\r\n");
  } else if (head.persistence == Persistence::KeepAlive) {
    to = put(to, "Connection: keep-alive\r\n");
  }
  to = put(to, "\r\n");
  if (!content.empty()) to = put_content(to, content);
  output.commit(static_cast<std::size_t>(to - start));
}

void write_chunk(Output& output, std::string_view content) {
  char* const start = output.reserve(content.size() + 24);
  char* to = put_number(start, content.size(), 16);
  to = put(to, "\r\n");
  to = put(to, content);
  to = put(to, "\r\n");
  output.commit(static_cast<std::size_t>(to - start));
}

}  // namespace mote
