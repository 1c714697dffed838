// Teams whose ranks know nothing of MPI (tutti_team_create_by): processes, or threads of processes,
// several of a process if it has that many.
//
// The ranks find each other by a store, then form a node's team (team/node_team.h). Its first
// memory has the areas of the ranks' groups. Each rank has its own ProcessTeam, also where others
// are in its process, so ranks meet in shared memory alone. It joins it once, and frees it after
// the group.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/requests.h"
#include "api/team.h"
#include "team/node_team.h"
#include "team/store.h"

namespace tutti::api {

class ProcessTeam final : public tutti_team {
 public:
  // Collective over the ranks. Throws Error if they have not met by the deadline.
  ProcessTeam(team::Store& store, const std::string& name, int rank, int ranks,
              std::chrono::steady_clock::time_point deadline);

  int ranks() const { return team_.ranks(); }
  int rank() const { return team_.rank(); }
  // False in a process that was forked from the one that has made this.
  bool is_own() const;
  // The facts from which the rank's group is made.
  group::Group::Settings group_settings() const;
  std::unique_ptr<Started> start();

  void start_servers(int count, tutti_serve serve) override;
  void stop_servers() override {}
  void enable_servers(bool) override {}
  void keep_servers_awake(bool) override {}
  int count_servers() override { return 0; }
  ProcessTeam* processes() override { return this; }

  bool joined = false;

 private:
  exec::Reach reach() const;

  const int64_t maker_;  // the process
  team::NodeTeam team_;
  shm::Segment* segment_ = nullptr;
  uint32_t page_ = 0;
  shm::Layout layout_;
};

}  // namespace tutti::api
