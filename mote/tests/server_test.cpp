// The whole server over real sockets.

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <system_error>
#include <vector>

#include "backend_test.hpp"
#include "client.hpp"

namespace mote::test {
namespace {

class ServerTest : public BackendTest {};
INSTANTIATE_TEST_SUITE_P(Backends, ServerTest, kBackends, backend_name);

TEST_P(ServerTest, AnswersOneRequestAfterAnother) {
  RunningServer server(GetParam(), {}, server_router());
  Client client(server.port());
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(client.send(kHello));
    ASSERT_TRUE(client.response().ends_with("\r\n\r\nHello, world!"));
  }
}

TEST_P(ServerTest, AnswersBytesThatDripIn) {
  RunningServer server(GetParam(), {}, server_router());
  Client client(server.port());
  for (const char& byte : kHello) ASSERT_TRUE(client.send({&byte, 1}));
  EXPECT_TRUE(client.response().ends_with("Hello, world!"));
}

TEST_P(ServerTest, AnswersPipelinedRequestsInOrderEvenFromADeepPipe) {
  RunningServer server(GetParam(), {}, server_router());
  Client client(server.port());
  std::string burst;
  for (int i = 0; i < 2000; ++i)
    burst += i % 2 == 0 ? kHello : "GET /no HTTP/1.1\r\nHost: a\r\n\r\n";
  std::jthread sender([&] { client.send(burst); });
  for (int i = 0; i < 2000; ++i) {
    ASSERT_TRUE(client.response().starts_with(i % 2 == 0 ? "HTTP/1.1 200" : "HTTP/1.1 404")) << i;
  }
}

TEST_P(ServerTest, AnswersAClientThatHasClosedItsSide) {
  RunningServer server(GetParam(), {}, server_router());
  Client client(server.port());
  client.send(kHello + kHello);
  client.end_output();
  const std::string received = client.receive_all();
  EXPECT_FALSE(client.was_reset());
  EXPECT_EQ(received.find("HTTP/1.1 200"), 0U);
  EXPECT_NE(received.rfind("HTTP/1.1 200"), 0U);
}

TEST_P(ServerTest, TheAnswerToARefusedUploadIsNotLostToAReset) {
  RunningServer server(GetParam(), {}, server_router());
  Client client(server.port());
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n");
  const std::string piece(65536, 'x');
  for (int i = 0; i < 30; ++i) client.send(piece);
  client.end_output();
  EXPECT_TRUE(client.receive_all().starts_with("HTTP/1.1 413"));
  EXPECT_FALSE(client.was_reset());
}

TEST_P(ServerTest, TakesContentOfAnySizeUpToTheLimit) {
  RunningServer server(GetParam(), {}, server_router());
  Client client(server.port());
  const std::string content(1'000'000, 'y');
  std::jthread sender([&] {
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" + content);
  });
  EXPECT_TRUE(client.response().ends_with("\r\n\r\n" + content));
}

TEST_P(ServerTest, SendsALargeResponseToASlowReaderWhole) {
  RunningServer server(GetParam(), {}, server_router());
  Client client(server.port(), 4096);
  client.send("GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const std::string received = client.receive_all();
  EXPECT_EQ(received.size() - received.find("\r\n\r\n") - 4, std::size_t{256} * 65536);
}

// The socket fills and empties again and again while more requests wait than one turn reads, so a
// connection is due for another read at the moment at which it blocks.
TEST_P(ServerTest, AnswersEachOfManyPipelinedRequestsOnceAndInOrderToASlowReader) {
  constexpr int kRequests = 60'000;
  const auto is_hello = [](int i) { return i % 7 != 0 && i % 11 != 0; };
  RunningServer server(GetParam(), {}, server_router());
  Client client(server.port(), 4096);
  std::string requests;
  for (int i = 0; i < kRequests; ++i)
    requests += is_hello(i) ? kHello : "GET /no HTTP/1.1\r\nHost: a\r\n\r\n";
  std::jthread sender([&] { client.send(requests); });
  for (int i = 0; i < kRequests; ++i) {
    if (i % 10'000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ASSERT_TRUE(client.response().starts_with(is_hello(i) ? "HTTP/1.1 200" : "HTTP/1.1 404")) << i;
  }
}

TEST_P(ServerTest, DoesNotGrowForAClientThatPipelinesAndNeverReads) {
  RunningServer server(GetParam(), {}, server_router());
  Client warm(server.port());
  warm.send(kHello);
  (void)warm.response();
  Client client(server.port(), 4096);
  const timeval soon{.tv_sec = 0, .tv_usec = 300'000};
  setsockopt(client.fd(), SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon);
  std::string burst;
  for (int i = 0; i < 2000; ++i) burst += kHello;
  const std::size_t before = anonymous_memory();
  for (int i = 0; i < 500 && client.send(burst); ++i) {
  }
  EXPECT_LT(anonymous_memory(), before + 1'000'000);
}

TEST_P(ServerTest, ResponsesGoOutWithoutDelay) {
  RunningServer server(GetParam(), {}, server_router());
  Client client(server.port());
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 50; ++i) {
    client.send(kHello);
    client.send(kHello);
    (void)client.response();
    (void)client.response();
  }
  // With Nagle's algorithm each round would wait 40 ms for an acknowledgement.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(50 * 40));
}

TEST_P(ServerTest, WorkersShareThePort) {
  RunningServer server(GetParam(), {.workers = 4}, server_router());
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 64; ++i) clients.push_back(std::make_unique<Client>(server.port()));
  for (const auto& client : clients) client->send(kHello);
  for (const auto& client : clients) EXPECT_TRUE(client->response().ends_with("Hello, world!"));
}

TEST_P(ServerTest, ConnectionsAboveTheLimitWaitForOthersToClose) {
  RunningServer server(GetParam(), {.max_connections = 2}, server_router());
  auto first = std::make_unique<Client>(server.port());
  Client second(server.port());
  first->send(kHello);
  second.send(kHello);
  (void)first->response();
  (void)second.response();
  Client third(server.port());
  third.send(kHello);
  first.reset();
  EXPECT_TRUE(third.response().ends_with("Hello, world!"));
}

// Ends by themselves and ends that the server brings about, in turn, in the same few slots.
TEST_P(ServerTest, AConnectionsEndNeverReachesTheNextOneInItsSlot) {
  RunningServer server(GetParam(), {.max_connections = 2}, server_router());
  for (int i = 0; i < 300; ++i) {
    Client client(server.port());
    ASSERT_TRUE(client.send(kHello)) << i;
    ASSERT_TRUE(client.response().ends_with("Hello, world!")) << i;
    if (i % 3 == 0) client.send("GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    if (i % 3 == 1) {
      const linger reset{.l_onoff = 1, .l_linger = 0};
      setsockopt(client.fd(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    }
  }
}

// The requests wait in pieces that the server had received when it stopped taking more.
TEST_P(ServerTest, WhatCameBeforeAConnectionBlockedIsAnsweredAfterIt) {
  constexpr int kRequests = 400;
  RunningServer server(GetParam(), {}, server_router());
  Client client(server.port(), 4096);
  std::string requests = "GET /large HTTP/1.1\r\nHost: a\r\n\r\n";
  for (int i = 0; i < kRequests; ++i) requests += kHello;
  client.send(requests);
  client.end_output();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  (void)client.response();
  for (int i = 0; i < kRequests; ++i) {
    ASSERT_TRUE(client.response().ends_with("Hello, world!")) << i;
  }
  EXPECT_EQ(client.receive_all(), "");
  EXPECT_FALSE(client.was_reset());
}

TEST_P(ServerTest, AResponseWithoutEndLeavesTheOthersTheirTurn) {
  Router router = server_router();
  router.get("/endless", [](const Request&, Response& response) {
    response.stream([](std::string& piece) {
      // Slower than its client, whose socket is never full.
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      piece.assign(70'000, 'x');
      return true;
    });
  });
  RunningServer server(GetParam(), {.workers = 1}, std::move(router));
  Client reader(server.port());
  reader.send("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n");
  const std::jthread reading([&reader](const std::stop_token& stop) {
    while (!stop.stop_requested() && reader.receive(65536).size() == 65536) {
    }
  });
  Client other(server.port());
  other.send(kHello);
  EXPECT_TRUE(other.response().ends_with("Hello, world!"));
}

TEST_P(ServerTest, SaysWhichBackendItUses) {
  const Server server({.port = 0, .workers = 1, .backend = GetParam()}, Router());
  EXPECT_EQ(server.backend(), GetParam());
}

TEST(Server, ChoosesABackendThatTheKernelAllows) {
  const Server server({.port = 0, .workers = 1}, Router());
  EXPECT_NE(server.backend(), Backend::Automatic);
}

TEST(Server, AnAddressThatCannotBeBoundIsAnError) {
  EXPECT_THROW(Server({.host = "192.0.2.1", .port = 1}, Router()), std::system_error);
  EXPECT_THROW(Server({.host = "localhost"}, Router()), std::invalid_argument);
}

}  // namespace
}  // namespace mote::test
