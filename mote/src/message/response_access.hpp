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
  static std::string_view fields(const Response& response) noexcept { return response.fields_; }
  static std::string& body(Response& response) noexcept { return response.body_; }
  static std::unique_ptr<StreamHandler>& stream(Response& response) noexcept {
    return response.stream_;
  }
  static std::optional<std::uint64_t> stream_length(const Response& response) noexcept {
    return response.stream_length_;
  }
};

}  // namespace mote
