#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "mote/fields.hpp"
#include "mote/method.hpp"
#include "mote/options.hpp"
#include "syntax/field_section.hpp"
#include "syntax/target.hpp"

namespace mote::syntax {

/// How the content of a request is delimited (RFC 9112 section 6.3).
enum class Framing : std::uint8_t { None, Length, Chunked };

/// What the fields of a head say about its message and its connection.
struct HeadMeaning {
  Method method = Method::Get;
  std::uint8_t minor_version = 1;
  Framing framing = Framing::None;
  bool has_host = false;
  bool wants_close = false;       // Connection: close
  bool wants_keep_alive = false;  // Connection: keep-alive
  bool expects_continue = false;  // Expect: 100-continue, from an HTTP/1.1 client
  bool expects_unknown = false;   // any other expectation
  bool has_transfer_encoding = false;
  bool has_content_length = false;
  std::uint64_t content_length = 0;
  std::size_t field_count = 0;
};

/// The header section that was found right last, byte for byte, and what it means.
///
/// A client sends the same fields with each request of a connection, and clients of one kind send
/// the same fields: comparing them with the last section costs much less than parsing them. The
/// meaning is a function of these bytes and the version alone, so equal bytes cannot mean
/// anything else.
struct SectionMemo {
  static constexpr std::size_t kMostBytes = 1024;

  std::size_t size = 0;  // 0: nothing is remembered
  HeadMeaning meaning;   // but for the method
  std::string_view host;
  std::array<char, kMostBytes> bytes;
};

/// A parsed request head. The views of its request line point into the input that was parsed, those
/// of its fields there or into `memo`: all are valid until the next parse or the input's end.
struct Head : HeadMeaning {
  static constexpr std::size_t kMaxFields = 128;

  std::size_t size = 0;  // bytes of the head, where it is complete
  Fault fault;           // where it is faulty
  std::string_view method_name;
  std::string_view target_text;
  Target target;
  std::string_view host;
  std::array<Field, kMaxFields> fields;
  SectionMemo memo;

  [[nodiscard]] std::span<const Field> lines() const noexcept {
    return {fields.data(), field_count};
  }
  /// Whether the client lets the connection persist (RFC 9112 section 9.3).
  [[nodiscard]] bool persistent() const noexcept {
    return !wants_close && (minor_version >= 1 || wants_keep_alive);
  }
};

/// Parses and checks a request head at the start of `input`: request line, fields, Host, framing,
/// Connection and Expect. Keeps no state: call it again with more input while it is incomplete.
///
/// A faulty head still has `method` set if the method was read, so that the answer to HEAD can go
/// without content. A Head that is used again must be given the same limits.
[[nodiscard]] Progress parse_head(std::string_view input, const Limits& limits,
                                  Head& head) noexcept;

}  // namespace mote::syntax
