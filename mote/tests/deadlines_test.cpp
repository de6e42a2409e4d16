#include "net/deadlines.hpp"

#include <gtest/gtest.h>

namespace mote {
namespace {

using std::chrono::milliseconds;

class DeadlinesTest : public testing::Test {
 protected:
  std::uint32_t take() { return slab_.take().value(); }

  Slab slab_{1000};
  Deadlines deadlines_{slab_, Timeouts{.request = milliseconds(100), .idle = milliseconds(200)}};
};

TEST_F(DeadlinesTest, NothingIsDueWhereNothingIsSet) {
  EXPECT_FALSE(deadlines_.until_first(milliseconds(0)));
  EXPECT_FALSE(deadlines_.take_expired(UINT32_MAX));
}

TEST_F(DeadlinesTest, NeverEarlyAndAtMostTwoTicksLate) {
  const std::uint32_t index = take();
  for (std::int64_t start = 1000; start < 1100; ++start) {
    deadlines_.set(index, Timer::Request, Deadlines::tick(milliseconds(start)));
    const auto wait = deadlines_.until_first(milliseconds(start));
    ASSERT_TRUE(wait);
    EXPECT_GE(wait->count(), 100);
    EXPECT_LE(wait->count(), 100 + 32);
    EXPECT_FALSE(deadlines_.take_expired(Deadlines::tick(milliseconds(start + 99))));
    EXPECT_TRUE(deadlines_.take_expired(Deadlines::tick(milliseconds(start + 132))));
  }
}

TEST_F(DeadlinesTest, ExpireInOrderAndOnce) {
  std::vector<std::uint32_t> set;
  for (int i = 0; i < 50; ++i) {
    set.push_back(take());
    deadlines_.set(set.back(), Timer::Idle, static_cast<std::uint32_t>(i));
  }
  deadlines_.set(set[10], Timer::Idle, 60);  // moved to the end
  deadlines_.clear(set[20]);
  std::vector<std::uint32_t> expired;
  while (const auto next = deadlines_.take_expired(1000)) expired.push_back(next->index);
  std::vector<std::uint32_t> expected = set;
  expected.erase(expected.begin() + 20);
  expected.erase(expected.begin() + 10);
  expected.push_back(set[10]);
  EXPECT_EQ(expired, expected);
}

TEST_F(DeadlinesTest, TicksMayWrapAround) {
  const std::uint32_t index = take();
  deadlines_.set(index, Timer::Request, UINT32_MAX - 2);
  EXPECT_FALSE(deadlines_.take_expired(UINT32_MAX));
  EXPECT_TRUE(deadlines_.take_expired(10));
}

TEST_F(DeadlinesTest, ATimeoutOfZeroIsOff) {
  Deadlines off(slab_, Timeouts{.idle = milliseconds(0)});
  const std::uint32_t index = take();
  off.set(index, Timer::Idle, 5);
  EXPECT_FALSE(off.until_first(milliseconds(0)));
  off.set(index, Timer::Request, 5);
  off.set(index, Timer::Idle, 6);
  EXPECT_FALSE(off.until_first(milliseconds(0)));
}

}  // namespace
}  // namespace mote
