#include "base/descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <utility>

namespace tutti {
namespace {

int table_size() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "FDSize:") {
      int size = 0;
      status >> size;
      return size;
    }
  return 0;
}

TEST(Descriptors, AreMovedOutOfTheWayAndKeepTheirFile) {
  const int low = open("/", O_PATH);
  const int high = move_high(low);
  EXPECT_GE(high, 200);
  EXPECT_EQ(fcntl(low, F_GETFD), -1);
  EXPECT_EQ(fcntl(high, F_GETFD), FD_CLOEXEC);
  close(high);
}

TEST(Descriptors, StayWhereTheLimitIsLow) {
  struct rlimit before;
  getrlimit(RLIMIT_NOFILE, &before);
  const struct rlimit few{100, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &few);
  const int low = open("/", O_PATH);
  EXPECT_EQ(move_high(low), low);
  setrlimit(RLIMIT_NOFILE, &before);
  close(low);
}

TEST(Descriptors, AreClosedByTheirOwner) {
  int number = -1;
  {
    Descriptor first(open("/", O_PATH));
    number = first.number();
    EXPECT_GE(number, 200);
    Descriptor second = std::move(first);
    EXPECT_FALSE(first);
    EXPECT_EQ(second.number(), number);
    EXPECT_EQ(fcntl(number, F_GETFD), FD_CLOEXEC);
  }
  EXPECT_EQ(fcntl(number, F_GETFD), -1);
  EXPECT_FALSE(Descriptor(-1));
}

TEST(Descriptors, TheTableHasRoomForThem) {
  make_room_for_high_descriptors();
  EXPECT_GE(table_size(), 201);
  const int next = open("/", O_PATH);
  EXPECT_LT(next, 200);  // no descriptor stays open
  EXPECT_EQ(fcntl(200, F_GETFD), -1);
  close(next);
}

}  // namespace
}  // namespace tutti
