#include "syntax/head.hpp"

#include <cstring>

#include "syntax/characters.hpp"
#include "syntax/request_line.hpp"
#include "syntax/semantic_fields.hpp"

namespace mote::syntax {
namespace {

constexpr Fault kBareReturn{400, "A carriage return is not followed by a line feed."};
constexpr Fault kTooLarge{431, "The header section is larger than this server accepts."};
constexpr Fault kTooMany{431, "The header section has more fields than this server accepts."};

Progress refuse(Fault fault, Head& head) noexcept {
  head.fault = fault;
  return Progress::Faulty;
}

}  // namespace

[[gnu::flatten]] Progress parse_head(std::string_view input, const Limits& limits,
                                     Head& head) noexcept {
  static_cast<HeadMeaning&>(head) = {};
  const char* at = input.data();
  const char* const end = at + input.size();
  const Progress line = parse_request_line(at, end, limits, head, head.fault);
  if (line != Progress::Complete) return line;

  const char* const section = at;
  const std::size_t most = limits.fields < Head::kMaxFields ? limits.fields : Head::kMaxFields;
  for (;;) {
    if (at == end) break;
    if (*at == '\r') {
      if (at + 1 == end) break;
      if (at[1] != '\n') return refuse(kBareReturn, head);
      at += 2;
      if (static_cast<std::size_t>(at - section) > limits.header_section)
        return refuse(kTooLarge, head);
      const Fault fault = check_semantics(head);
      if (fault) return refuse(fault, head);
      head.size = static_cast<std::size_t>(at - input.data());
      return Progress::Complete;
    }
    if (head.field_count == most) return refuse(kTooMany, head);
    Field& field = head.fields[head.field_count];
    const Progress progress = parse_field_line(at, end, field, head.fault);
    if (progress == Progress::Faulty) return progress;
    if (progress == Progress::Incomplete) break;
    ++head.field_count;
    const Fault fault = note_field(field, head);
    if (fault) [[unlikely]]
      return refuse(fault, head);
  }
  if (static_cast<std::size_t>(end - section) > limits.header_section)
    return refuse(kTooLarge, head);
  return Progress::Incomplete;
}

}  // namespace mote::syntax
