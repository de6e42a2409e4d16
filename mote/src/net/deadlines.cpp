#include "net/deadlines.hpp"

#include <algorithm>

namespace mote {

Deadlines::Deadlines(Slab& slab, const Timeouts& timeouts) noexcept : slab_(slab) {
  const auto enable = [this](Timer timer, Milliseconds length) {
    if (length.count() <= 0) return;
    // One tick more, for `now` may be anywhere in its tick: never early.
    list(timer).ticks =
        static_cast<std::uint32_t>((length.count() + kTickLength - 1) / kTickLength + 1);
    list(timer).enabled = true;
  };
  enable(Timer::Idle, timeouts.idle);
  enable(Timer::Request, timeouts.request);
  enable(Timer::Write, timeouts.write);
  enable(Timer::Linger, std::max(timeouts.linger, Milliseconds{1}));
}

void Deadlines::unlink(Connection& connection) noexcept {
  List& from = list(connection.timer);
  if (!from.enabled) return;
  (connection.previous == kNone ? from.head : slab_[connection.previous].next) = connection.next;
  (connection.next == kNone ? from.tail : slab_[connection.next].previous) = connection.previous;
}

void Deadlines::move(std::uint32_t index, Timer timer, std::uint32_t deadline) noexcept {
  Connection& connection = slab_[index];
  unlink(connection);
  connection.timer = timer;
  connection.deadline = deadline;
  List& to = list(timer);
  if (!to.enabled) return;
  connection.previous = to.tail;
  connection.next = kNone;
  (to.tail == kNone ? to.head : slab_[to.tail].next) = index;
  to.tail = index;
}

void Deadlines::clear(std::uint32_t index) noexcept {
  move(index, Timer::None, 0);
}

std::optional<Deadlines::Expired> Deadlines::take_expired(std::uint32_t now) noexcept {
  for (const List& candidate : lists_) {
    if (candidate.head == kNone) continue;
    const std::uint32_t index = candidate.head;
    // Ticks wrap around; their difference does not.
    if (static_cast<std::int32_t>(slab_[index].deadline - now) > 0) continue;
    const Timer timer = slab_[index].timer;
    clear(index);
    return Expired{index, timer};
  }
  return std::nullopt;
}

std::optional<Deadlines::Milliseconds> Deadlines::until_first(Milliseconds now) noexcept {
  std::optional<Milliseconds> soonest;
  for (const List& candidate : lists_) {
    if (candidate.head == kNone) continue;
    const auto ticks = static_cast<std::int32_t>(slab_[candidate.head].deadline - tick(now));
    const Milliseconds wait{ticks * kTickLength - now.count() % kTickLength};
    if (!soonest || wait < *soonest) soonest = wait;
  }
  if (soonest && soonest->count() < 0) soonest = Milliseconds{0};
  return soonest;
}

std::optional<std::uint32_t> Deadlines::first(Timer timer) noexcept {
  const std::uint32_t head = list(timer).head;
  return head == kNone ? std::nullopt : std::optional(head);
}

}  // namespace mote
