#include "planted_faults.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>

namespace mote::test {

PlantedFaults faults;

namespace {
thread_local bool can_fail = false;

bool allocation_fails() {
  return can_fail && faults.no_memory;
}
}  // namespace

void fail_allocations_of_this_thread() {
  can_fail = true;
}

}  // namespace mote::test

using mote::test::faults;

void* operator new(std::size_t size) {
  void* const memory = mote::test::allocation_fails() ? nullptr : std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

extern "C" {

int __real_accept4(int, sockaddr*, socklen_t*, int);
ssize_t __real_send(int, const void*, std::size_t, int);
ssize_t __real_recv(int, void*, std::size_t, int);
int __real_epoll_ctl(int, int, int, epoll_event*);
void* __real_realloc(void*, std::size_t);

int __wrap_accept4(int fd, sockaddr* address, socklen_t* length, int flags) {
  if (const int error = faults.accept_errno; error != 0) {
    ++faults.accept_failures;
    errno = error;
    return -1;
  }
  return __real_accept4(fd, address, length, flags);
}

ssize_t __wrap_send(int fd, const void* bytes, std::size_t size, int flags) {
  if (const int error = faults.send_errno; error != 0) {
    errno = error;
    return -1;
  }
  const auto most = static_cast<std::size_t>(faults.send_most.load());
  return __real_send(fd, bytes, most == 0 ? size : std::min(size, most), flags);
}

ssize_t __wrap_recv(int fd, void* bytes, std::size_t size, int flags) {
  if (const int error = faults.receive_errno; error != 0) {
    errno = error;
    return -1;
  }
  return __real_recv(fd, bytes, size, flags);
}

int __wrap_epoll_ctl(int epoll, int operation, int fd, epoll_event* event) {
  if (const int error = faults.watch_errno; error != 0 && operation == EPOLL_CTL_ADD) {
    ++faults.watch_failures;
    errno = error;
    return -1;
  }
  return __real_epoll_ctl(epoll, operation, fd, event);
}

void* __wrap_realloc(void* memory, std::size_t size) {
  return mote::test::allocation_fails() ? nullptr : __real_realloc(memory, size);
}
}
