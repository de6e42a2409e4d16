// What an HTTP conformance probe needs: a resource to get and one that takes content.
// Usage: mote_echo PORT [epoll|io_uring]

#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string_view>

#include "mote/server.hpp"

namespace {

mote::Server* running = nullptr;

std::uint16_t port_from(const char* text) {
  std::uint16_t port = 0;
  (void)std::from_chars(text, text + std::strlen(text), port);
  return port;
}

mote::Backend backend_from(std::string_view name) {
  if (name == "epoll") return mote::Backend::Epoll;
  return name == "io_uring" ? mote::Backend::IoUring : mote::Backend::Automatic;
}

int serve(std::uint16_t port, mote::Backend backend) {
  mote::Router router;
  router.get("/hello", [](const mote::Request&, mote::Response& response) {
    response.static_text("Hello, world!");
  });
  router.post("/echo", [](const mote::Request& request, mote::Response& response) {
    response.text(request.body());
  });

  mote::Server server({.port = port, .workers = 1, .backend = backend}, std::move(router));
  running = &server;
  std::signal(SIGTERM, [](int) { running->stop(); });
  server.run();
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return serve(count > 1 ? port_from(arguments[1]) : 8080,
                 backend_from(count > 2 ? arguments[2] : ""));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mote_echo: %s\n", error.what());
    return 1;
  }
}
