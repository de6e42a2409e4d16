#include "net/socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace mote {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), "mote: " + what);
}

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

Address parse(const std::string& host, std::uint16_t port) {
  Address address;
  auto* const v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* const v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    address.length = sizeof *v4;
  } else if (inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    address.length = sizeof *v6;
  } else {
    throw std::invalid_argument("mote: \"" + host +
                                "\" is not an IPv4 or IPv6 address to listen on");
  }
  return address;
}

void enable(int fd, int level, int option, const char* name) {
  const int on = 1;
  if (setsockopt(fd, level, option, &on, sizeof on) != 0) fail(std::string("setting ") + name);
}

}  // namespace

void Descriptor::reset() noexcept {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

Descriptor listen_on(const std::string& host, std::uint16_t port, int backlog) {
  const Address address = parse(host, port);
  Descriptor listener(
      socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (listener.get() < 0) fail("creating a socket");
  enable(listener.get(), SOL_SOCKET, SO_REUSEADDR, "SO_REUSEADDR");
  enable(listener.get(), SOL_SOCKET, SO_REUSEPORT, "SO_REUSEPORT");
  // Accepted sockets inherit it: pipelined responses must not wait for acknowledgements.
  enable(listener.get(), IPPROTO_TCP, TCP_NODELAY, "TCP_NODELAY");
  const auto* const generic = reinterpret_cast<const sockaddr*>(&address.storage);
  const std::string place = host + " port " + std::to_string(port);
  if (bind(listener.get(), generic, address.length) != 0) fail("binding " + place);
  if (listen(listener.get(), backlog) != 0) fail("listening on " + place);
  return listener;
}

std::uint16_t local_port(int fd) {
  Address address;
  address.length = sizeof address.storage;
  auto* const generic = reinterpret_cast<sockaddr*>(&address.storage);
  if (getsockname(fd, generic, &address.length) != 0) fail("reading the local address");
  // The port is at the same place in both families.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port);
}

void close_with_reset(int fd) noexcept {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close(fd);
}

}  // namespace mote
