#include "net/epoll_worker.hpp"

#include <malloc.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <system_error>

#include "net/clock.hpp"

namespace mote {
namespace {

constexpr std::uint64_t kListenerTag = UINT64_MAX;
constexpr std::uint64_t kWakeTag = UINT64_MAX - 1;

constexpr int kEventsAtOnce = 256;
constexpr int kAcceptsAtOnce = 64;
// Reads of one connection before the others have their turn.
constexpr int kReadsAtOnce = 8;
// Heads are small, and what is read of a client that takes no answers has to be kept; content may
// come faster.
constexpr std::size_t kHeadRoom = 8192;
constexpr std::size_t kContentRoom = 65536;
constexpr std::uint64_t kSentToRenew = 16384;
// Without descriptors or memory another accept is pointless until something has closed.
constexpr std::chrono::milliseconds kAcceptPause{100};
// A request may be on its way to an idle connection when the drain begins.
constexpr std::chrono::milliseconds kIdleGrace{50};

bool would_block(int error) noexcept {
  return error == EAGAIN || error == EWOULDBLOCK;
}

}  // namespace

EpollWorker::EpollWorker(const Options& options, const RouteTable& routes, Descriptor listener,
                         int wake, std::size_t max_connections)
    : options_(options),
      protocol_(routes, options),
      slab_(max_connections),
      deadlines_(slab_, options.timeouts),
      listener_(std::move(listener)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(wake),
      input_(new char[kContentRoom]) {
  if (epoll_.get() < 0) {
    throw std::system_error(errno, std::generic_category(), "mote: epoll_create1");
  }
  watch(wake_, EPOLLIN, kWakeTag);
  resume_accepting();
}

EpollWorker::~EpollWorker() {
  close_where([](const Connection&) { return true; }, true);
}

void EpollWorker::watch(int fd, std::uint32_t events, std::uint64_t tag) {
  epoll_event event{.events = events, .data = {.u64 = tag}};
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    throw std::system_error(errno, std::generic_category(), "mote: epoll_ctl");
  }
}

std::uint64_t EpollWorker::tag(std::uint32_t index) noexcept {
  return static_cast<std::uint64_t>(slab_[index].generation) << 32U | index;
}

void EpollWorker::update_clock() noexcept {
  now_ = coarse_now();
  tick_ = Deadlines::tick(now_);
  const std::int64_t wall = wall_seconds();
  if (wall == date_second_) return;
  date_second_ = wall;
  protocol_.set_date(wall);
}

// For epoll_wait: -1 where nothing is due, so that an idle worker never wakes.
int EpollWorker::sleep_length() noexcept {
  if (!unfinished_.empty()) return 0;
  std::optional<Milliseconds> sleep = deadlines_.until_first(now_);
  const auto at_most = [&sleep, this](Milliseconds time) {
    const Milliseconds wait = std::max(time - now_, Milliseconds{0});
    if (!sleep || wait < *sleep) sleep = wait;
  };
  if (!accepting_ && !draining_) at_most(accept_again_);
  if (draining_) {
    at_most(drain_began_ + (idle_closed_ ? options_.timeouts.drain : kIdleGrace));
  }
  if (!sleep) return -1;
  // The coarse clock lags by up to a tick of the kernel: one millisecond more saves a second
  // wake-up.
  return static_cast<int>(std::min<std::int64_t>(sleep->count() + 1, 1 << 30));
}

void EpollWorker::run() {
  std::array<epoll_event, kEventsAtOnce> events;
  update_clock();
  while (!draining_ || slab_.live() > 0) {
    const int count = epoll_wait(epoll_.get(), events.data(), kEventsAtOnce, sleep_length());
    if (count < 0 && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "mote: epoll_wait");
    }
    update_clock();
    for (int i = 0; i < count; ++i) dispatch(events[static_cast<std::size_t>(i)]);
    read_again();
    expire();
    housekeep();
  }
}

void EpollWorker::dispatch(const epoll_event& event) {
  if (event.data.u64 == kListenerTag) {
    accept_some();
    return;
  }
  if (event.data.u64 == kWakeTag) {
    begin_drain();
    return;
  }
  const auto index = static_cast<std::uint32_t>(event.data.u64);
  Connection& connection = slab_[index];
  // The connection that the event was for may have been closed by an earlier event of this batch.
  if (!connection.has(Connection::kOpen) || tag(index) != event.data.u64) return;
  if (connection.output_blocked()) [[unlikely]] {
    if ((event.events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0) flush_held(index);
    return;
  }
  if ((event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) {
    read(index, (event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0);
  }
}

void EpollWorker::read_again() {
  if (unfinished_.empty()) [[likely]]
    return;
  std::vector<std::uint64_t> turn;
  turn.swap(unfinished_);
  for (const std::uint64_t candidate : turn) {
    const auto index = static_cast<std::uint32_t>(candidate);
    Connection& connection = slab_[index];
    if (!connection.has(Connection::kOpen) || tag(index) != candidate) continue;
    // An event of this batch may have come first and blocked it: flush_held() goes on from there.
    if (!connection.output_blocked()) read(index, true);
  }
}

void EpollWorker::expire() {
  while (const auto expired = deadlines_.take_expired(tick_)) {
    const std::uint32_t index = expired->index;
    if (expired->timer == Timer::Request) {
      // The answer, if there is one, is followed by the linger that finish() begins.
      if (advance(index, protocol_.time_out(slab_[index]))) read(index, true);
    } else {
      close_socket(index, expired->timer == Timer::Write);
    }
  }
}

void EpollWorker::housekeep() {
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

void EpollWorker::accept_some() {
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

void EpollWorker::adopt(Descriptor socket) {
  const auto taken = slab_.take();
  if (!taken) return;
  const std::uint32_t index = *taken;
  epoll_event event{.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data = {.u64 = tag(index)}};
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket.get(), &event) != 0) {
    slab_.release(index);
    return;
  }
  Connection& connection = slab_[index];
  connection.fd = socket.release();
  connection.set(Connection::kOpen);
  deadlines_.set(index, Timer::Idle, tick_);
}

void EpollWorker::pause_accepting() noexcept {
  if (accepting_) (void)epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, listener_.get(), nullptr);
  accepting_ = false;
  accept_again_ = now_ + kAcceptPause;
}

void EpollWorker::resume_accepting() {
  watch(listener_.get(), EPOLLIN, kListenerTag);
  accepting_ = true;
}

// --- one connection ---

// Reads and processes until the socket is empty. A short read says so without another call, unless
// the end of input or an error has been announced or may have been (`to_the_end`).
void EpollWorker::read(std::uint32_t index, bool to_the_end) {
  Connection& connection = slab_[index];
  for (int turn = 0; turn < kReadsAtOnce; ++turn) {
    const bool in_head =
        connection.exchange == nullptr || connection.exchange->phase == Exchange::Phase::Head;
    const std::size_t room = in_head ? kHeadRoom : kContentRoom;
    const ssize_t got = recv(connection.fd, input_.get(), room, 0);
    if (got < 0) {
      if (would_block(errno)) return;
      if (errno == EINTR) continue;
      close_socket(index, true);
      return;
    }
    const auto size = static_cast<std::size_t>(got);
    if (size == 0) {
      if (connection.has(Connection::kLingering)) {
        close_socket(index, false);
      } else {
        (void)advance(index, protocol_.end_of_input(connection));
      }
      return;
    }
    if (!connection.has(Connection::kLingering)) {
      Protocol::Next next = Protocol::Next::Abort;
      try {
        next = protocol_.receive(connection, {input_.get(), size});
      } catch (const std::bad_alloc&) {
        protocol_.output().clear();
      }
      if (!advance(index, next)) return;
    }
    if (size < room && !to_the_end) return;
  }
  unfinished_.push_back(tag(index));
}

// Sends what the protocol has written and lets it go on until it needs input. False if there is
// nothing to read for now: the connection is closed, or waits for the socket to take its output.
bool EpollWorker::advance(std::uint32_t index, Protocol::Next next) try {
  Connection& connection = slab_[index];
  for (;;) {
    if (!flush(index)) return false;
    if (next == Protocol::Next::Abort) {
      close_socket(index, true);
      return false;
    }
    if (connection.output_blocked()) {
      deadlines_.set(index, Timer::Write, tick_);
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

void EpollWorker::keep_time(std::uint32_t index) noexcept {
  Connection& connection = slab_[index];
  const Timer timer = connection.exchange == nullptr ? Timer::Idle : Timer::Request;
  if (connection.timer != timer || connection.has(Connection::kProgress)) {
    connection.clear(Connection::kProgress);
    deadlines_.set(index, timer, tick_);
  }
}

// False if the connection is lost.
bool EpollWorker::flush(std::uint32_t index) {
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
  protocol_.hold(connection,
                 output.view().substr(static_cast<std::size_t>(std::max<ssize_t>(sent, 0))));
  output.clear();
  // Each time, though it may be registered so already: that looks at the socket's state again, and
  // no edge is missed between the send and here.
  epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                    .data = {.u64 = tag(index)}};
  (void)epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection.fd, &event);
  return true;
}

void EpollWorker::flush_held(std::uint32_t index) {
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
    if (state.unrenewed >= kSentToRenew) {
      state.unrenewed = 0;
      deadlines_.set(index, Timer::Write, tick_);
    }
  }
  // Its room is kept for what may be blocked next, and given back by rest().
  state.output.clear();
  state.output_sent = 0;
  Protocol::Next next = Protocol::Next::Abort;
  try {
    next = protocol_.resume(connection);
  } catch (const std::bad_alloc&) {
    protocol_.output().clear();
  }
  // What arrived meanwhile has raised its event already.
  if (advance(index, next)) read(index, true);
}

// Ends our side. The client is given time to read the response: closing at once would reset the
// connection and lose it, if input is unread (RFC 9112 section 9.6).
bool EpollWorker::finish(std::uint32_t index) {
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

void EpollWorker::close_socket(std::uint32_t index, bool reset) noexcept {
  Connection& connection = slab_[index];
  deadlines_.clear(index);
  protocol_.end(connection);
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
void EpollWorker::close_where(Predicate predicate, bool reset) noexcept {
  for (std::uint32_t index = 0; index < slab_.extent(); ++index) {
    const Connection& connection = slab_[index];
    if (connection.has(Connection::kOpen) && predicate(connection)) close_socket(index, reset);
  }
}

void EpollWorker::begin_drain() {
  if (draining_) return;
  // What the kernel has accepted would be reset with the listening socket.
  if (accepting_) accept_some();
  protocol_.drain();
  (void)epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, wake_, nullptr);
  listener_.reset();
  accepting_ = false;
  draining_ = true;
  drain_began_ = now_;
}

void EpollWorker::continue_drain() {
  if (!idle_closed_ && now_ >= drain_began_ + kIdleGrace) {
    idle_closed_ = true;
    close_where([](const Connection& connection) { return connection.timer == Timer::Idle; },
                false);
  }
  if (now_ >= drain_began_ + options_.timeouts.drain) {
    close_where([](const Connection&) { return true; }, true);
  }
}

std::unique_ptr<Worker> make_epoll_worker(const Options& options, const RouteTable& routes,
                                          Descriptor listener, int wake,
                                          std::size_t max_connections) {
  return std::make_unique<EpollWorker>(options, routes, std::move(listener), wake, max_connections);
}

}  // namespace mote
