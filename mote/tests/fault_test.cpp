// The server when the system under it fails.

#include <gtest/gtest.h>

#include <cerrno>
#include <optional>
#include <semaphore>

#include "backend_test.hpp"
#include "client.hpp"
#include "planted_faults.hpp"

namespace mote::test {
namespace {

using std::chrono::milliseconds;

class FaultTest : public BackendTest {
 protected:
  void SetUp() override {
    BackendTest::SetUp();
    if (!IsSkipped()) server_.emplace(GetParam(), Options{}, router());
  }
  void TearDown() override {
    clear();
    server_.reset();
  }

  static void clear() {
    faults.accept_errno = 0;
    faults.accept_failures = 0;
    faults.send_errno = 0;
    faults.send_most = 0;
    faults.receive_errno = 0;
    faults.watch_errno = 0;
    faults.watch_failures = 0;
    faults.no_memory = false;
  }
  Router router() {
    Router router = server_router();
    router.get("/mark", [](const Request&, Response&) { fail_allocations_of_this_thread(); });
    router.get("/hold", [this](const Request&, Response&) {
      held_.release();
      (void)go_on_.try_acquire_for(std::chrono::seconds(10));
    });
    return router;
  }
  /// From now on the server's allocations can be made to fail.
  void mark() {
    Client client(server_->port());
    client.send("GET /mark HTTP/1.1\r\nHost: a\r\n\r\n");
    (void)client.response();
  }
  bool still_serves() {
    Client client(server_->port());
    client.send(kHello);
    return client.response().ends_with("Hello, world!");
  }

  std::optional<RunningServer> server_;
  std::binary_semaphore held_{0};   // the server's thread is in the handler of /hold
  std::binary_semaphore go_on_{0};  // and may leave it
};

template <typename Condition>
bool comes_about(Condition condition) {
  for (int i = 0; i < 1000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

INSTANTIATE_TEST_SUITE_P(Backends, FaultTest, kBackends, backend_name);

TEST_P(FaultTest, WithoutDescriptorsAcceptingPausesAndGoesOnLater) {
  for (const int error : {EMFILE, ENFILE, ENOMEM, ENOBUFS}) {
    faults.accept_failures = 0;
    faults.accept_errno = error;
    Client client(server_->port());
    client.send(kHello);
    std::this_thread::sleep_for(milliseconds(450));
    EXPECT_GE(faults.accept_failures, 1);
    EXPECT_LE(faults.accept_failures, 10) << "the server spins on a failing accept";
    faults.accept_errno = 0;
    EXPECT_TRUE(client.response().ends_with("Hello, world!"));
  }
}

TEST_P(FaultTest, AListenerThatCannotBeWatchedAgainIsTriedLater) {
  if (GetParam() == Backend::IoUring) GTEST_SKIP() << "it registers no sockets";
  faults.watch_errno = ENOMEM;
  faults.accept_errno = EMFILE;
  Client client(server_->port());
  client.send(kHello);
  ASSERT_TRUE(comes_about([] { return faults.watch_failures >= 2; }));
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_LE(faults.watch_failures, 100) << "the server spins on a failing epoll_ctl";
  faults.accept_errno = 0;
  faults.watch_errno = 0;
  EXPECT_TRUE(client.response().ends_with("Hello, world!"));
}

TEST_P(FaultTest, ShortSendsLoseNothing) {
  faults.send_most = 7;
  Client client(server_->port());
  for (int i = 0; i < 5; ++i) client.send(kHello);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(client.response().ends_with("Hello, world!"));
}

TEST_P(FaultTest, AConnectionWhoseSendFailsIsDropped) {
  for (const int error : {EPIPE, ECONNRESET, ENOBUFS}) {
    faults.send_errno = error;
    Client client(server_->port());
    client.send(kHello);
    EXPECT_EQ(client.receive_all(), "");
    faults.send_errno = 0;
    EXPECT_TRUE(still_serves());
  }
}

TEST_P(FaultTest, AConnectionWhoseReceiveFailsIsDropped) {
  if (GetParam() == Backend::IoUring) GTEST_SKIP() << "it calls no recv that could fail";
  faults.receive_errno = ECONNRESET;
  Client client(server_->port());
  client.send(kHello);
  EXPECT_EQ(client.receive_all(), "");
  faults.receive_errno = 0;
  EXPECT_TRUE(still_serves());
}

TEST_P(FaultTest, WithoutMemoryOnlyTheConnectionThatNeedsItIsDropped) {
  mark();
  Client idle(server_->port());
  idle.send(kHello);
  (void)idle.response();
  Client partial(server_->port());
  partial.send(kHello);
  (void)partial.response();
  faults.no_memory = true;
  partial.send("GET /hello HTTP/1.1\r\n");  // needs an Exchange
  EXPECT_EQ(partial.receive_all(), "");
  idle.send(kHello);  // needs nothing
  EXPECT_TRUE(idle.response().ends_with("Hello, world!"));
  faults.no_memory = false;
  EXPECT_TRUE(still_serves());
}

TEST_P(FaultTest, WithoutMemoryForARefusalOnlyItsConnectionIsDropped) {
  server_.emplace(GetParam(), Options{.timeouts = {.request = milliseconds(1000)}}, router());
  mark();
  for (const bool client_ends : {true, false}) {
    Client partial(server_->port());
    // The first answer tells that the rest has been taken in.
    partial.send(kHello + "GET /hello HTTP/1.1\r\n");
    EXPECT_TRUE(partial.response().ends_with("Hello, world!"));
    faults.no_memory = true;
    if (client_ends) partial.end_output();  // else the request times out
    EXPECT_EQ(partial.receive_all(), "");
    EXPECT_TRUE(partial.was_reset());
    faults.no_memory = false;
    EXPECT_TRUE(still_serves());
  }
}

TEST_P(FaultTest, WithoutMemoryForAnotherTurnOnlyItsConnectionIsDropped) {
  if (GetParam() == Backend::IoUring) GTEST_SKIP() << "it does not read by turns";
  mark();
  Client busy(server_->port());
  busy.send(kHello);
  EXPECT_TRUE(busy.response().ends_with("Hello, world!"));
  Client holder(server_->port());
  holder.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_TRUE(held_.try_acquire_for(std::chrono::seconds(10)));
  // More than one turn reads waits in the socket, in requests of which a read holds none in part.
  constexpr std::size_t kRequestSize = 1024;
  const std::string start = "GET /hello HTTP/1.1\r\nHost: a\r\nX: ";
  const std::string request =
      start + std::string(kRequestSize - start.size() - 4, 'x') + "\r\n\r\n";
  std::string burst;
  for (int i = 0; i < 256; ++i) burst += request;
  faults.no_memory = true;
  EXPECT_TRUE(busy.send(burst));
  go_on_.release();
  (void)busy.receive_all();
  EXPECT_TRUE(busy.was_reset());
  faults.no_memory = false;
  EXPECT_TRUE(still_serves());
}

}  // namespace
}  // namespace mote::test
