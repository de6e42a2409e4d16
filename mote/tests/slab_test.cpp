#include "net/slab.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <random>
#include <set>

namespace mote {
namespace {

std::size_t resident_pages(Slab& slab, std::size_t slots) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> resident((slots * sizeof(Connection) + page - 1) / page);
  EXPECT_EQ(mincore(&slab[0], slots * sizeof(Connection), resident.data()), 0);
  std::size_t count = 0;
  for (const unsigned char state : resident) count += state & 1U;
  return count;
}

TEST(Slab, GivesTheLowestFreeSlot) {
  Slab slab(10);
  for (std::uint32_t i = 0; i < 10; ++i) EXPECT_EQ(slab.take(), i);
  EXPECT_FALSE(slab.take());
  slab.release(7);
  slab.release(3);
  EXPECT_EQ(slab.take(), 3U);
  EXPECT_EQ(slab.take(), 7U);
}

TEST(Slab, ASlotsNextUseHasAnotherGeneration) {
  Slab slab(2);
  const std::uint32_t index = slab.take().value();
  const auto generation = slab[index].generation;
  slab[index].set(Connection::kOpen);
  slab.release(index);
  EXPECT_EQ(slab.take(), index);
  EXPECT_NE(slab[index].generation, generation);
  EXPECT_EQ(slab[index].flags, 0);
}

TEST(Slab, GivesPagesBackWhenConnectionsHaveClosed) {
  constexpr std::uint32_t kSlots = 20'000;
  Slab slab(kSlots);
  for (std::uint32_t i = 0; i < kSlots; ++i) (void)slab.take();
  const std::size_t full = resident_pages(slab, kSlots);
  EXPECT_GE(full, kSlots * sizeof(Connection) / 4096);
  EXPECT_FALSE(slab.wants_trim());
  for (std::uint32_t i = 200; i < kSlots; ++i) slab.release(i);
  ASSERT_TRUE(slab.wants_trim());
  slab.trim();
  EXPECT_LE(resident_pages(slab, kSlots), 2U);
  EXPECT_EQ(slab.take(), 200U);
}

TEST(Slab, KeepsWhatIsUsedWhateverIsTrimmed) {
  Slab slab(5000);
  std::mt19937 random(7);
  std::set<std::uint32_t> live;
  for (int round = 0; round < 20'000; ++round) {
    const bool grow = (round / 2500) % 2 == 0;
    if (grow ? random() % 4 != 0 : live.empty() || random() % 4 == 0) {
      if (const auto index = slab.take()) {
        EXPECT_TRUE(live.insert(*index).second);
        slab[*index].fd = static_cast<std::int32_t>(*index);
      }
    } else {
      auto victim = live.begin();
      std::advance(victim, random() % live.size());
      EXPECT_EQ(slab[*victim].fd, static_cast<std::int32_t>(*victim));
      slab.release(*victim);
      live.erase(victim);
    }
    if (slab.wants_trim()) slab.trim();
    ASSERT_EQ(slab.live(), live.size());
  }
}

}  // namespace
}  // namespace mote
