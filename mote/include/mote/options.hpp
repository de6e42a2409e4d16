#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace mote {

/// How long a connection may take. All are on by default; zero turns one off.
struct Timeouts {
  /// From a request's first byte to its last; renewed by each 16 KiB of content. Answered with 408.
  std::chrono::milliseconds request{10'000};
  /// Without a request begun: the connection is closed without a word.
  std::chrono::milliseconds idle{60'000};
  /// A response that the client does not take; renewed by each 16 KiB taken. The connection is
  /// reset.
  std::chrono::milliseconds write{10'000};
  /// After the last response, for the client to read it and close (RFC 9112 section 9.6).
  std::chrono::milliseconds linger{2'000};
  /// After stop(), for requests under way.
  std::chrono::milliseconds drain{10'000};
};

/// How large a request may be.
struct Limits {
  /// Bytes of the request target; more is 414. RFC 9112 section 3 asks for at least 8,000.
  std::size_t target = 8192;
  /// Bytes of the header section, and of a trailer section; more is 431.
  std::size_t header_section = 32768;
  /// Field lines of a section; more is 431. At most 128.
  std::size_t fields = 128;
  /// Bytes of content that is collected for a handler; more is 413.
  std::uint64_t body = 1U << 20U;
  /// Bytes of responses that wait for a client before the server stops reading its requests.
  std::size_t write_buffer = 65536;
};

/// What tells a worker that its sockets are ready.
enum class Backend : std::uint8_t {
  Automatic,  // epoll, for now
  Epoll,
  IoUring,  // from Linux 6.1 on; containers often forbid it
};

struct Options {
  /// Numeric IPv4 or IPv6 address to listen on.
  std::string host = "127.0.0.1";
  /// 0 lets the kernel choose; see Server::port().
  std::uint16_t port = 8080;
  /// Worker threads, each with its own listening socket (SO_REUSEPORT); 0 is one a core.
  unsigned workers = 0;
  int backlog = 4096;
  /// Connections of one worker; more wait in the kernel's queue. 0 is the limit of open files.
  std::size_t max_connections = 0;
  Backend backend = Backend::Automatic;
  Timeouts timeouts{};
  Limits limits{};
  /// Told what went wrong inside a handler that threw (its request is answered with 500). Called
  /// on the worker's thread.
  std::function<void(std::string_view)> on_error{};
};

}  // namespace mote
