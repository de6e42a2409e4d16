#include "mote/server.hpp"

#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "net/socket.hpp"
#include "net/worker.hpp"

namespace mote {
namespace {

// Address space for a slab is cheap, but a container's limit may be a thousand million.
constexpr std::size_t kMostConnections = std::size_t{1} << 22U;

std::size_t connection_limit(std::size_t asked) {
  rlimit files{};
  const bool known = getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur != RLIM_INFINITY;
  const std::size_t possible = known ? static_cast<std::size_t>(files.rlim_cur) : kMostConnections;
  return std::min({asked == 0 ? possible : asked, possible, kMostConnections});
}

void check(const Options& options) {
  const auto require = [](bool condition, const char* what) {
    if (!condition) throw std::invalid_argument(std::string("mote::Options: ") + what);
  };
  require(options.limits.target > 0, "limits.target must be above 0");
  require(options.limits.header_section > 0, "limits.header_section must be above 0");
  require(options.limits.fields > 0 && options.limits.fields <= 128,
          "limits.fields must be 1 to 128");
  require(options.limits.write_buffer > 0, "limits.write_buffer must be above 0");
  require(options.workers <= 1024, "workers must be at most 1024");
}

Backend choose(Backend asked) {
  // io_uring has to cost less on every kernel that allows it before it is chosen unasked.
  if (asked != Backend::IoUring) return Backend::Epoll;
  const std::error_code refusal = io_uring_refusal();
  if (!refusal) return Backend::IoUring;
  throw std::system_error(refusal,
                          "mote: the kernel refuses io_uring (see io_uring_disabled in sysctl and "
                          "the container's seccomp profile), use Backend::Epoll");
}

}  // namespace

class Server::Implementation {
 public:
  Implementation(Options options, Router router)
      : options_(std::move(options)),
        router_(std::move(router)),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    check(options_);
    if (wake_.get() < 0) throw std::system_error(errno, std::generic_category(), "mote: eventfd");
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    const unsigned count = options_.workers == 0 ? cores : options_.workers;
    backend_ = choose(options_.backend);
    const auto make_worker =
        backend_ == Backend::IoUring ? make_io_uring_worker : make_epoll_worker;
    const std::size_t limit = connection_limit(options_.max_connections);
    for (unsigned i = 0; i < count; ++i) {
      // With port 0 the kernel's choice for the first socket goes for all.
      Descriptor listener =
          listen_on(options_.host, i == 0 ? options_.port : port_, options_.backlog);
      if (i == 0) port_ = local_port(listener.get());
      workers_.push_back(
          make_worker(options_, router_.table(), std::move(listener), wake_.get(), limit));
    }
  }

  void run() {
    std::vector<std::exception_ptr> failures(workers_.size());
    const auto serve = [this, &failures](std::size_t i) {
      try {
        workers_[i]->run();
      } catch (...) {
        // One worker that cannot go on ends the server; the others drain.
        failures[i] = std::current_exception();
        stop();
      }
    };
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < workers_.size(); ++i) threads.emplace_back(serve, i);
    serve(0);
    threads.clear();
    for (const std::exception_ptr& failure : failures) {
      if (failure) std::rethrow_exception(failure);
    }
  }

  void stop() noexcept {
    const std::uint64_t one = 1;
    (void)!write(wake_.get(), &one, sizeof one);
  }

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] Backend backend() const noexcept { return backend_; }

 private:
  Options options_;
  Router router_;
  Descriptor wake_;
  std::uint16_t port_ = 0;
  Backend backend_ = Backend::Epoll;
  std::vector<std::unique_ptr<Worker>> workers_;
};

Server::Server(Options options, Router router)
    : implementation_(std::make_unique<Implementation>(std::move(options), std::move(router))) {}
Server::~Server() = default;

void Server::run() {
  implementation_->run();
}
void Server::stop() noexcept {
  implementation_->stop();
}
std::uint16_t Server::port() const noexcept {
  return implementation_->port();
}

Backend Server::backend() const noexcept {
  return implementation_->backend();
}

}  // namespace mote
