// Teams and groups: the types behind the C API's opaque handles.
//
// A team is the ranks that share servers: threads of a process (ThreadTeam), the processes of an
// MPI job on a node (src/mpi/one_sided), or processes and threads without MPI (processes.h). A
// group is a rank's handle of the ranks that it reaches. Groups of MPI processes have no
// collectives, because MPI has them.
//
// One thread makes a ThreadTeam, each rank joins it once, and the caller frees it after all groups.
// The first collective call after all have joined finds the levels, which are constant from then
// on. Any thread may join, and may call what a tutti_team has; each group is used by one thread at
// a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "group/group.h"
#include "api/one_sided.h"
#include "api/requests.h"
#include "api/scratch.h"
#include "api/team_trace.h"
#include "placement/levels.h"
#include "records/arena.h"
#include "tutti/tutti.h"

namespace tutti::api {
struct ThreadTeam;
class ProcessTeam;
}  // namespace tutti::api

struct tutti_team {
  virtual ~tutti_team() = default;
  // The functions of the C API after a check of the arguments.
  virtual void start_servers(int count, tutti_serve serve) = 0;
  virtual void stop_servers() = 0;
  virtual void enable_servers(bool enabled) = 0;
  virtual void keep_servers_awake(bool awake) = 0;
  virtual int count_servers() = 0;
  // Null if the ranks are processes.
  virtual tutti::api::ThreadTeam* threads() { return nullptr; }
  // Null unless the ranks are processes without MPI.
  virtual tutti::api::ProcessTeam* processes() { return nullptr; }
};

namespace tutti::api {

struct ThreadTeam final : tutti_team {
  explicit ThreadTeam(int ranks);

  void start_servers(int count, tutti_serve serve) override;
  void stop_servers() override { services.stop(); }
  void enable_servers(bool enabled) override { services.enable(enabled); }
  void keep_servers_awake(bool awake) override;
  int count_servers() override { return services.servers(); }
  ThreadTeam* threads() override { return this; }

  struct FreeAligned {
    void operator()(std::byte* memory) const {
      operator delete[](memory, std::align_val_t{shm::line_size});
    }
  };

  shm::Layout layout;
  std::unique_ptr<std::byte[], FreeAligned> areas;
  exec::WaitStyle style;
  std::vector<shm::Word> joined;  // 1 for a rank that has
  // Indexed by rank: the processing units of its thread. A rank writes its own before it increments
  // `present`; they are read when all ranks are present.
  std::vector<std::vector<int>> bindings;
  shm::Word present{0};
  std::once_flag levels_found;
  placement::Levels levels;
  Services services;
  // The memory for the records of all ranks.
  records::Arena arena{{}};
  std::unique_ptr<TeamTrace> trace;  // null: the team is not traced
};

}  // namespace tutti::api

struct tutti_group {
  // The group of a thread rank.
  tutti_group(tutti::api::ThreadTeam& its_team, const tutti::group::Group::Settings& settings)
      : rank(settings.rank),
        ranks(settings.layout.ranks),
        team(&its_team),
        group(std::in_place, settings),
        one_sided(its_team.services, settings.rank) {}
  // The group of a process without MPI.
  tutti_group(tutti::api::ProcessTeam& its_team, const tutti::group::Group::Settings& settings,
              tutti::api::OneSided::Processes transfers)
      : rank(settings.rank),
        ranks(settings.layout.ranks),
        processes(&its_team),
        group(std::in_place, settings),
        knows_levels(true),
        one_sided(std::move(transfers)) {}
  // The group of an MPI process.
  tutti_group(int its_rank, int its_ranks, tutti::api::OneSided::Processes processes)
      : rank(its_rank), ranks(its_ranks), one_sided(std::move(processes)) {}
  tutti_group(const tutti_group&) = delete;
  virtual ~tutti_group() = default;

  const int rank;
  const int ranks;
  // The team of a thread rank, or of a process without MPI.
  tutti::api::ThreadTeam* const team = nullptr;
  tutti::api::ProcessTeam* const processes = nullptr;
  // Only if there is one of these teams:
  std::optional<tutti::group::Group> group;
  std::once_flag started_once;
  std::unique_ptr<tutti::api::Started> started;  // made at the first request
  tutti::api::Scratch scratch;  // scratch memory of reductions by users' operations
  bool knows_levels = false;    // set by the first collective call

  tutti::api::OneSided one_sided;
};

namespace tutti::api {

// A group's first collective call runs it. It waits until all ranks have joined, because all ranks
// must choose algorithms by the same levels, and the levels follow from all ranks' bindings.
void find_levels(tutti_group& group);

// Makes the resources that the requests of a group share.
std::unique_ptr<Started> start_of(tutti_group& group);

}  // namespace tutti::api
