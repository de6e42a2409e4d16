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

// A socket that has taken megabytes says that it has room long after this client has read on.
TEST_P(TimeoutTest, ASteadyReaderOfALargeResponseIsNotReset) {
  RunningServer server(GetParam(), {.timeouts = {.write = milliseconds(1000)}}, server_router());
  Client client(server.port(), 65536);
  client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  std::size_t taken = 0;
  for (int i = 0; i < 35; ++i) {
    std::this_thread::sleep_for(milliseconds(100));
    taken += client.receive(30'000).size();
  }
  taken += client.receive(std::size_t{256} * 65536 - taken).size();
  EXPECT_EQ(taken, std::size_t{256} * 65536);
  EXPECT_FALSE(client.was_reset());
}

TEST_P(TimeoutTest, ARequestBehindDiscardedContentHasAllOfItsTime) {
  RunningServer server(GetParam(), {.timeouts = {.request = milliseconds(600)}}, server_router());
  Client client(server.port());
  client.send("PUT /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc");
  EXPECT_TRUE(client.response().starts_with("HTTP/1.1 404"));
  std::this_thread::sleep_for(milliseconds(400));
  client.send("def" + kHello.substr(0, 8));
  std::this_thread::sleep_for(milliseconds(400));
  client.send(kHello.substr(8));
  EXPECT_TRUE(client.response().ends_with("Hello, world!"));
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
