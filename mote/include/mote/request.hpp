#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "mote/fields.hpp"
#include "mote/method.hpp"

namespace mote {

/// A request whose head has been checked in full.
///
/// All views are valid only during the call of the handler that receives the request.
class Request {
 public:
  /// Path parameters that one route may have.
  static constexpr std::size_t kMaxParameters = 8;

  [[nodiscard]] Method method() const noexcept { return method_; }
  /// The method token as received.
  [[nodiscard]] std::string_view method_name() const noexcept { return method_name_; }
  /// The request target as received, in whichever form (RFC 9112 section 3.2).
  [[nodiscard]] std::string_view target() const noexcept { return target_; }
  /// The path after normalisation: unreserved characters decoded, dot segments removed
  /// (RFC 3986 sections 6.2.2.2 and 6.2.2.3); reserved characters stay percent-encoded.
  [[nodiscard]] std::string_view path() const noexcept { return path_; }
  /// The query without its question mark, percent-encoded as received.
  [[nodiscard]] std::string_view query() const noexcept { return query_; }
  /// Authority of the target URI: from an absolute-form target, else from Host (RFC 9112
  /// section 3.3).
  [[nodiscard]] std::string_view authority() const noexcept { return authority_; }
  /// 0 for HTTP/1.0; 1 for HTTP/1.1 and any later HTTP/1.x.
  [[nodiscard]] int minor_version() const noexcept { return minor_version_; }

  [[nodiscard]] const Fields& headers() const noexcept { return headers_; }
  /// Value of the first header field with this name, or nothing.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const noexcept {
    return headers_.get(name);
  }
  /// Fields after a chunked body; never merged into headers() (RFC 9110 section 6.5.1).
  [[nodiscard]] const Fields& trailers() const noexcept { return trailers_; }

  /// The whole content, transfer coding removed. Empty for routes that stream their content.
  [[nodiscard]] std::string_view body() const noexcept { return body_; }

  /// The decoded value of a path parameter, or an empty view if the route has none of that name.
  [[nodiscard]] std::string_view parameter(std::string_view name) const noexcept;

  /// The decoded value of the first query parameter of that name (`a=1&b=2`, `+` is a space), or
  /// nothing. Malformed percent-encoding is kept as it is.
  [[nodiscard]] std::optional<std::string> query_parameter(std::string_view name) const;

 private:
  friend class RequestBuilder;

  struct Parameter {
    std::string_view name;
    std::string value;
  };

  Method method_ = Method::Get;
  std::uint8_t minor_version_ = 1;
  std::string_view method_name_;
  std::string_view target_;
  std::string_view path_;
  std::string_view query_;
  std::string_view authority_;
  Fields headers_;
  Fields trailers_;
  std::string_view body_;
  std::array<Parameter, kMaxParameters> parameters_;
  std::size_t parameter_count_ = 0;
};

}  // namespace mote
