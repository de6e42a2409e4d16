// The head parser: no fault of memory, and no answer that depends on what follows the head or on
// the head that was parsed before.

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "syntax/head.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using mote::syntax::Progress;
  static const auto head = std::make_unique<mote::syntax::Head>();
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const mote::Limits limits;
  const auto fresh = std::make_unique<mote::syntax::Head>();
  const Progress progress = parse_head(input, limits, *head);
  if (progress != parse_head(input, limits, *fresh)) std::abort();
  if (progress == Progress::Faulty && head->fault.reason != fresh->fault.reason) std::abort();
  if (progress != Progress::Complete) return 0;
  if (head->size != fresh->size || head->framing != fresh->framing ||
      head->content_length != fresh->content_length || head->field_count != fresh->field_count ||
      head->persistent() != fresh->persistent() ||
      head->expects_continue != fresh->expects_continue) {
    std::abort();
  }
  for (std::size_t i = 0; i < head->field_count; ++i) {
    const auto& [name, value] = head->fields[i];
    if (name != fresh->fields[i].name || value != fresh->fields[i].value) std::abort();
  }
  const std::size_t end = head->size;
  if (end > size || head->target_text.empty()) std::abort();
  if (parse_head(input.substr(0, end), limits, *head) != Progress::Complete) std::abort();
  if (parse_head(input.substr(0, end - 1), limits, *head) != Progress::Incomplete) std::abort();
  return 0;
}
