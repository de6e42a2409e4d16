#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mote {

class StreamHandler;

/// The response that a handler fills in. Starts as 200 with no fields and no content.
///
/// The server adds Date, Content-Length or Transfer-Encoding, and Connection; a handler that sets
/// one of them gets std::invalid_argument.
class Response {
 public:
  /// Appends the next piece of content to `piece`; returns false when nothing follows. A call that
  /// returns true must have appended something.
  using Producer = std::function<bool(std::string& piece)>;

  Response();
  ~Response();
  Response(const Response&) = delete;
  Response& operator=(const Response&) = delete;

  /// Sets the status; throws std::invalid_argument outside 200..599.
  Response& status(int code);
  /// Adds a field line; throws std::invalid_argument if the name is not a token, the value holds a
  /// control character, or the server owns the field.
  Response& header(std::string_view name, std::string_view value);
  /// Sets the content; `header("Content-Type", ...)` is the caller's.
  Response& body(std::string_view content);
  Response& body(std::string&& content);
  Response& body(const char* content) { return body(std::string_view(content)); }
  /// Sets the content, and its type to text/plain unless header() has set another.
  Response& text(std::string_view content);
  /// The same for content that outlives the response, such as a literal: it is not copied.
  Response& static_text(std::string_view content) noexcept;
  /// Sets content that is produced while it is sent, as fast as the client reads it. Without a
  /// length it goes out chunked (to HTTP/1.0 clients: until the connection closes).
  Response& stream(Producer producer, std::optional<std::uint64_t> length = std::nullopt);

  [[nodiscard]] int status() const noexcept { return status_; }
  [[nodiscard]] std::string_view body() const noexcept { return content_; }

  /// Back to 200, no fields, no content; keeps its memory unless that is large.
  void reset() noexcept {
    status_ = 200;
    plain_text_ = false;
    content_ = {};
    if (used_) [[unlikely]]
      release();
  }

 private:
  friend class ResponseAccess;

  void release() noexcept;

  int status_ = 200;
  bool used_ = false;        // something below but content_ may be set
  bool typed_ = false;       // fields_ has a Content-Type
  bool plain_text_ = false;  // Content-Type: text/plain, the commonest, without a copy of its line
  std::string fields_;       // serialised field lines, each with its CRLF
  std::string body_;
  std::string_view content_;  // body_, or what static_text() was given
  std::unique_ptr<StreamHandler> stream_;
  std::optional<std::uint64_t> stream_length_;
};

}  // namespace mote
