// The body decoder: the same content and the same end, however the input is cut.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "syntax/body_decoder.hpp"

namespace {

struct Decoded {
  std::string content;
  std::size_t consumed = 0;
  bool done = false;
  int status = 0;
};

Decoded decode(std::string_view input, std::size_t step) {
  Decoded result;
  mote::syntax::BodyDecoder decoder(mote::syntax::Framing::Chunked, 0);
  while (result.consumed < input.size() && !result.done && result.status == 0) {
    const auto piece = decoder.next(input.substr(result.consumed, step), mote::Limits{});
    result.content += piece.content;
    result.consumed += piece.consumed;
    result.done = piece.done;
    result.status = piece.fault.status;
  }
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const Decoded whole = decode(input, size + 1);
  const Decoded bytes = decode(input, 1);
  const bool same_end = whole.done == bytes.done && (whole.status != 0) == (bytes.status != 0);
  if (!same_end) std::abort();
  if (whole.status == 0 && whole.content != bytes.content) std::abort();
  return 0;
}
