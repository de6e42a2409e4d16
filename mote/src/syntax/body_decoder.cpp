#include "syntax/body_decoder.hpp"

#include <algorithm>

#include "syntax/characters.hpp"
#include "syntax/chunk_line.hpp"

namespace mote::syntax {
namespace {

// Framing other than sizes that one body may carry: extensions are cheap to send and mean nothing.
constexpr std::size_t kMaxChunkLine = 4096;
constexpr std::size_t kMaxExtensions = 16384;
constexpr std::size_t kSizeDigits = 16;

constexpr Fault kBadChunk{400, "The chunked content is not framed as RFC 9112 section 7.1 says."};
constexpr Fault kLongExtensions{400, "The chunk extensions are longer than this server accepts."};
constexpr Fault kLargeTrailers{431, "The trailer section is larger than this server accepts."};

}  // namespace

BodyDecoder::BodyDecoder(Framing framing, std::uint64_t length) noexcept
    : remaining_(framing == Framing::Length ? length : 0),
      state_(framing == Framing::None     ? State::Done
             : framing == Framing::Length ? State::Length
                                          : State::ChunkLine) {}

BodyDecoder::Piece BodyDecoder::next_content(std::string_view input, State after) noexcept {
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, input.size()));
  remaining_ -= size;
  if (remaining_ == 0) state_ = after;
  return {input.substr(0, size), size, done(), kNoFault};
}

Fault BodyDecoder::end_chunk_line(std::string_view line) noexcept {
  if (!parse_chunk_line(line, remaining_)) return kBadChunk;
  extension_bytes_ += line.size() - std::min(line.size(), kSizeDigits);
  if (extension_bytes_ > kMaxExtensions) return kLongExtensions;
  state_ = remaining_ == 0 ? State::Trailers : State::ChunkData;
  return kNoFault;
}

Fault BodyDecoder::end_line(std::string_view line, const Limits& limits) {
  if (state_ == State::ChunkLine) return end_chunk_line(line);
  if (state_ == State::ChunkEnd) {
    state_ = State::ChunkLine;
    return line.empty() ? kNoFault : kBadChunk;
  }
  if (line.empty()) {
    state_ = State::Done;
    return kNoFault;
  }
  const std::size_t before = trailers_.size();
  trailers_.append(line).append("\r\n");
  if (trailers_.size() > limits.header_section || ++trailer_count_ > limits.fields) {
    return kLargeTrailers;
  }
  const char* at = trailers_.data() + before;
  Field field;
  Fault fault;
  const Progress progress = parse_field_line(at, trailers_.data() + trailers_.size(), field, fault);
  return progress == Progress::Complete ? kNoFault : fault;
}

BodyDecoder::Piece BodyDecoder::next_line(std::string_view input, const Limits& limits) {
  const std::size_t feed = input.find('\n');
  const bool whole = feed != std::string_view::npos;
  const std::size_t taken = whole ? feed + 1 : input.size();
  std::string_view line = input.substr(0, taken);
  if (!line_.empty() || !whole) {
    line_.append(line);
    line = line_;
  }
  const std::size_t most = state_ == State::Trailers ? limits.header_section : kMaxChunkLine;
  if (line.size() > most) {
    return {{}, taken, false, state_ == State::Trailers ? kLargeTrailers : kLongExtensions};
  }
  // What can be refused before its line is whole: anything that starts otherwise.
  if (state_ == State::ChunkLine && !is(line.front(), kHex)) return {{}, taken, false, kBadChunk};
  if (state_ == State::ChunkEnd && std::string_view("\r\n").substr(0, line.size()) != line) {
    return {{}, taken, false, kBadChunk};
  }
  if (!whole) return {{}, taken, false, kNoFault};
  if (line.size() < 2 || line[line.size() - 2] != '\r') return {{}, taken, false, kBadChunk};
  const Fault fault = end_line(line.substr(0, line.size() - 2), limits);
  line_.clear();
  return {{}, taken, done(), fault};
}

BodyDecoder::Piece BodyDecoder::next(std::string_view input, const Limits& limits) {
  std::size_t framing = 0;
  while (!done() && framing < input.size()) {
    Piece piece;
    switch (state_) {
      case State::Length:
        piece = next_content(input.substr(framing), State::Done);
        break;
      case State::ChunkData:
        piece = next_content(input.substr(framing), State::ChunkEnd);
        break;
      default:
        piece = next_line(input.substr(framing), limits);
        break;
    }
    framing += piece.consumed;
    piece.consumed = framing;
    if (piece.fault || piece.done || !piece.content.empty()) return piece;
  }
  return {{}, framing, done(), kNoFault};
}

}  // namespace mote::syntax
