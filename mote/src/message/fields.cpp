#include "mote/fields.hpp"

#include "syntax/characters.hpp"

namespace mote {

bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (syntax::lower(a[i]) != syntax::lower(b[i])) return false;
  }
  return true;
}

std::optional<std::string_view> Fields::get(std::string_view name) const noexcept {
  for (const Field& line : lines_) {
    if (equal_ignoring_case(line.name, name)) return line.value;
  }
  return std::nullopt;
}

}  // namespace mote
