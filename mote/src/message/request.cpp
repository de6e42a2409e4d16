#include "mote/request.hpp"

#include "syntax/target.hpp"

namespace mote {

std::string_view Request::parameter(std::string_view name) const noexcept {
  for (std::size_t i = 0; i < parameter_count_; ++i) {
    if (parameters_[i].name == name) return parameters_[i].value;
  }
  return {};
}

std::optional<std::string> Request::query_parameter(std::string_view name) const {
  std::string decoded;
  std::string_view rest = query_;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    syntax::percent_decode(pair.substr(0, equals), true, decoded);
    if (decoded != name) continue;
    std::string value;
    syntax::percent_decode(pair.substr(std::min(equals + 1, pair.size())), true, value);
    return value;
  }
  return std::nullopt;
}

}  // namespace mote
