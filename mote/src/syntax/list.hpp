#pragma once

#include <string_view>

#include "syntax/characters.hpp"

namespace mote::syntax {

/// Calls `visit` with each element of a comma-separated list that holds no quoted strings; empty
/// elements are skipped (RFC 9110 section 5.6.1.2).
template <typename Visitor>
constexpr void for_each_element(std::string_view list, Visitor visit) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view element = trim(list.substr(0, comma));
    if (!element.empty()) visit(element);
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace mote::syntax
