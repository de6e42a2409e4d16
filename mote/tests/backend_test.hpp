#pragma once

#include <gtest/gtest.h>

#include <string>

#include "mote/options.hpp"
#include "net/worker.hpp"

namespace mote::test {

/// A test that runs once over each backend which the kernel allows.
class BackendTest : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (GetParam() == Backend::IoUring && io_uring_refusal()) {
      GTEST_SKIP() << "the kernel refuses io_uring here";
    }
  }
};

inline const auto kBackends = testing::Values(Backend::Epoll, Backend::IoUring);

inline std::string backend_name(const testing::TestParamInfo<Backend>& parameter) {
  return parameter.param == Backend::IoUring ? "IoUring" : "Epoll";
}

}  // namespace mote::test
