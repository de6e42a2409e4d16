#pragma once

#include <string>
#include <string_view>

#include "mote/request.hpp"
#include "syntax/head.hpp"

namespace mote {

/// Fills the one Request that a worker reuses.
class RequestBuilder {
 public:
  /// Takes over a checked head; path parameters and body are cleared.
  const Request& assign(const syntax::Head& head);
  void set_body(std::string_view body) noexcept { request_.body_ = body; }
  void set_trailers(Fields trailers) noexcept { request_.trailers_ = trailers; }

  void clear_parameters() noexcept { request_.parameter_count_ = 0; }
  /// Adds a path parameter, decoding its value; false if there are too many.
  bool add_parameter(std::string_view name, std::string_view encoded);
  void drop_parameters(std::size_t keep) noexcept { request_.parameter_count_ = keep; }
  [[nodiscard]] std::size_t parameter_count() const noexcept { return request_.parameter_count_; }

  [[nodiscard]] const Request& request() const noexcept { return request_; }

 private:
  Request request_;
  std::string normalised_path_;
};

}  // namespace mote
