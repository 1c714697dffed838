// A team: processes that share this node's memory, and what they agreed on.
//
// The world's team is the ranks of MPI_COMM_WORLD on this node. It is formed inside MPI_Init and
// lives until the registry closes. A communicator whose ranks have no MPI_COMM_WORLD in common (of
// a session, or with spawned processes) forms a team of all its ranks inside its first collectives.
// Later communicators whose ranks are all members share that team, which ends with the last of
// them.
//
// A team is formed by collective calls. Once its members have attached to the node's segment, they
// agree on everything else there. A team owns a pending receive (about which waiting ranks ask, so
// that the host MPI makes progress), the node's segment, further segments, and the mappings of the
// other members' heaps. Only the list of further segments, the arena and the directory change
// later, under locks (apart from know_oversubscribed and leave_world). Every member has the same
// facts, so decisions from them are the same everywhere.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "records/arena.h"
#include "records/directory.h"
#include "mpi/job/announcements.h"
#include "mpi/job/introduction.h"
#include "exec/executor.h"
#include "exec/reach.h"
#include "placement/cores.h"
#include "mpi/host/host.h"
#include "mpi/host/pending_receive.h"
#include "shm/heap.h"
#include "shm/layout.h"
#include "shm/segment.h"
#include "placement/levels.h"
#include "report/board.h"
#include "topo/shape.h"

namespace tutti::mpi {

// The ranks of a communicator as ranks of a group; empty if one of them is not in the group. Any
// thread; no communication.
std::vector<int> places_in(Comm communicator, int ranks, Group group);
// True if all ranks of a communicator are in the group. Any thread; no communication.
bool all_within(Comm communicator, int ranks, Group group);
// Replaces *group by a subgroup of `from` with the same processes in the same order. Processes that
// are not in `from` are left out.
void rebase(Group* group, Group from);

// Zeroes all of the areas except the slots, which no rank reads before they are written.
void clear_areas(std::byte* areas, const shm::Layout& layout);
// Touches every page of an area, so that new pages are allocated on the numa region of the calling
// rank. The rank that owns the area calls it, because it writes there. The contents do not change:
// if the memory was used before, rank 0 has already zeroed the areas.
void touch_area(std::byte* area, size_t bytes);

class Team {
 public:
  // Collective over MPI_COMM_WORLD. Null if this process gets no team; *why_not is then the reason.
  // `one_node`: all ranks were told that they are on one node.
  static std::unique_ptr<Team> form_of_world(bool one_node, std::string* why_not);
  // Collective over the communicator. Null at all ranks if they are on several nodes (*why_not then
  // stays empty) or cannot share memory.
  static std::unique_ptr<Team> form_of_all(Comm communicator, int ranks, bool of_several_jobs,
                                           std::string* why_not);
  ~Team();
  Team(const Team&) = delete;

  int ranks() const { return ranks_; }
  int rank() const { return rank_; }
  // Random, the same at all members.
  uint64_t identity() const { return node_segment_->location().identity[0]; }
  bool of_several_jobs() const { return of_several_jobs_; }
  // All members are of MPI_COMM_WORLD.
  bool of_world() const { return of_world_; }
  exec::WaitStyle wait_style() const { return wait_style_; }
  // All members call it before the first communicator sets up, if ranks outnumber the machine's
  // cores. Waits then yield unless TUTTI_WAIT sets their style.
  void know_oversubscribed();
  // The shape of the cores that the members may run on; empty without plans and a table of the
  // user's.
  const topo::Shape& shape() const { return shape_; }
  // The levels that a communicator's ranks share, the same at all of them; one level if a rank is
  // no member. No communication.
  placement::Levels levels(Comm communicator, int ranks) const;
  // Refers to the team.
  exec::ProgressHook progress_hook();
  // How the ranks of a communicator reach each other's buffers; only by the slots if a rank is no
  // member. No communication.
  exec::Reach reach(Comm communicator, int ranks) const;
  exec::Reach reach(const std::vector<int>& members) const;
  // The memory of a member, for one-sided transfers.
  struct Memory {
    std::byte* mapped = nullptr;  // where its heap is mapped here; null: it is not
    uint64_t heap = 0;            // where its heap is there
    uint64_t bytes = 0;           // bytes of the heap
    int64_t process = 0;          // 0: this process does not know its number
    // The place from which others map the heap; `bytes` is 0: it is not mapped.
    shm::Heap::Location location{};
  };
  std::vector<Memory> memories() const;
  // The processors on which each member may run.
  const std::vector<placement::CoreMask>& cores() const { return cores_; }
  // Words in the node's segment for whatever members find there first, zero at first; null: none.
  // A claim and a page, for the queues of one-sided transfers.
  struct NodeWords {
    shm::Word claimed;
    shm::Word page;
  };
  NodeWords* node_words() const {
    return pages_ == nullptr ? nullptr : reinterpret_cast<NodeWords*>(pages_ + ranks_);
  }
  // The board on which members leave their numbers for the report; none without TUTTI_REPORT, or if
  // arenas cannot grow.
  std::optional<report::Board> board() const;
  shm::Segment& node_segment() { return *node_segment_; }
  // Returns the number in the team of each rank of a communicator; -1: it is no member. No
  // communication.
  std::vector<int> members_among(Comm communicator, int ranks) const;

  // True if all members have mapped each other's heaps.
  bool direct() const { return !heaps_.empty(); }

  // A communicator's ranks as ranks of the team; empty if one of them is no member.
  std::vector<int> members(Comm communicator, int ranks) const;
  // True if all ranks of a communicator are members.
  bool covers(Comm communicator, int ranks) const;

  // MPI_COMM_WORLD ends, so nothing that was made from it may be used any more. The team now holds
  // its members as a subgroup of `processes`, a session's group, and waiting members no longer
  // drive the host.
  void leave_world(Group processes);

  // Takes a piece of shared memory for a new communicator of this many ranks, whose rank 0 calls
  // it. The result is not `granted` if shared memory has run out. Throws no Error.
  AreaGrant grant_areas(int ranks);
  // The memory of this process for the data of operations that outlive their call. Made at the
  // first call; lives as long as the team. Any thread.
  records::Arena& arena();
  // The directory in which members find by keys what others have in their arenas; null if arenas
  // cannot grow. Made at the first call; lives as long as the team. Any thread.
  records::Directory* directory();
  // The announcements by which rank 0 of a communicator tells the others its grant; null if there
  // is no directory. Made at the first call; lives as long as the team. Any thread.
  Announcements* announcements();
  // The segment of a grant. This process attaches to it if it has not yet; null if it cannot.
  shm::Segment* segment(const AreaGrant& grant);

 private:
  Team() = default;
  void enter(PrivateCommunicator own, Comm members);
  bool share_segment(Comm members, std::string* why_not);
  bool try_segment(Comm members, shm::Segment::Kind kind, std::string* why_not);
  bool all_attached(Comm members);
  void await(const std::function<bool()>& is_here);
  void introduce();
  void meet();
  void agree(Comm members);
  void learn_waiting(std::vector<placement::CoreMask> masks);
  void try_reach();
  void settle_reach();
  void watch_cores() const;
  size_t share_of(int ranks) const;
  std::optional<AreaGrant> take(shm::Segment& segment, int ranks, size_t share);

  int rank_ = 0;
  int ranks_ = 0;
  bool of_several_jobs_ = false;
  bool of_world_ = false;
  PendingReceive pending_;  // waiting ranks make the host progress by it
  Group group_ = host().group_null;
  exec::WaitStyle wait_style_ = exec::WaitStyle::spin;
  topo::Shape shape_;
  placement::Levels levels_;  // the levels of the team's ranks
  std::unique_ptr<shm::Segment> node_segment_;
  Introduction* introductions_ = nullptr;      // indexed by member
  records::Directory::Page* pages_ = nullptr;  // the pages of the members' directories; null: none
  bool several_regions_ = false;               // members may run on several numa regions
  // Indexed by member: the address at which its heap is mapped here; for this member, its heap's
  // own address. Empty unless all members have mapped all heaps.
  std::vector<std::byte*> heaps_;
  std::vector<shm::PeerHeap> peers_;
  std::vector<Memory> told_;  // indexed by member: its heap and process; `mapped` is not set
  std::vector<placement::CoreMask> cores_;
  bool ordinary_ = false;  // heaps_ is not empty, and malloc takes from the heaps at all members
  // Indexed by member: the process whose memory process_vm_readv reads; empty if it may not
  // everywhere.
  std::vector<int64_t> processes_;
  // Indexed by member: the file of its memory, or -1; if there are processes_. Closed by the
  // destructor.
  std::vector<int> memories_;

  std::mutex mutex_;  // guards all below; not held while communicating
  std::vector<std::unique_ptr<shm::Segment>> made_;      // further segments of this process
  std::vector<std::unique_ptr<shm::Segment>> attached_;  // further segments of other members
  size_t further_bytes_ = 0;                             // bytes of made_
  std::unique_ptr<records::Arena> arena_;  // may take memory from node_segment_, so ends before it
  std::unique_ptr<records::Directory> directory_;  // uses the arena
  std::unique_ptr<Announcements> announcements_;   // uses it
  // The same two, once they are made, without the lock.
  std::atomic<records::Directory*> made_directory_{nullptr};
  std::atomic<Announcements*> made_announcements_{nullptr};
};

}  // namespace tutti::mpi
