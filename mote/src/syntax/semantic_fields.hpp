#pragma once

#include "syntax/head.hpp"

namespace mote::syntax {

/// Notes what one field line says about host, framing, connection and expectation.
[[nodiscard]] Fault note_field(const Field& field, Head& head) noexcept;

/// Checks that host and framing of a whole head are there and agree, and decides the framing.
[[nodiscard]] Fault check_semantics(Head& head) noexcept;

}  // namespace mote::syntax
