#include "mote/method.hpp"

#include <array>

namespace mote {
namespace {

constexpr std::array<std::string_view, 9> kNames = {
    "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH",
};

}  // namespace

Method method_from_name(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (name == kNames[i]) return static_cast<Method>(i);
  }
  return Method::Extension;
}

std::string_view method_name(Method method) noexcept {
  const auto index = static_cast<std::size_t>(method);
  return index < kNames.size() ? kNames[index] : std::string_view{};
}

}  // namespace mote
