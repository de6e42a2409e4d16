#include "net/connection_driver.hpp"

#include <linux/sockios.h>
#include <malloc.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "net/clock.hpp"

namespace mote {
namespace {

constexpr int kAcceptsAtOnce = 64;
// Turns of a response that is written while it is sent, before the others have theirs: a client
// that keeps up never fills its socket.
constexpr int kSendsAtOnce = 8;
constexpr std::uint64_t kSentToRenew = 16384;
// Without descriptors or memory another accept is pointless until something has closed.
constexpr std::chrono::milliseconds kAcceptPause{100};
// A request may be on its way to an idle connection when the drain begins.
constexpr std::chrono::milliseconds kIdleGrace{50};

bool would_block(int error) noexcept {
  return error == EAGAIN || error == EWOULDBLOCK;
}

// Bytes that were given to a socket and that the client's side has not acknowledged.
std::uint64_t send_queue(int socket) noexcept {
  int bytes = 0;
  return ioctl(socket, SIOCOUTQ, &bytes) == 0 ? static_cast<std::uint64_t>(bytes) : 0;
}

}  // namespace

ConnectionDriver::ConnectionDriver(const Options& options, const RouteTable& routes,
                                   Descriptor listener, int wake, std::size_t max_connections)
    : options_(options),
      protocol_(routes, options),
      slab_(max_connections),
      deadlines_(slab_, options.timeouts),
      listener_(std::move(listener)),
      wake_(wake) {}

void ConnectionDriver::update_clock() noexcept {
  now_ = coarse_now();
  tick_ = Deadlines::tick(now_);
  const std::int64_t wall = wall_seconds();
  if (wall == date_second_) return;
  date_second_ = wall;
  protocol_.set_date(wall);
}

std::optional<ConnectionDriver::Milliseconds> ConnectionDriver::sleep_length() noexcept {
  std::optional<Milliseconds> sleep = deadlines_.until_first(now_);
  const auto at_most = [&sleep, this](Milliseconds time) {
    const Milliseconds wait = std::max(time - now_, Milliseconds{0});
    if (!sleep || wait < *sleep) sleep = wait;
  };
  if (!accepting_ && !draining_) at_most(accept_again_);
  if (draining_) {
    at_most(drain_began_ + (idle_closed_ ? options_.timeouts.drain : kIdleGrace));
  }
  // The coarse clock lags by up to a tick of the kernel: one millisecond more saves a second
  // wake-up.
  if (sleep) ++*sleep;
  return sleep;
}

void ConnectionDriver::expire() {
  while (const auto expired = deadlines_.take_expired(tick_)) {
    const std::uint32_t index = expired->index;
    if (expired->timer == Timer::Request) {
      // The answer, if there is one, is followed by the linger that finish() begins.
      Connection& connection = slab_[index];
      const auto next = within_memory([&] { return protocol_.time_out(connection); });
      if (advance(index, next)) read_on(index);
    } else if (expired->timer == Timer::Write && has_taken(index) >= kSentToRenew) {
      renew_write(index);
    } else {
      close_socket(index, expired->timer == Timer::Write);
    }
  }
}

// Bytes of output that the client has taken since the deadline was renewed. What the socket takes
// does not tell: one of some megabytes says that it has room when a third of them has gone.
std::uint64_t ConnectionDriver::has_taken(std::uint32_t index) {
  const Connection& connection = slab_[index];
  if (connection.exchange == nullptr) return 0;
  const Exchange& state = *connection.exchange;
  const std::uint64_t given = state.queued + state.unrenewed;
  return given - std::min(given, send_queue(connection.fd));
}

void ConnectionDriver::renew_write(std::uint32_t index) {
  Connection& connection = slab_[index];
  connection.exchange->unrenewed = 0;
  connection.exchange->queued = send_queue(connection.fd);
  deadlines_.set(index, Timer::Write, tick_);
}

void ConnectionDriver::housekeep() {
  if (slab_.wants_trim()) {
    slab_.trim();
    malloc_trim(0);
  }
  if (draining_) {
    continue_drain();
  } else if (!accepting_ && now_ >= accept_again_) {
    resume_accepting();
  }
}

// --- accepting ---

void ConnectionDriver::accept_some() {
  for (int i = 0; i < kAcceptsAtOnce; ++i) {
    if (slab_.live() == slab_.capacity()) {
      pause_accepting();
      return;
    }
    Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.get() >= 0) {
      adopt(std::move(socket));
      continue;
    }
    if (would_block(errno)) return;
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      pause_accepting();
      return;
    }
    // Anything else concerns the one connection, which is gone.
  }
}

void ConnectionDriver::adopt(Descriptor socket) {
  const auto taken = slab_.take();
  if (!taken) return;
  const std::uint32_t index = *taken;
  Connection& connection = slab_[index];
  connection.fd = socket.get();
  if (!watch(index)) {
    slab_.release(index);
    return;
  }
  (void)socket.release();
  connection.set(Connection::kOpen);
  deadlines_.set(index, Timer::Idle, tick_);
}

void ConnectionDriver::pause_accepting() {
  if (accepting_) pause_listening();
  accepting_ = false;
  accept_again_ = now_ + kAcceptPause;
}

void ConnectionDriver::resume_accepting() {
  accepting_ = listen();
  if (!accepting_) accept_again_ = now_ + kAcceptPause;
}

// --- one connection ---

// What the protocol says, or Abort where it has run out of memory: that costs the connection.
template <typename Call>
Protocol::Next ConnectionDriver::within_memory(const Call& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    protocol_.output().clear();
    return Protocol::Next::Abort;
  }
}

bool ConnectionDriver::take_input(std::uint32_t index, std::string_view bytes) {
  Connection& connection = slab_[index];
  if (connection.has(Connection::kLingering)) [[unlikely]]
    return true;
  return advance(index, within_memory([&] { return protocol_.receive(connection, bytes); }));
}

void ConnectionDriver::take_end(std::uint32_t index) {
  Connection& connection = slab_[index];
  if (connection.has(Connection::kLingering)) {
    close_socket(index, false);
  } else {
    (void)advance(index, within_memory([&] { return protocol_.end_of_input(connection); }));
  }
}

// Sends what the protocol has written and lets it go on until it needs input. False as for
// take_input().
bool ConnectionDriver::advance(std::uint32_t index, Protocol::Next next) try {
  Connection& connection = slab_[index];
  for (int turn = 0;; ++turn) {
    if (next == Protocol::Next::Drain && turn >= kSendsAtOnce) {
      hold_from(index, 0);
    } else if (!flush(index)) {
      return false;
    }
    if (next == Protocol::Next::Abort) {
      close_socket(index, true);
      return false;
    }
    if (connection.output_blocked()) {
      renew_write(index);
      return false;
    }
    if (next == Protocol::Next::Input) break;
    next = protocol_.resume(connection);
  }
  protocol_.rest(connection);
  if (connection.has(Connection::kClosing)) return finish(index);
  keep_time(index);
  return true;
} catch (const std::bad_alloc&) {
  protocol_.output().clear();
  close_socket(index, true);
  return false;
}

void ConnectionDriver::keep_time(std::uint32_t index) noexcept {
  Connection& connection = slab_[index];
  const Timer timer = connection.exchange == nullptr ? Timer::Idle : Timer::Request;
  if (connection.timer != timer || connection.has(Connection::kProgress)) {
    connection.clear(Connection::kProgress);
    deadlines_.set(index, timer, tick_);
  }
}

// False if the connection is lost.
bool ConnectionDriver::flush(std::uint32_t index) {
  Connection& connection = slab_[index];
  Output& output = protocol_.output();
  if (output.empty()) return true;
  const ssize_t sent = send(connection.fd, output.view().data(), output.size(), MSG_NOSIGNAL);
  if (sent == static_cast<ssize_t>(output.size())) [[likely]] {
    output.clear();
    return true;
  }
  if (sent < 0 && !would_block(errno) && errno != EINTR) {
    output.clear();
    close_socket(index, true);
    return false;
  }
  hold_from(index, static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
  return true;
}

// Keeps the output behind the first `sent` bytes until the socket says that it has room.
void ConnectionDriver::hold_from(std::uint32_t index, std::size_t sent) {
  Output& output = protocol_.output();
  protocol_.hold(slab_[index], output.view().substr(sent));
  output.clear();
  await_room(index);
}

void ConnectionDriver::flush_held(std::uint32_t index) {
  Connection& connection = slab_[index];
  Exchange& state = *connection.exchange;
  while (state.output_sent < state.output.size()) {
    const std::string_view unsent = state.unsent();
    const ssize_t sent = send(connection.fd, unsent.data(), unsent.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {
      if (!would_block(errno)) close_socket(index, true);
      return;
    }
    state.output_sent += static_cast<std::size_t>(sent);
    state.unrenewed += static_cast<std::uint64_t>(sent);
    if (state.unrenewed >= kSentToRenew) renew_write(index);
  }
  // Its room is kept for what may be blocked next, and given back by rest().
  state.output.clear();
  state.output_sent = 0;
  const auto next = within_memory([&] { return protocol_.resume(connection); });
  if (advance(index, next)) read_on(index);
}

// Ends our side. The client is given time to read the response: closing at once would reset the
// connection and lose it, if input is unread (RFC 9112 section 9.6).
bool ConnectionDriver::finish(std::uint32_t index) {
  Connection& connection = slab_[index];
  protocol_.end(connection);
  if (connection.has(Connection::kPeerClosed)) {
    close_socket(index, false);
    return false;
  }
  (void)shutdown(connection.fd, SHUT_WR);
  connection.set(Connection::kLingering);
  deadlines_.set(index, Timer::Linger, tick_);
  return true;
}

void ConnectionDriver::close_socket(std::uint32_t index, bool reset) {
  Connection& connection = slab_[index];
  deadlines_.clear(index);
  protocol_.end(connection);
  forget(index);
  if (reset) {
    close_with_reset(connection.fd);
  } else {
    close(connection.fd);
  }
  slab_.release(index);
  accept_again_ = now_;
}

// --- draining ---

template <typename Predicate>
void ConnectionDriver::close_where(Predicate predicate, bool reset) {
  for (std::uint32_t index = 0; index < slab_.extent(); ++index) {
    const Connection& connection = slab_[index];
    if (connection.has(Connection::kOpen) && predicate(connection)) close_socket(index, reset);
  }
}

void ConnectionDriver::close_all() {
  close_where([](const Connection&) { return true; }, true);
}

void ConnectionDriver::begin_drain() {
  if (draining_) return;
  // What the kernel has accepted would be reset with the listening socket.
  if (accepting_) accept_some();
  protocol_.drain();
  if (accepting_) pause_listening();
  listener_.reset();
  accepting_ = false;
  draining_ = true;
  drain_began_ = now_;
}

void ConnectionDriver::continue_drain() {
  if (!idle_closed_ && now_ >= drain_began_ + kIdleGrace) {
    idle_closed_ = true;
    close_where([](const Connection& connection) { return connection.timer == Timer::Idle; },
                false);
  }
  if (now_ >= drain_began_ + options_.timeouts.drain) close_all();
}

}  // namespace mote
