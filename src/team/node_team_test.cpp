// Teams of processes that know nothing of MPI: they are forked, and their bootstrap is sockets to
// rank 0.
#include "team/node_team.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <array>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

namespace tutti::team {
namespace {

// A socket between rank 0 and each other rank.
class Sockets final : public Bootstrap {
 public:
  explicit Sockets(int ranks) : pairs_(static_cast<size_t>(ranks)) {
    for (auto& pair : pairs_)
      if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair.data()) != 0) std::abort();
  }
  void be(int rank) { rank_ = rank; }

  int rank() const override { return rank_; }
  int ranks() const override { return static_cast<int>(pairs_.size()); }
  void broadcast(void* data, size_t bytes) override {
    ++broadcasts;
    if (rank_ != 0) return receive(pairs_[static_cast<size_t>(rank_)][1], data, bytes);
    for (size_t other = 1; other < pairs_.size(); ++other) send(pairs_[other][0], data, bytes);
  }
  bool all(bool own) override {
    if (rank_ != 0) send(pairs_[static_cast<size_t>(rank_)][1], &own, sizeof own);
    for (size_t other = 1; rank_ == 0 && other < pairs_.size(); ++other) {
      bool one = false;
      receive(pairs_[other][0], &one, sizeof one);
      own = own && one;
    }
    return own;
  }

  int broadcasts = 0;

 private:
  static void send(int socket, const void* data, size_t bytes) {
    if (write(socket, data, bytes) != static_cast<ssize_t>(bytes)) std::abort();
  }
  static void receive(int socket, void* data, size_t bytes) {
    if (read(socket, data, bytes) != static_cast<ssize_t>(bytes)) std::abort();
  }

  std::vector<std::array<int, 2>> pairs_;
  int rank_ = 0;
};

// Runs `member` in a process for each rank. True if it returned true in all.
bool in_processes(int ranks, const std::function<bool(Sockets&)>& member) {
  Sockets sockets(ranks);
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      sockets.be(rank);
      _exit(member(sockets) ? 0 : 1);
    }
    children.push_back(child);
  }
  bool all = true;
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    all = all && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return all;
}

// Rank 0's grant, which the others learn by the bootstrap; its areas hold each rank's number.
bool share_areas(NodeTeam& team, Sockets& sockets) {
  AreaGrant grant = team.rank() == 0 ? team.areas().grant(team.ranks()) : AreaGrant{};
  sockets.broadcast(&grant, sizeof grant);
  shm::Segment* const segment = team.areas().segment(grant);
  if (!grant.granted || segment == nullptr) return false;
  const shm::Layout layout = shm::Layout::fit(team.ranks(), grant.bytes_per_rank);
  const auto area = [&](int rank) {
    return segment->address(grant.page) + static_cast<size_t>(rank) * layout.stride() +
           layout.slot_offset();
  };
  std::memcpy(area(team.rank()), &grant.page, sizeof grant.page);
  sockets.all(true);
  uint64_t done = 1;
  sockets.broadcast(&done, sizeof done);  // rank 0 has heard all
  uint32_t page = 0;
  for (int rank = 0; rank < team.ranks(); ++rank) {
    std::memcpy(&page, area(rank), sizeof page);
    if (page != grant.page) return false;
  }
  return true;
}

TEST(NodeTeam, FormsWithoutMpi) {
  for (const int ranks : {2, 3, 4, 7})
    EXPECT_TRUE(in_processes(ranks, [ranks](Sockets& sockets) {
      NodeTeam team({});
      std::string why_not;
      if (!team.form(sockets, &why_not) || sockets.broadcasts != 1) return false;
      uint64_t identity = team.identity();
      sockets.broadcast(&identity, sizeof identity);
      std::vector<int> all(static_cast<size_t>(ranks));
      std::iota(all.begin(), all.end(), 0);
      return team.ranks() == ranks && team.rank() == sockets.rank() &&
             identity == team.identity() && team.cores().size() == all.size() &&
             team.memory().memories().size() == all.size() && team.directory() != nullptr &&
             share_areas(team, sockets);
    })) << ranks;
}

TEST(NodeTeam, OneThatCannotAttachKeepsAllFromForming) {
  EXPECT_TRUE(in_processes(3, [](Sockets& sockets) {
    // Rank 2 fares as if it had no addresses left: the place that it is told is not there.
    class Astray final : public Bootstrap {
     public:
      explicit Astray(Bootstrap& others) : others_(others) {}
      int rank() const override { return others_.rank(); }
      int ranks() const override { return others_.ranks(); }
      void broadcast(void* data, size_t bytes) override {
        others_.broadcast(data, bytes);
        if (rank() == 2) std::memset(data, 0x5a, bytes);
      }
      bool all(bool own) override { return others_.all(own); }

     private:
      Bootstrap& others_;
    } bootstrap(sockets);
    NodeTeam team({});
    std::string why_not;
    return !team.form(bootstrap, &why_not) && !why_not.empty();
  }));
}

}  // namespace
}  // namespace tutti::team
