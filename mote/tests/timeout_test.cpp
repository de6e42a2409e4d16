#include <gtest/gtest.h>

#include "backend_test.hpp"
#include "client.hpp"

namespace mote::test {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

class TimeoutTest : public BackendTest {};
INSTANTIATE_TEST_SUITE_P(Backends, TimeoutTest, kBackends, backend_name);

TEST_P(TimeoutTest, AnIdleConnectionIsClosedWithoutAWord) {
  RunningServer server(GetParam(), {.timeouts = {.idle = milliseconds(150)}}, server_router());
  Client fresh(server.port());
  EXPECT_EQ(fresh.receive_all(), "");
  EXPECT_FALSE(fresh.was_reset());
  Client used(server.port());
  used.send(kHello);
  EXPECT_TRUE(used.response().ends_with("Hello, world!"));
  EXPECT_EQ(used.receive_all(), "");
}

TEST_P(TimeoutTest, ADrippingHeadIsAnsweredWith408) {
  RunningServer server(GetParam(), {.timeouts = {.request = milliseconds(200)}}, server_router());
  Client client(server.port());
  const auto start = Clock::now();
  client.send("GET /hello HTTP/1.1\r\n");
  while (Clock::now() - start < milliseconds(500) && client.send("X")) {
    std::this_thread::sleep_for(milliseconds(20));
  }
  EXPECT_TRUE(client.receive_all().starts_with("HTTP/1.1 408"));
}

TEST_P(TimeoutTest, ContentThatStopsIsAnsweredWith408) {
  RunningServer server(GetParam(), {.timeouts = {.request = milliseconds(150)}}, server_router());
  Client client(server.port());
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello");
  EXPECT_TRUE(client.receive_all().starts_with("HTTP/1.1 408"));
}

TEST_P(TimeoutTest, SteadyContentMayTakeLonger) {
  RunningServer server(GetParam(), {.timeouts = {.request = milliseconds(300)}}, server_router());
  Client client(server.port());
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n");
  const std::string piece(20'000, 'x');
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(milliseconds(60));
    ASSERT_TRUE(client.send(piece));
  }
  EXPECT_TRUE(client.response().starts_with("HTTP/1.1 200"));
}

TEST_P(TimeoutTest, AClientThatDoesNotReadIsReset) {
  RunningServer server(GetParam(), {.timeouts = {.write = milliseconds(200)}}, server_router());
  Client client(server.port(), 4096);
  client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  std::this_thread::sleep_for(milliseconds(800));
  (void)client.receive_all();
  EXPECT_TRUE(client.was_reset());
}

TEST_P(TimeoutTest, ActivityPutsTheIdleTimeoutOff) {
  RunningServer server(GetParam(), {.timeouts = {.idle = milliseconds(400)}}, server_router());
  Client client(server.port());
  for (int i = 0; i < 8; ++i) {
    std::this_thread::sleep_for(milliseconds(100));
    client.send(kHello);
    ASSERT_TRUE(client.response().ends_with("Hello, world!"));
  }
}

}  // namespace
}  // namespace mote::test
