#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "net/connection_driver.hpp"

struct epoll_event;

namespace mote {

/// The event loop over epoll: each socket is registered once, edge-triggered, and a request costs
/// two system calls, recv and send, besides its share of epoll_wait.
class EpollWorker final : public ConnectionDriver {
 public:
  EpollWorker(const Options& options, const RouteTable& routes, Descriptor listener, int wake,
              std::size_t max_connections);
  ~EpollWorker() override;

  void run() override;

 private:
  bool watch(std::uint32_t index) override;
  void await_room(std::uint32_t index) override;
  void read_on(std::uint32_t index) override { read(index, true); }
  void forget(std::uint32_t /*index*/) override {}
  bool listen() override;
  void pause_listening() override;

  [[nodiscard]] bool add(int fd, std::uint64_t event_tag) noexcept;
  [[nodiscard]] int timeout() noexcept;
  void dispatch(const epoll_event& event);
  void read(std::uint32_t index, bool to_the_end);
  void read_again();

  Descriptor epoll_;
  std::unique_ptr<char[]> input_;
  std::vector<std::uint64_t> unfinished_;  // tags of connections with input left after their turn
};

}  // namespace mote
