// Teams of ranks, by the C API, for measurements of its calls.
//
// The thread that makes a team owns it.
#pragma once

#include <vector>

#include "require.h"
#include "steps/bound_threads.h"

namespace tutti::bench {

// A rank for each thread. A thread calls with its own group.
class ThreadTeam {
 public:
  explicit ThreadTeam(BoundThreads& threads) : groups_(static_cast<size_t>(threads.count())) {
    require_ok(tutti_team_create(threads.count(), &team_));
    threads.run([this](int me) {
      require_ok(tutti_team_join(team_, me, &groups_[static_cast<size_t>(me)]));
    });
  }
  ~ThreadTeam() {
    for (tutti_group* const group : groups_) tutti_group_free(group);
    tutti_team_free(team_);
  }
  ThreadTeam(const ThreadTeam&) = delete;

  tutti_team* team() const { return team_; }
  tutti_group* group(int me) const { return groups_[static_cast<size_t>(me)]; }

 private:
  tutti_team* team_ = nullptr;
  std::vector<tutti_group*> groups_;
};

// A rank alone, whose calls the thread that makes it makes.
struct OneRank {
  OneRank() {
    require_ok(tutti_team_create(1, &team));
    require_ok(tutti_team_join(team, 0, &group));
  }
  ~OneRank() {
    tutti_group_free(group);
    tutti_team_free(team);
  }
  OneRank(const OneRank&) = delete;

  // Starts a server, which does not sleep. It gets a core of this process that no rank has.
  void start_server() const {
    require_ok(tutti_servers_start(team, 1, TUTTI_SERVE_ALL));
    require_ok(tutti_servers_wake(team));
  }

  tutti_team* team = nullptr;
  tutti_group* group = nullptr;
};

}  // namespace tutti::bench
