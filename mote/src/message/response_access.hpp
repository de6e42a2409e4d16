#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mote/response.hpp"
#include "mote/stream.hpp"

namespace mote {

/// The server's side of a Response.
class ResponseAccess {
 public:
  /// Larger bodies are sent in pieces from where the handler put them.
  static constexpr std::size_t kLargeBody = 65536;

  /// A 200 whose content is at hand and small.
  static bool is_plain(const Response& response) noexcept {
    return response.status_ == 200 && response.stream_ == nullptr &&
           response.content_.size() <= kLargeBody;
  }
  static std::string_view fields(const Response& response) noexcept { return response.fields_; }
  static bool plain_text(const Response& response) noexcept { return response.plain_text_; }
  /// Takes the content out; copies it where the response only borrows it.
  static std::string take_body(Response& response) {
    const bool owned = response.content_.data() == response.body_.data();
    return owned ? std::move(response.body_) : std::string(response.content_);
  }
  static void drop_content(Response& response) noexcept {
    response.content_ = {};
    response.stream_.reset();
    response.stream_length_.reset();
  }
  static std::unique_ptr<StreamHandler>& stream(Response& response) noexcept {
    return response.stream_;
  }
  static std::optional<std::uint64_t> stream_length(const Response& response) noexcept {
    return response.stream_length_;
  }
};

}  // namespace mote
