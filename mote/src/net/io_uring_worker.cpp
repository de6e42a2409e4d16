#include "net/io_uring_worker.hpp"

#include <poll.h>

#include <cerrno>
#include <memory>
#include <new>
#include <system_error>
#include <thread>

namespace mote {
namespace {

constexpr unsigned kRequests = 128;
// More are kept by the kernel until these have been taken.
constexpr unsigned kCompletions = 512;

}  // namespace

IoUringWorker::IoUringWorker(const Options& options, const RouteTable& routes, Descriptor listener,
                             int wake, std::size_t max_connections)
    : ConnectionDriver(options, routes, std::move(listener), wake, max_connections) {}

IoUringWorker::~IoUringWorker() {
  // Where run() has thrown, its thread may be gone, and the ring takes requests from no other.
  ring_.reset();
  close_all();
}

void IoUringWorker::run() {
  ring_.emplace(kRequests, kCompletions);
  buffers_.emplace(*ring_);
  poll(wake(), POLLIN, user_data(Kind::Wake, 0));
  update_clock();
  housekeep();
  while (running()) {
    ring_->wait(sleep_length());
    update_clock();
    while (const auto completion = ring_->take()) dispatch(*completion);
    expire();
    housekeep();
  }
  // Sockets live on until the requests on them have been cancelled.
  ring_->wait(Milliseconds{0});
  ring_.reset();
}

void IoUringWorker::dispatch(const Completion& completion) {
  constexpr std::uint64_t kTagMask = (std::uint64_t{1} << 48U) - 1;
  const std::uint64_t tag = completion.user_data & kTagMask;
  switch (static_cast<Kind>(completion.user_data >> 48U)) {
    case Kind::Input:
      on_input(tag, completion);
      break;
    case Kind::Room:
      on_room(tag);
      break;
    case Kind::Listener:
      on_listener(tag);
      break;
    case Kind::Wake:
      begin_drain();
      break;
    case Kind::Ignored:
      break;
  }
}

void IoUringWorker::on_input(std::uint64_t tag, const Completion& completion) {
  const auto index = static_cast<std::uint32_t>(tag);
  Connection* connection = find(tag);
  if (connection != nullptr && (completion.flags & IORING_CQE_F_MORE) == 0) [[unlikely]] {
    connection->clear(Connection::kReceiving);
  }
  if (completion.result > 0) [[likely]] {
    if (connection != nullptr) take_bytes(*connection, index, buffers_->view(completion));
    buffers_->recycle(completion);
  } else if (connection != nullptr) {
    const int error = -completion.result;
    if (error == 0) {
      // A blocked connection asks again when it goes on.
      if (!connection->output_blocked()) take_end(index);
    } else if (error != ENOBUFS && error != ECANCELED && error != EINTR && error != EAGAIN) {
      close_socket(index, true);
    }
  }
  connection = find(tag);
  if (connection != nullptr && !connection->has(Connection::kReceiving)) [[unlikely]] {
    if (!connection->output_blocked()) read_on(index);
  }
}

void IoUringWorker::take_bytes(Connection& connection, std::uint32_t index,
                               std::string_view bytes) {
  if (!connection.output_blocked()) [[likely]] {
    (void)take_input(index, bytes);
    return;
  }
  // It had been received before the connection was blocked and its request cancelled.
  try {
    protocol().keep(connection, bytes, InputBuffers::kCount * InputBuffers::kSize);
  } catch (const std::bad_alloc&) {
    close_socket(index, true);
  }
}

void IoUringWorker::on_room(std::uint64_t tag) {
  const auto index = static_cast<std::uint32_t>(tag);
  Connection* connection = find(tag);
  if (connection == nullptr) return;
  connection->clear(Connection::kAwaitingRoom);
  if (connection->output_blocked()) flush_held(index);
  connection = find(tag);
  if (connection == nullptr || !connection->output_blocked()) return;
  if (!connection->has(Connection::kAwaitingRoom)) await_room(index);
}

void IoUringWorker::on_listener(std::uint64_t serial) {
  if (!listening_ || serial != listen_serial_) return;
  listening_ = false;
  accept_some();
  if (accepting()) (void)listen();
}

// --- what the driver asks for ---

bool IoUringWorker::watch(std::uint32_t index) {
  read_on(index);
  return true;
}

void IoUringWorker::read_on(std::uint32_t index) {
  Connection& connection = slab()[index];
  if (connection.has(Connection::kReceiving) || connection.has(Connection::kPeerClosed)) return;
  io_uring_sqe& request = ring_->next();
  request.opcode = IORING_OP_RECV;
  request.fd = connection.fd;
  request.ioprio = IORING_RECV_MULTISHOT;
  request.flags = IOSQE_BUFFER_SELECT;
  request.buf_group = InputBuffers::kGroup;
  request.user_data = user_data(Kind::Input, tag(index));
  connection.set(Connection::kReceiving);
}

void IoUringWorker::await_room(std::uint32_t index) {
  Connection& connection = slab()[index];
  // What a client sends while it takes no answers stays in its socket. read_on() comes after the
  // request's end if the connection goes on before it.
  if (connection.has(Connection::kReceiving)) cancel(user_data(Kind::Input, tag(index)));
  if (connection.has(Connection::kAwaitingRoom)) return;
  poll(connection.fd, POLLOUT, user_data(Kind::Room, tag(index)));
  connection.set(Connection::kAwaitingRoom);
}

// A request holds its socket open: without it the client would not see the end.
void IoUringWorker::forget(std::uint32_t index) {
  if (!ring_) return;
  const Connection& connection = slab()[index];
  if (connection.has(Connection::kReceiving)) cancel(user_data(Kind::Input, tag(index)));
  if (connection.has(Connection::kAwaitingRoom)) cancel(user_data(Kind::Room, tag(index)));
}

bool IoUringWorker::listen() {
  ++listen_serial_;
  listening_ = true;
  poll(listener(), POLLIN, user_data(Kind::Listener, listen_serial_));
  return true;
}

void IoUringWorker::pause_listening() {
  if (listening_) cancel(user_data(Kind::Listener, listen_serial_));
  listening_ = false;
}

void IoUringWorker::poll(int fd, std::uint32_t events, std::uint64_t data) {
  io_uring_sqe& request = ring_->next();
  request.opcode = IORING_OP_POLL_ADD;
  request.fd = fd;
  request.poll32_events = events;
  request.user_data = data;
}

void IoUringWorker::cancel(std::uint64_t data) {
  io_uring_sqe& request = ring_->next();
  request.opcode = IORING_OP_ASYNC_CANCEL;
  request.addr = data;
  request.flags = IOSQE_CQE_SKIP_SUCCESS;
  request.user_data = user_data(Kind::Ignored, 0);
}

std::error_code io_uring_refusal() {
  static const std::error_code refusal = [] {
    std::error_code error;
    // On a thread of its own, which takes the interruption by the ring's end with it.
    std::jthread([&error] {
      try {
        Ring ring(kRequests, kCompletions);
        const InputBuffers buffers(ring);
      } catch (const std::system_error& failure) {
        error = failure.code();
      }
    }).join();
    return error;
  }();
  return refusal;
}

std::unique_ptr<Worker> make_io_uring_worker(const Options& options, const RouteTable& routes,
                                             Descriptor listener, int wake,
                                             std::size_t max_connections) {
  return std::make_unique<IoUringWorker>(options, routes, std::move(listener), wake,
                                         max_connections);
}

}  // namespace mote
