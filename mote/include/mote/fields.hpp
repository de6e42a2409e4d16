#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace mote {

/// One field line of a message: name as received, value without surrounding whitespace.
struct Field {
  std::string_view name;
  std::string_view value;
};

/// Compares field names and other case-insensitive ASCII tokens (RFC 9110 section 5.1).
[[nodiscard]] bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept;

/// The field lines of one header or trailer section, in the order received.
///
/// A view: valid for as long as the request that it came from.
class Fields {
 public:
  Fields() = default;
  explicit Fields(std::span<const Field> lines) noexcept : lines_(lines) {}

  /// The value of the first line with this name, or nothing.
  [[nodiscard]] std::optional<std::string_view> get(std::string_view name) const noexcept;

  [[nodiscard]] auto begin() const noexcept { return lines_.begin(); }
  [[nodiscard]] auto end() const noexcept { return lines_.end(); }
  [[nodiscard]] std::size_t size() const noexcept { return lines_.size(); }
  [[nodiscard]] bool empty() const noexcept { return lines_.empty(); }

 private:
  std::span<const Field> lines_;
};

}  // namespace mote
