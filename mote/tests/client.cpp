#include "client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace mote::test {
namespace {

Options on_loopback(Backend backend, Options options) {
  options.backend = backend;
  options.host = "127.0.0.1";
  options.port = 0;
  if (options.workers == 0) options.workers = 1;
  return options;
}

}  // namespace

RunningServer::RunningServer(Backend backend, Options options, Router router)
    : server_(on_loopback(backend, std::move(options)), std::move(router)),
      thread_([this] { server_.run(); }) {}

RunningServer::~RunningServer() {
  join();
}

void RunningServer::join() {
  server_.stop();
  if (thread_.joinable()) thread_.join();
}

Client::Client(std::uint16_t port, int receive_buffer)
    : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const timeval limit{.tv_sec = 10, .tv_usec = 0};
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (receive_buffer > 0) {
    setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error("cannot connect to the server under test");
  }
}

Client::~Client() {
  close(fd_);
}

bool Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = write(fd_, bytes.data(), bytes.size());
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void Client::end_output() {
  shutdown(fd_, SHUT_WR);
}

bool Client::read_some() {
  std::vector<char> buffer(65536);
  const ssize_t got = read(fd_, buffer.data(), buffer.size());
  reset_ |= got < 0 && errno == ECONNRESET;
  end_ |= got == 0;
  if (got <= 0) return false;
  unread_.append(buffer.data(), static_cast<std::size_t>(got));
  return true;
}

std::string Client::receive(std::size_t count) {
  while (unread_.size() < count && read_some()) {
  }
  std::string received = unread_.substr(0, count);
  unread_.erase(0, received.size());
  return received;
}

std::string Client::response() {
  std::size_t end = std::string::npos;
  while ((end = unread_.find("\r\n\r\n")) == std::string::npos) {
    if (!read_some()) return receive(unread_.size());
  }
  std::string text = receive(end + 4);
  const std::size_t length = text.find("Content-Length: ");
  if (length == std::string::npos) return text;
  return text + receive(std::strtoul(text.c_str() + length + 16, nullptr, 10));
}

Router server_router() {
  Router router;
  router.get("/hello", [](const Request&, Response& response) { response.text("Hello, world!"); });
  router.post("/echo",
              [](const Request& request, Response& response) { response.body(request.body()); });
  router.get("/large", [](const Request&, Response& response) {
    response.stream(
        [left = 256](std::string& piece) mutable {
          piece.assign(65536, 'x');
          return --left > 0;
        },
        std::uint64_t{256} * 65536);
  });
  return router;
}

std::size_t anonymous_memory() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word != "RssAnon:") continue;
    std::size_t kilobytes = 0;
    status >> kilobytes;
    return kilobytes * 1024;
  }
  return 0;
}

}  // namespace mote::test
