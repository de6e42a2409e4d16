#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "connection/protocol.hpp"
#include "net/deadlines.hpp"
#include "net/slab.hpp"
#include "net/worker.hpp"

struct epoll_event;

namespace mote {

/// The event loop over epoll: each socket is registered once, edge-triggered, and a request costs
/// two system calls, recv and send, besides its share of epoll_wait.
class EpollWorker final : public Worker {
 public:
  EpollWorker(const Options& options, const RouteTable& routes, Descriptor listener, int wake,
              std::size_t max_connections);
  ~EpollWorker() override;

  void run() override;

 private:
  using Milliseconds = std::chrono::milliseconds;

  void watch(int fd, std::uint32_t events, std::uint64_t tag);
  void update_clock() noexcept;
  [[nodiscard]] int sleep_length() noexcept;
  void dispatch(const epoll_event& event);
  void read_again();
  void expire();
  void housekeep();

  void accept_some();
  void adopt(Descriptor socket);
  void pause_accepting() noexcept;
  void resume_accepting();

  void read(std::uint32_t index, bool to_the_end);
  bool advance(std::uint32_t index, Protocol::Next next);
  bool flush(std::uint32_t index);
  void flush_held(std::uint32_t index);
  bool finish(std::uint32_t index);
  void close_socket(std::uint32_t index, bool reset) noexcept;
  void keep_time(std::uint32_t index) noexcept;

  void begin_drain();
  void continue_drain();
  template <typename Predicate>
  void close_where(Predicate predicate, bool reset) noexcept;

  [[nodiscard]] std::uint64_t tag(std::uint32_t index) noexcept;

  const Options& options_;
  Protocol protocol_;
  Slab slab_;
  Deadlines deadlines_;
  Descriptor listener_;
  Descriptor epoll_;
  int wake_;
  std::unique_ptr<char[]> input_;
  std::vector<std::uint64_t> unfinished_;  // tags of connections with input left after their turn
  Milliseconds now_{0};
  std::uint32_t tick_ = 0;
  std::int64_t date_second_ = -1;
  bool accepting_ = false;
  Milliseconds accept_again_{0};
  bool draining_ = false;
  bool idle_closed_ = false;
  Milliseconds drain_began_{0};
};

}  // namespace mote
