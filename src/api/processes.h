// Teams whose ranks know nothing of MPI (tutti_team_create_by): processes, or threads of processes,
// several of a process if it has that many.
//
// The ranks find each other by a store, then form a node's team (team/node_team.h). Its first
// memory has the areas of the ranks' groups and the queues to servers (near_side.h). Each rank has
// its own ProcessTeam, also where others are in its process, so ranks meet in shared memory alone.
// It joins it once, and frees it after the group.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "api/near_side.h"
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
  // Makes the rank's group. Throws Error(invalid_argument) unless it is the first.
  std::unique_ptr<tutti_group> join(int rank);
  std::unique_ptr<Started> start();

  void start_servers(int count, tutti_serve serve) override;
  void stop_servers() override;
  void enable_servers(bool enabled) override;
  void keep_servers_awake(bool awake) override;
  int count_servers() override;
  ProcessTeam* processes() override { return this; }

  // For the group in a forked child.
  void become_alone() { near_side_->become_alone(); }

 private:
  exec::Reach reach() const;
  group::Group::Settings group_settings() const;
  std::string find_ended() const;
  // Throws Error(unavailable) in a forked child, because the servers are its parent's.
  NearSide& near_side();

  const int64_t maker_;  // the process
  team::NodeTeam team_;
  shm::Segment* segment_ = nullptr;
  uint32_t page_ = 0;
  shm::Layout layout_;
  bool joined_ = false;

  std::mutex mutex_;  // guards near_side_ as it says
  std::optional<NearSide> near_side_;
};

}  // namespace tutti::api
