#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "syntax/head.hpp"

namespace mote::syntax {

/// Takes the content out of its framing, whatever the pieces that the bytes come in
/// (RFC 9112 sections 6.2 and 7.1).
class BodyDecoder {
 public:
  struct Piece {
    std::string_view content;  // may be empty where only framing was consumed
    std::size_t consumed = 0;
    bool done = false;
    Fault fault;
  };

  BodyDecoder() = default;
  BodyDecoder(Framing framing, std::uint64_t length) noexcept;

  /// Decodes from the start of `input` up to the first piece of content, the end of the content, or
  /// the end of the input. With input left over and not done, call it again.
  [[nodiscard]] Piece next(std::string_view input, const Limits& limits);

  [[nodiscard]] bool done() const noexcept { return state_ == State::Done; }
  /// Content that is announced and has not come: the rest of the length, or of the chunk.
  [[nodiscard]] std::uint64_t announced() const noexcept { return remaining_; }
  /// The trailer section as received, without its last empty line.
  [[nodiscard]] std::string_view trailer_section() const noexcept { return trailers_; }

 private:
  enum class State : std::uint8_t { Length, ChunkLine, ChunkData, ChunkEnd, Trailers, Done };

  Piece next_content(std::string_view input, State after) noexcept;
  Piece next_line(std::string_view input, const Limits& limits);
  Fault end_line(std::string_view line, const Limits& limits);
  Fault end_chunk_line(std::string_view line) noexcept;

  std::uint64_t remaining_ = 0;
  std::size_t extension_bytes_ = 0;
  State state_ = State::Done;
  std::string line_;  // a line of framing that has come in part
  std::string trailers_;
  std::size_t trailer_count_ = 0;
};

}  // namespace mote::syntax
