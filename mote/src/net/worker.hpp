#pragma once

#include <memory>
#include <system_error>

#include "mote/options.hpp"
#include "net/socket.hpp"
#include "routing/route_table.hpp"

namespace mote {

/// One thread's event loop: accepts from its own listening socket and serves what it accepts.
class Worker {
 public:
  Worker() = default;
  virtual ~Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Serves until `wake` becomes readable, then drains.
  virtual void run() = 0;
};

/// `wake` is an eventfd shared by all workers and never read. Throws std::system_error.
[[nodiscard]] std::unique_ptr<Worker> make_epoll_worker(const Options& options,
                                                        const RouteTable& routes,
                                                        Descriptor listener, int wake,
                                                        std::size_t max_connections);
[[nodiscard]] std::unique_ptr<Worker> make_io_uring_worker(const Options& options,
                                                           const RouteTable& routes,
                                                           Descriptor listener, int wake,
                                                           std::size_t max_connections);

/// Why the io_uring worker cannot run here: ENOSYS, EPERM and others from the kernel or a sandbox;
/// nothing where it can. Tries it out once a process. Throws std::system_error without threads.
[[nodiscard]] std::error_code io_uring_refusal();

}  // namespace mote
