#pragma once

#include <string>
#include <string_view>

#include "mote/method.hpp"
#include "syntax/fault.hpp"

namespace mote::syntax {

/// The four forms of a request target (RFC 9112 section 3.2).
enum class TargetForm : unsigned char { Origin, Absolute, Authority, Asterisk };

struct Target {
  TargetForm form = TargetForm::Origin;
  /// Some byte of the path may change under normalisation.
  bool needs_normalisation = false;
  std::string_view path{};
  std::string_view query{};
  std::string_view authority{};  // of absolute-form and authority-form
};

/// Splits and checks a request target that has no space and no control character in it.
[[nodiscard]] Fault parse_target(Method method, std::string_view text, Target& target) noexcept;

/// Normalises a path that parse_target accepted: decodes unreserved characters, writes the other
/// percent-encodings in upper case and removes dot segments (RFC 3986 section 6.2.2).
void normalise_path(std::string_view path, std::string& out);

/// Decodes percent-encodings; those that are malformed stay as they are.
void percent_decode(std::string_view text, bool plus_is_space, std::string& out);

}  // namespace mote::syntax
