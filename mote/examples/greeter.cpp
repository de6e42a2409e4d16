#include <csignal>
#include <string>

#include "mote/server.hpp"

namespace {
mote::Server* running = nullptr;
}

int main() {
  mote::Router router;
  router.get("/greet/{name}", [](const mote::Request& request, mote::Response& response) {
    response.text("Hello, " + std::string(request.parameter("name")) + "!\n");
  });
  router.post("/length", [](const mote::Request& request, mote::Response& response) {
    response.text(std::to_string(request.body().size()) + "\n");
  });

  mote::Server server({.host = "127.0.0.1", .port = 8080, .workers = 2}, std::move(router));
  running = &server;
  std::signal(SIGTERM, [](int) { running->stop(); });
  server.run();
}
