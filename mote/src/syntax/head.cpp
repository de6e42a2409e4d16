#include "syntax/head.hpp"

#include <cstring>

#include "syntax/bytes.hpp"
#include "syntax/characters.hpp"
#include "syntax/request_line.hpp"
#include "syntax/semantic_fields.hpp"

namespace mote::syntax {
namespace {

constexpr Fault kBareEnd{400, "A carriage return is not followed by a line feed."};
constexpr Fault kTooLarge{431, "The header section is larger than this server accepts."};
constexpr Fault kTooMany{431, "The header section has more fields than this server accepts."};

Progress refuse(Fault fault, Head& head) noexcept {
  head.fault = fault;
  return Progress::Faulty;
}

// Whether the section that starts at `at` is the one remembered; then its meaning is head's.
inline bool recall(const char* at, const char* end, Head& head) noexcept {
  const SectionMemo& memo = head.memo;
  if (memo.size == 0 || static_cast<std::size_t>(end - at) < memo.size ||
      memo.meaning.minor_version != head.minor_version || !same(at, memo.bytes.data(), memo.size)) {
    return false;
  }
  const Method method = head.method;
  static_cast<HeadMeaning&>(head) = memo.meaning;
  head.method = method;
  head.host = memo.host;
  return true;
}

// Remembers a section that was parsed to its end, and lets the fields point to the copy.
void remember(std::string_view section, Head& head) noexcept {
  SectionMemo& memo = head.memo;
  if (section.size() > SectionMemo::kMostBytes) return;
  std::memcpy(memo.bytes.data(), section.data(), section.size());
  const auto copy = [&](std::string_view part) {
    const auto offset = part.data() - section.data();
    return std::string_view(memo.bytes.data() + offset, part.size());
  };
  for (std::size_t i = 0; i < head.field_count; ++i) {
    head.fields[i] = {copy(head.fields[i].name), copy(head.fields[i].value)};
  }
  if (head.has_host) head.host = copy(head.host);
  memo.meaning = head;
  memo.host = head.host;
  memo.size = section.size();
}

[[gnu::noinline]] Progress parse_section(const char* at, const char* end, const char* start,
                                         const Limits& limits, Head& head) noexcept {
  const char* const section = at;
  head.memo.size = 0;  // its fields are about to be overwritten
  const std::size_t most = limits.fields < Head::kMaxFields ? limits.fields : Head::kMaxFields;
  for (;;) {
    if (at == end) break;
    if (*at == '\r') {
      if (at + 1 == end) break;
      if (at[1] != '\n') return refuse(kBareEnd, head);
      at += 2;
      if (static_cast<std::size_t>(at - section) > limits.header_section)
        return refuse(kTooLarge, head);
      const Fault fault = check_semantics(head);
      if (fault) return refuse(fault, head);
      head.size = static_cast<std::size_t>(at - start);
      remember({section, static_cast<std::size_t>(at - section)}, head);
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

}  // namespace

[[gnu::flatten]] Progress parse_head(std::string_view input, const Limits& limits,
                                     Head& head) noexcept {
  static_cast<HeadMeaning&>(head) = {};
  const char* at = input.data();
  const char* const end = at + input.size();
  const Progress line = parse_request_line(at, end, limits, head, head.fault);
  if (line != Progress::Complete) [[unlikely]]
    return line;
  if (recall(at, end, head)) [[likely]] {
    head.size = static_cast<std::size_t>(at - input.data()) + head.memo.size;
    return Progress::Complete;
  }
  return parse_section(at, end, input.data(), limits, head);
}

}  // namespace mote::syntax
