#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "mote/request.hpp"
#include "mote/response.hpp"

namespace mote {

struct StreamTarget;

/// Where a StreamHandler writes its response.
class ResponseWriter {
 public:
  /// Sends the response's head. With a length, exactly that many bytes must be written; without
  /// one the content goes out chunked. The content of `head` itself is ignored. Throws
  /// std::logic_error if called twice.
  void begin(const Response& head, std::optional<std::uint64_t> length = std::nullopt);
  /// Adds content. Throws std::logic_error before begin(), after finish(), or past the length.
  void write(std::string_view piece);
  /// Ends the response. Throws std::logic_error before begin() or short of the length.
  void finish();

  [[nodiscard]] bool finished() const noexcept;
  /// Bytes waiting to be sent. The server stops reading the request's content while this is at
  /// the write buffer's limit.
  [[nodiscard]] std::size_t buffered() const noexcept;

 private:
  friend class Protocol;
  explicit ResponseWriter(StreamTarget& target) noexcept : target_(&target) {}

  StreamTarget* target_;
};

/// Receives a request's content as it arrives and writes a response at its own pace.
///
/// One object a request, used by one worker thread only, destroyed when the exchange is over or
/// the connection is lost.
class StreamHandler {
 public:
  StreamHandler() = default;
  virtual ~StreamHandler() = default;
  StreamHandler(const StreamHandler&) = delete;
  StreamHandler& operator=(const StreamHandler&) = delete;

  /// A piece of decoded content, never empty. The view is valid during the call.
  virtual void on_content(std::string_view piece, ResponseWriter& writer);
  /// The content is complete; called once, also where there was none.
  virtual void on_end(ResponseWriter& writer) = 0;
  /// The request's content is complete, what was written has been sent, and the response is not
  /// finished. Must write or finish: a call that does neither ends the connection. Called once of a
  /// response that goes without content (to HEAD; 204, 205, 304): it is finished then.
  virtual void on_writable(ResponseWriter& writer);
};

/// Makes the handler of one request, from its head (Request::body() is empty).
using StreamFactory = std::function<std::unique_ptr<StreamHandler>(const Request&)>;

}  // namespace mote
