#include "run/bind.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace tutti::run {
namespace {

using Units = std::vector<int>;

// Two regions of three cores with two processing units each.
std::vector<topo::NodeCore> two_regions() {
  std::vector<topo::NodeCore> cores;
  for (int core = 0; core < 6; ++core) cores.push_back({core / 3, {core, core + 6}});
  return cores;
}

TEST(Bind, SpreadsRanksEvenlyOverCores) {
  const auto cores = two_regions();
  for (int rank = 0; rank < 6; ++rank)
    EXPECT_EQ(choose_units(BindChoice::core, {rank, 6}, cores), (Units{rank, rank + 6}));
  EXPECT_EQ(choose_units(BindChoice::core, {1, 2}, cores), (Units{3, 9}));
  EXPECT_EQ(choose_units(BindChoice::core, {2, 3}, cores), (Units{4, 10}));
}

TEST(Bind, GivesARankTheWholeRegion) {
  const auto cores = two_regions();
  const Units first{0, 6, 1, 7, 2, 8}, second{3, 9, 4, 10, 5, 11};
  EXPECT_EQ(choose_units(BindChoice::numa, {0, 2}, cores), first);
  EXPECT_EQ(choose_units(BindChoice::numa, {1, 2}, cores), second);
  for (int rank = 0; rank < 7; ++rank)
    EXPECT_EQ(choose_units(BindChoice::numa, {rank, 7}, cores), rank < 4 ? first : second);
}

TEST(Bind, FollowsRegionsOfDifferentSizes) {
  // A cpuset allows one core of the first region and three of the second.
  const std::vector<topo::NodeCore> cores{{0, {2}}, {1, {4}}, {1, {5}}, {1, {6}}};
  EXPECT_EQ(choose_units(BindChoice::numa, {0, 4}, cores), Units{2});
  for (int rank = 1; rank < 4; ++rank)
    EXPECT_EQ(choose_units(BindChoice::numa, {rank, 4}, cores), (Units{4, 5, 6}));
}

TEST(Bind, SharesCoresAmongMoreRanks) {
  const std::vector<topo::NodeCore> one{{0, {7}}};
  for (int rank = 0; rank < 3; ++rank)
    EXPECT_EQ(choose_units(BindChoice::core, {rank, 3}, one), Units{7});
  const auto cores = two_regions();
  EXPECT_EQ(choose_units(BindChoice::core, {11, 12}, cores), (Units{5, 11}));
  // The number of ranks is unknown.
  EXPECT_EQ(choose_units(BindChoice::core, {7, 0}, cores), (Units{1, 7}));
}

TEST(Bind, ReadsTheLaunchersVariables) {
  for (const char* name :
       {"MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "PALS_LOCAL_RANKID", "SLURM_LOCALID",
        "MV2_COMM_WORLD_LOCAL_RANK", "MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"})
    unsetenv(name);
  EXPECT_FALSE(local_rank());
  setenv("SLURM_LOCALID", "3", 1);
  EXPECT_EQ(local_rank()->rank, 3);
  EXPECT_EQ(local_rank()->ranks, 0);
  setenv("MPI_LOCALRANKID", "1", 1);
  setenv("MPI_LOCALNRANKS", "4", 1);
  EXPECT_EQ(local_rank()->rank, 1);
  EXPECT_EQ(local_rank()->ranks, 4);
  setenv("MPI_LOCALRANKID", "1 and more", 1);
  EXPECT_EQ(local_rank()->rank, 3);
  for (const char* name : {"MPI_LOCALRANKID", "MPI_LOCALNRANKS", "SLURM_LOCALID"}) unsetenv(name);
}

}  // namespace
}  // namespace tutti::run
