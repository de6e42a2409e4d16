#include "net/epoll_worker.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <system_error>

namespace mote {
namespace {

constexpr std::uint64_t kListenerTag = UINT64_MAX;
constexpr std::uint64_t kWakeTag = UINT64_MAX - 1;

constexpr int kEventsAtOnce = 256;
// Reads of one connection before the others have their turn.
constexpr int kReadsAtOnce = 8;
// Heads are small, and what is read of a client that takes no answers has to be kept; content may
// come faster.
constexpr std::size_t kHeadRoom = 8192;
constexpr std::size_t kContentRoom = 65536;

}  // namespace

EpollWorker::EpollWorker(const Options& options, const RouteTable& routes, Descriptor listener,
                         int wake, std::size_t max_connections)
    : ConnectionDriver(options, routes, std::move(listener), wake, max_connections),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      input_(new char[kContentRoom]) {
  if (epoll_.get() < 0) {
    throw std::system_error(errno, std::generic_category(), "mote: epoll_create1");
  }
  if (!add(wake, kWakeTag)) {
    throw std::system_error(errno, std::generic_category(), "mote: epoll_ctl");
  }
}

EpollWorker::~EpollWorker() {
  close_all();
}

bool EpollWorker::add(int fd, std::uint64_t event_tag) noexcept {
  epoll_event event{.events = EPOLLIN, .data = {.u64 = event_tag}};
  return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

int EpollWorker::timeout() noexcept {
  if (!unfinished_.empty()) return 0;
  const auto sleep = sleep_length();
  if (!sleep) return -1;
  return static_cast<int>(std::min<std::int64_t>(sleep->count(), 1 << 30));
}

void EpollWorker::run() {
  std::array<epoll_event, kEventsAtOnce> events;
  update_clock();
  housekeep();
  while (running()) {
    const int count = epoll_wait(epoll_.get(), events.data(), kEventsAtOnce, timeout());
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
    (void)epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, wake(), nullptr);
    begin_drain();
    return;
  }
  const auto index = static_cast<std::uint32_t>(event.data.u64);
  // The connection that the event was for may have been closed by an earlier event of this batch.
  const Connection* const connection = find(event.data.u64);
  if (connection == nullptr) return;
  if (connection->output_blocked()) [[unlikely]] {
    // What arrived meanwhile has raised its event already: read_on() takes it.
    if ((event.events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0) flush_held(index);
    return;
  }
  if ((event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) {
    read(index, (event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0);
  }
}

// Reads and processes until the socket is empty. A short read says so without another call, unless
// the end of input or an error has been announced or may have been (`to_the_end`).
void EpollWorker::read(std::uint32_t index, bool to_the_end) {
  const Connection& connection = slab()[index];
  for (int turn = 0; turn < kReadsAtOnce; ++turn) {
    const bool in_head =
        connection.exchange == nullptr || connection.exchange->phase == Exchange::Phase::Head;
    const std::size_t room = in_head ? kHeadRoom : kContentRoom;
    const ssize_t got = recv(connection.fd, input_.get(), room, 0);
    if (got < 0) {
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      if (errno == EINTR) continue;
      close_socket(index, true);
      return;
    }
    const auto size = static_cast<std::size_t>(got);
    if (size == 0) {
      take_end(index);
      return;
    }
    if (!take_input(index, {input_.get(), size})) return;
    if (size < room && !to_the_end) return;
  }
  try {
    unfinished_.push_back(tag(index));
  } catch (const std::bad_alloc&) {
    close_socket(index, true);
  }
}

void EpollWorker::read_again() {
  if (unfinished_.empty()) [[likely]]
    return;
  std::vector<std::uint64_t> turn;
  turn.swap(unfinished_);
  for (const std::uint64_t candidate : turn) {
    const Connection* const connection = find(candidate);
    // An event of this batch may have come first and blocked it: flush_held() goes on from there.
    if (connection == nullptr || connection->output_blocked()) continue;
    read(static_cast<std::uint32_t>(candidate), true);
  }
}

bool EpollWorker::watch(std::uint32_t index) {
  epoll_event event{.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data = {.u64 = tag(index)}};
  return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, slab()[index].fd, &event) == 0;
}

// Each time, though it may be registered so already: that looks at the socket's state again, and
// no edge is missed between the send and here.
void EpollWorker::await_room(std::uint32_t index) {
  epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                    .data = {.u64 = tag(index)}};
  (void)epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, slab()[index].fd, &event);
}

bool EpollWorker::listen() {
  return add(listener(), kListenerTag);
}

void EpollWorker::pause_listening() {
  (void)epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, listener(), nullptr);
}

std::unique_ptr<Worker> make_epoll_worker(const Options& options, const RouteTable& routes,
                                          Descriptor listener, int wake,
                                          std::size_t max_connections) {
  return std::make_unique<EpollWorker>(options, routes, std::move(listener), wake, max_connections);
}

}  // namespace mote
