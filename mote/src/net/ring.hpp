#pragma once

#include <linux/io_uring.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "net/socket.hpp"

namespace mote {

/// Memory shared with the kernel, unmapped at the end.
class Mapping {
 public:
  Mapping() = default;
  /// Throws std::system_error. `fd` -1 is anonymous memory.
  Mapping(std::size_t size, int fd, std::uint64_t offset);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  template <typename T>
  [[nodiscard]] T* at(std::size_t offset) const noexcept {
    return reinterpret_cast<T*>(static_cast<char*>(memory_) + offset);
  }

 private:
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

/// What became of a request.
struct Completion {
  std::uint64_t user_data;  // the request's
  std::int32_t result;      // as the system call would return it, but a negated errno for a failure
  std::uint32_t flags;      // IORING_CQE_F_...
};

/// A pair of queues into the kernel (io_uring(7)): requests go in, completions come out.
///
/// All is done by the thread that makes it. Completions appear during wait() and submit() alone
/// (IORING_SETUP_DEFER_TASKRUN, Linux 6.1). A ring's end may interrupt a blocking system call that
/// its thread makes soon after with EINTR, as a signal would.
class Ring {
 public:
  using Milliseconds = std::chrono::milliseconds;

  /// Throws std::system_error where the kernel has no such ring or refuses it.
  Ring(unsigned requests, unsigned completions);

  /// A zeroed request to fill in, which goes to the kernel with the next submit() or wait(). If
  /// the queue is full it is submitted first, which throws std::system_error if that fails.
  io_uring_sqe& next();
  /// Hands the queued requests over.
  void submit();
  /// The same, and waits until there is a completion, the time has passed, or a signal comes.
  void wait(std::optional<Milliseconds> most);

  /// The oldest completion, or nothing when all have been taken.
  std::optional<Completion> take() noexcept {
    const unsigned head = completion_head_;
    if (head == std::atomic_ref(*completion_tail_).load(std::memory_order_acquire)) {
      return std::nullopt;
    }
    const io_uring_cqe& entry = completions_[head & completion_mask_];
    const Completion taken{entry.user_data, entry.res, entry.flags};
    completion_head_ = head + 1;
    std::atomic_ref(*shared_completion_head_).store(head + 1, std::memory_order_release);
    return taken;
  }

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

 private:
  Ring(unsigned requests, io_uring_params parameters);

  [[nodiscard]] unsigned queued() const noexcept;
  int enter(unsigned wait_for, unsigned flags, const io_uring_getevents_arg* argument) noexcept;

  io_uring_params parameters_;
  Descriptor fd_;
  Mapping rings_;
  Mapping entries_;
  unsigned tail_ = 0;
  unsigned completion_head_ = 0;
  unsigned request_mask_;
  unsigned completion_mask_;
  unsigned* request_head_;
  unsigned* request_tail_;
  unsigned* shared_completion_head_;
  unsigned* completion_tail_;
  const io_uring_cqe* completions_;
};

}  // namespace mote
