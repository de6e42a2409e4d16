#include <gtest/gtest.h>

#include "backend_test.hpp"
#include "client.hpp"

namespace mote::test {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

class DrainTest : public BackendTest {};
INSTANTIATE_TEST_SUITE_P(Backends, DrainTest, kBackends, backend_name);

TEST_P(DrainTest, AnIdleServerEndsAtOnce) {
  RunningServer server(GetParam(), {}, server_router());
  const auto start = Clock::now();
  server.join();
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(5));
}

TEST_P(DrainTest, IdleConnectionsAreClosed) {
  RunningServer server(GetParam(), {}, server_router());
  Client client(server.port());
  client.send(kHello);
  (void)client.response();
  server.stop();
  EXPECT_EQ(client.receive_all(), "");
  EXPECT_FALSE(client.was_reset());
  server.join();
}

TEST_P(DrainTest, ARequestUnderWayIsAnsweredAndAnnouncesTheEnd) {
  RunningServer server(GetParam(), {}, server_router());
  Client client(server.port());
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello");
  std::this_thread::sleep_for(milliseconds(100));
  server.stop();
  std::this_thread::sleep_for(milliseconds(200));
  client.send("world");
  const std::string received = client.receive_all();
  EXPECT_TRUE(received.ends_with("helloworld"));
  EXPECT_NE(received.find("Connection: close"), std::string::npos);
  server.join();
}

TEST_P(DrainTest, AResponseUnderWayIsSentWhole) {
  // Long enough for a sanitizer's build on a machine that has much else to do.
  RunningServer server(GetParam(), {.timeouts = {.drain = milliseconds(50'000)}}, server_router());
  Client client(server.port(), 4096);
  client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  (void)client.receive(100);
  server.stop();
  std::this_thread::sleep_for(milliseconds(200));
  const std::string received = client.receive_all();
  EXPECT_GT(received.size(), std::size_t{256} * 65536 - 100);
  EXPECT_FALSE(client.was_reset());
}

TEST_P(DrainTest, EndsAtItsLimitWhateverClientsDo) {
  RunningServer server(GetParam(), {.timeouts = {.drain = milliseconds(300)}}, server_router());
  Client client(server.port());
  client.send("GET /hello HT");
  std::this_thread::sleep_for(milliseconds(100));
  const auto start = Clock::now();
  server.join();
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(5));
}

}  // namespace
}  // namespace mote::test
