#include "net/input_buffers.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

namespace mote {

InputBuffers::InputBuffers(const Ring& ring)
    : ring_memory_(kEntries * sizeof(io_uring_buf), -1, 0), memory_(kCount * kSize, -1, 0) {
  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<std::uintptr_t>(ring_memory_.at<char>(0));
  registration.ring_entries = kEntries;
  registration.bgid = kGroup;
  if (syscall(SYS_io_uring_register, ring.fd(), IORING_REGISTER_PBUF_RING, &registration, 1) != 0) {
    throw std::system_error(errno, std::generic_category(),
                            "mote: registering an io_uring's buffers");
  }
  for (std::uint16_t id = 0; id < kCount; ++id) provide(id);
}

void InputBuffers::provide(std::uint16_t id) noexcept {
  auto& entry = ring_memory_.at<io_uring_buf>(0)[tail_++ % kEntries];
  entry.addr = reinterpret_cast<std::uintptr_t>(memory_.at<char>(id * kSize));
  entry.len = kSize;
  entry.bid = id;
  // The ring's tail lies in the first entry, in a member that no entry uses.
  auto& shared_tail = ring_memory_.at<io_uring_buf>(0)->resv;
  std::atomic_ref(shared_tail).store(tail_, std::memory_order_release);
}

}  // namespace mote
