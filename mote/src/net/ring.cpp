#include "net/ring.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace mote {
namespace {

// What the workers rely on beside the setup flags, which need a newer kernel than these do.
constexpr unsigned kFeatures =
    IORING_FEAT_SINGLE_MMAP | IORING_FEAT_NODROP | IORING_FEAT_EXT_ARG | IORING_FEAT_CQE_SKIP;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

io_uring_params with_completions(unsigned count) {
  io_uring_params parameters{};
  parameters.flags = IORING_SETUP_CQSIZE | IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SINGLE_ISSUER |
                     IORING_SETUP_COOP_TASKRUN | IORING_SETUP_DEFER_TASKRUN;
  parameters.cq_entries = count;
  return parameters;
}

int set_up(unsigned requests, io_uring_params& parameters) {
  const auto fd = static_cast<int>(syscall(SYS_io_uring_setup, requests, &parameters));
  if (fd < 0) fail("mote: io_uring_setup");
  if ((parameters.features & kFeatures) == kFeatures) return fd;
  close(fd);
  errno = ENOSYS;
  fail("mote: this kernel's io_uring is too old");
}

}  // namespace

Mapping::Mapping(std::size_t size, int fd, std::uint64_t offset)
    : memory_(mmap(nullptr, size, PROT_READ | PROT_WRITE,
                   MAP_POPULATE | (fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED), fd,
                   static_cast<off_t>(offset))),
      size_(size) {
  if (memory_ == MAP_FAILED) fail("mote: mapping the memory of an io_uring");
}

Mapping::~Mapping() {
  munmap(memory_, size_);
}

Ring::Ring(unsigned requests, unsigned completions)
    : Ring(requests, with_completions(completions)) {}

Ring::Ring(unsigned requests, io_uring_params parameters)
    : parameters_(parameters),
      fd_(set_up(requests, parameters_)),
      rings_(std::max<std::size_t>(
                 parameters_.cq_off.cqes + parameters_.cq_entries * sizeof(io_uring_cqe),
                 parameters_.sq_off.array + parameters_.sq_entries * sizeof(unsigned)),
             fd_.get(), IORING_OFF_SQ_RING),
      entries_(parameters_.sq_entries * sizeof(io_uring_sqe), fd_.get(), IORING_OFF_SQES),
      request_mask_(parameters_.sq_entries - 1),
      completion_mask_(parameters_.cq_entries - 1),
      request_head_(rings_.at<unsigned>(parameters_.sq_off.head)),
      request_tail_(rings_.at<unsigned>(parameters_.sq_off.tail)),
      shared_completion_head_(rings_.at<unsigned>(parameters_.cq_off.head)),
      completion_tail_(rings_.at<unsigned>(parameters_.cq_off.tail)),
      completions_(rings_.at<io_uring_cqe>(parameters_.cq_off.cqes)) {
  // Entries are used in order, so that the kernel's list of them never changes.
  auto* const order = rings_.at<unsigned>(parameters_.sq_off.array);
  for (unsigned i = 0; i < parameters_.sq_entries; ++i) order[i] = i;
}

unsigned Ring::queued() const noexcept {
  return tail_ - std::atomic_ref(*request_head_).load(std::memory_order_acquire);
}

io_uring_sqe& Ring::next() {
  if (queued() > request_mask_) submit();
  io_uring_sqe& request = entries_.at<io_uring_sqe>(0)[tail_++ & request_mask_];
  request = io_uring_sqe{};
  return request;
}

int Ring::enter(unsigned wait_for, unsigned flags,
                const io_uring_getevents_arg* argument) noexcept {
  std::atomic_ref(*request_tail_).store(tail_, std::memory_order_release);
  const std::size_t size = argument == nullptr ? 0 : sizeof *argument;
  return static_cast<int>(
      syscall(SYS_io_uring_enter, fd_.get(), queued(), wait_for, flags, argument, size));
}

void Ring::submit() {
  while (queued() > 0) {
    if (enter(0, 0, nullptr) < 0 && errno != EINTR) fail("mote: io_uring_enter");
  }
}

void Ring::wait(std::optional<Milliseconds> most) {
  __kernel_timespec time{};
  io_uring_getevents_arg argument{};
  if (most) {
    time = {.tv_sec = most->count() / 1000, .tv_nsec = most->count() % 1000 * 1'000'000};
    argument.ts = reinterpret_cast<std::uintptr_t>(&time);
  }
  const unsigned wait_for = most == Milliseconds{0} ? 0 : 1;
  if (enter(wait_for, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &argument) >= 0) return;
  // A full completion queue is emptied by the caller, who then waits again.
  if (errno != ETIME && errno != EINTR && errno != EBUSY && errno != EAGAIN) {
    fail("mote: io_uring_enter");
  }
}

}  // namespace mote
