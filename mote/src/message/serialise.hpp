#pragma once

#include <cstdint>
#include <string_view>

#include "message/date_line.hpp"
#include "message/output.hpp"

namespace mote {

/// How the end of a response's content is told (RFC 9112 section 6).
enum class Delimiting : std::uint8_t {
  None,     // the status forbids content: neither field is sent
  Length,   // Content-Length
  Chunked,  // Transfer-Encoding: chunked
  Close,    // the connection's end
};

/// What the Connection field says.
enum class Persistence : std::uint8_t {
  Implied,    // nothing: HTTP/1.1 persists
  KeepAlive,  // to an HTTP/1.0 client that asked
  Close,
};

struct ResponseHead {
  int status = 200;
  std::string_view fields;  // serialised lines
  bool plain_text = false;  // adds Content-Type: text/plain
  Delimiting delimiting = Delimiting::Length;
  std::uint64_t length = 0;
  Persistence persistence = Persistence::Implied;
};

/// Writes status line, Date, fields, framing, Connection and the empty line, and `content` after
/// them.
void write_head(Output& output, const DateLine& date, const ResponseHead& head,
                std::string_view content = {});

/// Writes one chunk (RFC 9112 section 7.1); `content` must not be empty.
void write_chunk(Output& output, std::string_view content);

}  // namespace mote
