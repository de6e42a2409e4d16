#include <csignal>
#include <cstdio>
#include <exception>

#include "environment.hpp"
#include "mote/server.hpp"

namespace {

mote::Server* running = nullptr;

void stop_running(int /*signal*/) {
  running->stop();
}

void log_error(std::string_view what) {
  std::fprintf(stderr, "hello: %.*s\n", static_cast<int>(what.size()), what.data());
}

int serve() {
  raise_file_limit();
  mote::Options options = options_from_environment();
  options.on_error = log_error;

  mote::Router router;
  router.get("/hello", [](const mote::Request&, mote::Response& response) {
    response.static_text("Hello, world!");
  });

  mote::Server server(options, std::move(router));
  running = &server;
  struct sigaction action {};
  action.sa_handler = stop_running;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);

  std::fprintf(stderr, "hello: listening on %s port %u by %s\n", options.host.c_str(),
               static_cast<unsigned>(server.port()),
               server.backend() == mote::Backend::IoUring ? "io_uring" : "epoll");
  server.run();
  return 0;
}

}  // namespace

int main() {
  try {
    return serve();
  } catch (const std::exception& error) {
    log_error(error.what());
    return 1;
  }
}
