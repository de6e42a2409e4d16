#pragma once

#include <cstdint>

#include "message/date_line.hpp"
#include "message/output.hpp"
#include "message/serialise.hpp"
#include "mote/stream.hpp"

namespace mote {

/// What has to be remembered of a streamed response between two calls of its handler.
struct StreamedResponse {
  bool began = false;
  bool finished = false;
  bool without_content = false;  // HEAD, or a status that forbids content
  bool head_request = false;
  std::uint8_t minor_version = 1;
  Delimiting delimiting = Delimiting::Length;
  Persistence persistence = Persistence::Implied;
  std::uint64_t remaining = 0;  // of the announced length
  std::uint64_t written = 0;
};

/// Where the bytes of a streamed response go.
struct StreamTarget {
  Output& output;
  const DateLine& date;
  StreamedResponse& state;
};

}  // namespace mote
