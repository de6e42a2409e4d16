// The head parser: no fault of memory, and no answer that depends on what follows the head.

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "syntax/head.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using mote::syntax::Progress;
  static const auto head = std::make_unique<mote::syntax::Head>();
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const mote::Limits limits;
  if (parse_head(input, limits, *head) != Progress::Complete) return 0;
  const std::size_t end = head->size;
  if (end > size || head->target_text.empty()) std::abort();
  if (parse_head(input.substr(0, end), limits, *head) != Progress::Complete) std::abort();
  if (parse_head(input.substr(0, end - 1), limits, *head) != Progress::Incomplete) std::abort();
  return 0;
}
