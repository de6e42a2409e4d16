#include "syntax/head.hpp"

#include <cstring>

#include "syntax/characters.hpp"
#include "syntax/request_line.hpp"
#include "syntax/semantic_fields.hpp"

namespace mote::syntax {
namespace {

constexpr Fault kTooLarge{431, "The header section is larger than this server accepts."};
constexpr Fault kTooMany{431, "The header section has more fields than this server accepts."};

HeadResult faulty(Fault fault) noexcept { return {Progress::Faulty, 0, fault}; }

void reset(Head& head) noexcept {
  head.method = Method::Get;
  head.framing = Framing::None;
  head.has_host = false;
  head.wants_close = false;
  head.wants_keep_alive = false;
  head.expects_continue = false;
  head.expects_unknown = false;
  head.has_transfer_encoding = false;
  head.has_content_length = false;
  head.content_length = 0;
  head.field_count = 0;
}

}  // namespace

HeadResult parse_head(std::string_view input, const Limits& limits, Head& head) noexcept {
  reset(head);
  const char* at = input.data();
  const char* const end = at + input.size();
  Fault fault;
  const Progress line = parse_request_line(at, end, limits, head, fault);
  if (line == Progress::Faulty) return faulty(fault);
  if (line == Progress::Incomplete) return {};

  const char* const section = at;
  const std::size_t most = limits.fields < Head::kMaxFields ? limits.fields : Head::kMaxFields;
  for (;;) {
    if (at == end) break;
    if (*at == '\r') {
      if (at + 1 == end) break;
      if (at[1] != '\n') return faulty({400, "A carriage return is not followed by a line feed."});
      at += 2;
      if (static_cast<std::size_t>(at - section) > limits.header_section) return faulty(kTooLarge);
      fault = check_semantics(head);
      if (fault) return faulty(fault);
      return {Progress::Complete, static_cast<std::size_t>(at - input.data()), kNoFault};
    }
    if (head.field_count == most) return faulty(kTooMany);
    Field& field = head.fields[head.field_count];
    const Progress progress = parse_field_line(at, end, field, fault);
    if (progress == Progress::Faulty) return faulty(fault);
    if (progress == Progress::Incomplete) break;
    ++head.field_count;
    fault = note_field(field, head);
    if (fault) return faulty(fault);
  }
  if (static_cast<std::size_t>(end - section) > limits.header_section) return faulty(kTooLarge);
  return {};
}

}  // namespace mote::syntax
