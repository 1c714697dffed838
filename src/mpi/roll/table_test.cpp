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

Place in_message(int rank, const std::string& function, const Message& message) {
  Place place = in_call(rank, function, 0, "a.c:1");
  place.message = message;
  return place;
}

TEST(Table, PeersAndTagsOfMessagesAreNamed) {
  const auto text = [](const std::vector<Place>& places) {
    return table_text(places, static_cast<int>(places.size()), "asked");
  };
  const Message from_0{.source = 0, .receive_tag = 2};
  EXPECT_EQ(difference(grouped({in_call(0, "MPI_Barrier", 3, "a.c:9"),
                                in_call(1, "MPI_Barrier", 3, "a.c:9"),
                                in_message(2, "MPI_Recv", from_0)})),
            "rank 2 makes MPI_Recv from rank 0 with tag 2, ranks 0, 1 the collective MPI_Barrier");
  const Message any{.source = Message::any, .receive_tag = Message::any};
  EXPECT_NE(text({in_message(0, "MPI_Probe", any)}).find("MPI_Probe from any rank with any tag\n"),
            std::string::npos);
  // A ring in one row, whose ranks have other peers.
  const auto step = [](int to, int from) {
    return Message{.dest = to, .send_tag = 3, .source = from, .receive_tag = 3};
  };
  EXPECT_NE(
      text({in_message(0, "MPI_Sendrecv", step(1, 2)), in_message(1, "MPI_Sendrecv", step(2, 0)),
            in_message(2, "MPI_Sendrecv", step(0, 1))})
          .find("ranks 0-2: MPI_Sendrecv to ranks 0-2 and from ranks 0-2 with tag 3"),
      std::string::npos);
  // Another tag may be the mistake, unless each rank has its own.
  const auto tagged = [](int rank, int tag) {
    return in_message(rank, "MPI_Recv", {.source = 0, .receive_tag = tag});
  };
  EXPECT_EQ(difference(grouped({tagged(0, 1), tagged(1, 1), tagged(2, 2)})),
            "rank 2 makes MPI_Recv from rank 0 with tag 2, ranks 0, 1 MPI_Recv from rank 0 with "
            "tag 1");
  EXPECT_NE(text({tagged(0, 5), tagged(1, 6), tagged(2, 7), tagged(3, 9)})
                .find("ranks 0-3: MPI_Recv from rank 0 with tags 5-7, 9\n"),
            std::string::npos);
  // A rank that does not know them has a row of its own.
  EXPECT_NE(text({in_message(0, "MPI_Recv", from_0), in_message(1, "MPI_Recv", {})})
                .find("rank 1: MPI_Recv\n"),
            std::string::npos);
}

TEST(Table, OfTwoThatAreAsLargeTheOneThatDoesNotWaitComesFirst) {
  const auto groups =
      grouped({in_call(0, "MPI_Barrier", 3, "a.c:1"), that_does(1, Doing::computes)});
  EXPECT_EQ(groups[0].ranks, std::vector<int>{1});
}

TEST(Table, GroupsOutsideMpiAreTold) {
  const auto of = [](Doing few, Doing many) {
    return difference(grouped({that_does(0, many), that_does(1, few), that_does(2, many)}));
  };
  EXPECT_EQ(of(Doing::ended, Doing::computes),
            "rank 1 has ended, and ranks 0, 2 are in the program's own code");
  EXPECT_EQ(of(Doing::file, Doing::ended), "rank 1 is in file access, ranks 0, 2 have ended");
  EXPECT_EQ(of(Doing::stopped, Doing::sleeps), "rank 1 is stopped by a signal");
  EXPECT_EQ(difference(grouped({that_does(0, Doing::silent), in_call(1, "MPI_Barrier", 3, "a.c:1"),
                                that_does(2, Doing::silent)})),
            "rank 1 makes MPI_Barrier, ranks 0, 2 cannot be asked");
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
