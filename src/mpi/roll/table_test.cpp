#include "mpi/roll/table.h"

#include <gtest/gtest.h>

#include <sstream>

namespace tutti::mpi::roll {
namespace {

Place in_call(int rank, const std::string& function, uint64_t number, const std::string& site) {
  Place place;
  place.rank = rank;
  place.doing = Doing::mpi;
  place.function = function;
  place.number = number;
  place.site = site;
  if (number > 0) place.communicator = "MPI_COMM_WORLD";
  return place;
}

Place that_does(int rank, Doing doing) {
  Place place;
  place.rank = rank;
  place.doing = doing;
  return place;
}

TEST(Table, TheSmallestGroupComesFirst) {
  const auto groups =
      grouped({in_call(0, "MPI_Barrier", 3, "a.c:1"), in_call(1, "MPI_Recv", 0, "a.c:2"),
               in_call(2, "MPI_Barrier", 3, "a.c:1")});
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].ranks, std::vector<int>{1});
  EXPECT_EQ(groups[1].ranks, (std::vector<int>{0, 2}));
  EXPECT_EQ(difference(groups), "rank 1 makes MPI_Recv, ranks 0, 2 the collective MPI_Barrier");
}

TEST(Table, OfTwoThatAreAsLargeTheOneThatDoesNotWaitComesFirst) {
  const auto groups =
      grouped({in_call(0, "MPI_Barrier", 3, "a.c:1"), that_does(1, Doing::computes)});
  EXPECT_EQ(groups[0].ranks, std::vector<int>{1});
}

TEST(Table, NumbersTellACallThatWasLeftOut) {
  const auto groups =
      grouped({in_call(0, "MPI_Barrier", 4, "a.c:1"), in_call(1, "MPI_Barrier", 3, "a.c:1"),
               in_call(2, "MPI_Barrier", 4, "a.c:1")});
  EXPECT_EQ(difference(groups),
            "rank 1 makes its collective 3, ranks 0, 2 4: a call was left out, or is one too many");
}

TEST(Table, ARankThatDoesNotSayItsCommunicatorBelongsToTheLargestGroup) {
  Place unknown = in_call(2, "MPI_Barrier", 3, "a.c:1");
  unknown.communicator.clear();
  const auto groups = grouped(
      {in_call(0, "MPI_Barrier", 3, "a.c:1"), in_call(1, "MPI_Barrier", 3, "a.c:1"), unknown});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].ranks, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(difference(groups), "");
}

TEST(Table, ListsOfRanks) {
  EXPECT_EQ(list_of({0}), "0");
  EXPECT_EQ(list_of({0, 1}), "0, 1");
  EXPECT_EQ(list_of({0, 1, 2, 5, 7, 8}), "0-2, 5, 7, 8");
}

TEST(Table, LinesHaveAtMost80Columns) {
  std::vector<Place> places;
  for (int rank = 0; rank < 64; ++rank)
    places.push_back(in_call(rank, "MPI_Reduce_scatter_block", rank % 3 == 0 ? 4 : 5, "a.c:1"));
  std::istringstream text(table_text(places, 70, "no progress for 60 s"));
  int lines = 0;
  for (std::string line; std::getline(text, line); ++lines) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_GT(lines, 4);
}

TEST(Table, RanksOfOtherNodes) {
  const std::string text = table_text({in_call(0, "MPI_Recv", 0, "a.c:1")}, 4, "asked");
  EXPECT_NE(text.find("ranks 1-3 are on other nodes"), std::string::npos) << text;
}

TEST(Place, IsTheSameAfterItsWayAsJson) {
  Place place = in_call(3, "MPI_Barrier", 7, "a.c:1 (main)");
  place.arguments = "root 2";
  place.seconds = 2.5;
  place.note = "a note";
  const Place back = place_from(Json::parse(json_text(json_of(place))));
  EXPECT_EQ(json_of(back), json_of(place));
  EXPECT_EQ(back.mark(), place.mark());
}

}  // namespace
}  // namespace tutti::mpi::roll
