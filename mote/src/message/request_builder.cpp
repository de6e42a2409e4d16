#include "message/request_builder.hpp"

namespace mote {

const Request& RequestBuilder::assign(const syntax::Head& head) {
  request_.method_ = head.method;
  request_.minor_version_ = head.minor_version;
  request_.method_name_ = head.method_name;
  request_.target_ = head.target_text;
  request_.query_ = head.target.query;
  request_.headers_ = Fields(head.lines());
  request_.trailers_ = Fields();
  request_.body_ = {};
  request_.parameter_count_ = 0;
  if (head.target.needs_normalisation) [[unlikely]] {
    syntax::normalise_path(head.target.path, normalised_path_);
    request_.path_ = normalised_path_;
  } else {
    request_.path_ = head.target.path;
  }
  const bool absolute = !head.target.authority.empty();
  request_.authority_ = absolute        ? head.target.authority
                        : head.has_host ? head.host
                                        : std::string_view{};
  return request_;
}

bool RequestBuilder::add_parameter(std::string_view name, std::string_view encoded) {
  if (request_.parameter_count_ == Request::kMaxParameters) return false;
  Request::Parameter& parameter = request_.parameters_[request_.parameter_count_++];
  parameter.name = name;
  syntax::percent_decode(encoded, false, parameter.value);
  return true;
}

}  // namespace mote
