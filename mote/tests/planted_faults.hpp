#pragma once

#include <atomic>

namespace mote::test {

/// What the calls of the library run into from now on; all off at the start of a test.
struct PlantedFaults {
  std::atomic<int> accept_errno{0};     // accept4 fails with it
  std::atomic<int> accept_failures{0};  // calls of accept4 that failed so
  std::atomic<int> send_errno{0};       // send fails with it
  std::atomic<int> send_most{0};        // bytes that one send takes, 0 is all
  std::atomic<int> receive_errno{0};
  std::atomic<int> watch_errno{0};     // epoll_ctl fails with it to add a socket
  std::atomic<int> watch_failures{0};  // calls of epoll_ctl that failed so
  std::atomic<bool> no_memory{false};  // new and realloc fail on the server's thread
};

extern PlantedFaults faults;

/// Marks the calling thread as one whose allocations can be made to fail.
void fail_allocations_of_this_thread();

}  // namespace mote::test
