// A team: processes that share this node's memory, and what they agreed on.
//
// The world's team is MPI_COMM_WORLD's ranks on this node, made inside MPI_Init and ended with the
// registry. A communicator whose ranks have no MPI_COMM_WORLD in common (of a session, or with
// spawned processes) makes a team of all its ranks inside its first collectives; it and later ones
// whose ranks are members share it, and the last to end ends it.
//
// A team is made by collective calls. It owns the private communicator (which never carries
// traffic: waiting ranks probe it so that the host MPI progresses), the node's segment and any
// further segments, and the other members' heaps, mapped. Everything in it but the list of further
// segments is constant once made (leave_world aside); the list has a lock. Every member holds the
// same answers, so decisions made from them are the same everywhere.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "exec/executor.h"
#include "exec/reach.h"
#include "placement/cores.h"
#include "mpi/abi/host.h"
#include "shm/heap.h"
#include "shm/layout.h"
#include "shm/segment.h"
#include "placement/levels.h"
#include "topo/shape.h"

namespace tutti::mpi {

// Where the areas of a communicator's ranks lie in shared memory, as rank 0 tells the others. Plain
// bytes.
struct AreaGrant {
  bool granted = false;      // false: shared memory has run out
  bool node_segment = true;  // which every member of the team has attached to
  bool fresh = false;
  bool touch = false;  // every rank touches its own area before any rank reads it
  uint32_t page = 0;
  uint32_t missing_types = 0;  // that rank 0's host lacks (types.h)
  uint64_t bytes_per_rank = 0;
  uint64_t identity = 0;    // of the communicator, in traces
  uint64_t service = 0;     // identity of what serves it (service.h)
  bool taken_over = false;  // that was parked; nothing else is then set
  shm::Segment::Location segment{};
};

// The ranks of a communicator as ranks of a group; empty where one is not in it. Any thread; no
// communication.
std::vector<int> places_in(MPI_Comm communicator, int ranks, MPI_Group group);
// True where all ranks of a communicator are in the group. Any thread; no communication.
bool all_within(MPI_Comm communicator, int ranks, MPI_Group group);
// Replaces a group by one of the same processes taken from another.
void rebase(MPI_Group* group, MPI_Group from);

// Zeroes what the protocol reads before it was written; slots need not be.
void clear_areas(std::byte* areas, const shm::Layout& layout);
// A page comes to the numa region of the thread that touches it first, and it is the owner of an
// area that writes there. The contents stay: a piece that was used before holds what its maker has
// put there.
void touch_area(std::byte* area, size_t bytes);

class Team {
 public:
  // Collective over MPI_COMM_WORLD. Null where this process has no team, the reason in *why_not.
  static std::unique_ptr<Team> form_of_world(std::string* why_not);
  // Collective over the communicator. Null at all ranks where they do not share a node (*why_not
  // stays empty) or its memory.
  static std::unique_ptr<Team> form_of_all(MPI_Comm communicator, int ranks, bool of_several_jobs,
                                           std::string* why_not);
  ~Team();
  Team(const Team&) = delete;

  int ranks() const { return ranks_; }
  // Random, the same at all members.
  uint64_t identity() const { return node_segment_->location().identity[0]; }
  bool of_several_jobs() const { return of_several_jobs_; }
  exec::WaitStyle wait_style() const { return wait_style_; }
  // Ranks of other nodes share the cores. Before the first communicator, by all members.
  void know_oversubscribed();
  // Of the cores that its ranks may run on; known where users' plans or tables are in use.
  const topo::Shape& shape() const { return shape_; }
  // What a communicator's ranks share, all of them members; the same at all of them.
  placement::Levels levels(MPI_Comm communicator, int ranks) const;
  exec::ProgressHook progress_hook();
  // How the ranks of a communicator that the team covers get at each other's buffers; no
  // communication.
  exec::Reach reach(MPI_Comm communicator, int ranks) const;
  // All members have mapped each other's heaps.
  bool direct() const { return !heaps_.empty(); }

  // A communicator's ranks as ranks of the team; empty where one is not in it.
  std::vector<int> members(MPI_Comm communicator, int ranks) const;
  // True where all members of a communicator's group are members of the team.
  bool covers(MPI_Comm communicator, int ranks) const;

  // MPI_COMM_WORLD ends, so nothing made from it may be used: the members are told by a session's
  // group, and waiting members drive the host no more.
  void leave_world(MPI_Group processes);

  // Takes a piece for a new communicator; for its rank 0. Never throws.
  AreaGrant grant_areas(int ranks);
  // The segment of a grant, which this process attaches to if it has not yet; null if it cannot.
  shm::Segment* segment(const AreaGrant& grant);

 private:
  Team() = default;
  void split(MPI_Comm communicator);
  bool share_segment(std::string* why_not);
  bool try_segment(shm::Segment::Kind kind, std::string* why_not);
  void agree_on_waiting();
  void agree_on_reach();
  void agree_on_levels(const std::vector<placement::CoreMask>& masks);
  std::optional<AreaGrant> take(shm::Segment& segment, int ranks, size_t share);

  int rank_ = 0;
  int ranks_ = 0;
  bool of_several_jobs_ = false;
  MPI_Comm private_communicator_{};
  MPI_Group group_{};
  exec::WaitStyle wait_style_ = exec::WaitStyle::spin;
  topo::Shape shape_;
  placement::Levels levels_;  // of the team's ranks
  std::unique_ptr<shm::Segment> node_segment_;
  bool several_regions_ = false;
  // By member; empty where not all members could. A member's own heap is not mapped again.
  std::vector<std::byte*> heaps_;
  std::vector<shm::PeerHeap> peers_;
  bool ordinary_ = false;           // and malloc takes from them, at all members
  std::vector<int64_t> processes_;  // whose memory process_vm_readv reads

  std::mutex mutex_;  // guards what follows; not held while communicating
  std::vector<std::unique_ptr<shm::Segment>>
      made_;  // further ones that this process made and takes from
  std::vector<std::unique_ptr<shm::Segment>> attached_;  // and those of others
  size_t further_bytes_ = 0;
};

}  // namespace tutti::mpi
