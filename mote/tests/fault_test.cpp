// The server when the system under it fails.

#include <gtest/gtest.h>

#include <cerrno>
#include <optional>

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
    faults.no_memory = false;
  }
  static Router router() {
    Router router = server_router();
    router.get("/mark", [](const Request&, Response&) { fail_allocations_of_this_thread(); });
    return router;
  }
  bool still_serves() {
    Client client(server_->port());
    client.send(kHello);
    return client.response().ends_with("Hello, world!");
  }

  std::optional<RunningServer> server_;
};

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
  Client idle(server_->port());
  idle.send("GET /mark HTTP/1.1\r\nHost: a\r\n\r\n");
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

}  // namespace
}  // namespace mote::test
