#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include "mote/server.hpp"

namespace {

mote::Server* running = nullptr;

void stop_running(int /*signal*/) {
  running->stop();
}

}  // namespace

/// mote with no setting but its address.
int main() {
  mote::Options options;
  options.host = std::getenv("HOST");
  options.port = static_cast<std::uint16_t>(std::stoi(std::getenv("PORT")));
  mote::Router router;
  router.get("/hello", [](const mote::Request&, mote::Response& response) {
    response.static_text("Hello, world!");
  });
  // A handler of mote answers at once: while it sleeps, its worker serves nobody else.
  router.get("/slow", [](const mote::Request&, mote::Response& response) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    response.static_text("Hello, world!");
  });
  mote::Server server(options, std::move(router));
  running = &server;
  struct sigaction action {};
  action.sa_handler = stop_running;
  sigaction(SIGTERM, &action, nullptr);
  server.run();
  return 0;
}
