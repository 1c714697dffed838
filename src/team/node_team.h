// A team: processes that share this node's memory, and what they agreed on.
//
// A team is formed by a Bootstrap. Once its members have attached to the node's segment, they agree
// on everything else there. A team owns the node's segment, further segments, and the mappings of
// the other members' heaps. Only the list of further segments, the arena and the directory change
// later, under locks (apart from know_oversubscribed). Every member has the same facts, so
// decisions from them are the same everywhere.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exec/executor.h"
#include "exec/reach.h"
#include "placement/cores.h"
#include "placement/levels.h"
#include "records/arena.h"
#include "records/directory.h"
#include "report/board.h"
#include "shm/layout.h"
#include "shm/segment.h"
#include "team/announcements.h"
#include "team/area_pool.h"
#include "team/bootstrap.h"
#include "team/introduction.h"
#include "team/member_memory.h"
#include "topo/shape.h"

namespace tutti::team {

class NodeTeam {
 public:
  struct Settings {
    exec::ProgressHook hook;     // the work that a member does for others while it waits
    uint32_t missing_types = 0;  // the types that this process cannot reduce (mpi/host/types.h)
    int reported_as = 0;         // how a report names this process
    // Says whether rules ask for copies by the system; none: they do not. Asked by members alone,
    // because the answer may need a table to be read.
    std::function<exec::SystemCopies()> system_copies;
    bool needs_shape = false;  // a table of the user's may ask for the shape of the cores
    // Waits for other members end then, with Error(dead_peer).
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  };

  explicit NodeTeam(Settings settings) : settings_(std::move(settings)) {}
  NodeTeam(const NodeTeam&) = delete;
  ~NodeTeam();

  // Collective over the ranks of the bootstrap, which are the members from then on. Returns false
  // at all ranks if they cannot share memory; *why_not is then the reason, and the object may try
  // again with other ranks.
  bool form(Bootstrap& bootstrap, std::string* why_not);

  // Returns when all members have called it as often as this one.
  void meet();

  // True if a member has ended its NodeTeam. Its earlier stores are then visible.
  bool has_left(int member) const { return shm::observe(introductions_[member].left) != 0; }

  int ranks() const { return ranks_; }
  int rank() const { return rank_; }
  // Random, the same at all members.
  uint64_t identity() const { return node_segment_->location().identity[0]; }
  exec::WaitStyle wait_style() const { return wait_style_; }
  // All members call it before the first communicator sets up, if ranks outnumber the machine's
  // cores. Waits then yield unless TUTTI_WAIT sets their style.
  void know_oversubscribed();
  // From now on, waits of this process sleep (exec/idle.h), as long as the team is there.
  void sleep_when_idle(std::chrono::microseconds longest_sleep);
  // The shape of the cores that the members may run on; empty if it is not needed.
  const topo::Shape& shape() const { return shape_; }
  // The levels that the members share, the same at all of them.
  const placement::Levels& levels() const { return levels_; }
  const exec::ProgressHook& progress_hook() const { return settings_.hook; }
  const MemberMemory& memory() const { return memory_; }
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
  // The memory of communicators.
  AreaPool& areas() { return *areas_; }

  // The memory of this process for the data of operations that outlive their call. Made at the
  // first call; lives as long as the team. Any thread.
  records::Arena& arena();
  // The directory in which members find by keys what others have in their arenas; null if arenas
  // cannot grow. Made at the first call; lives as long as the team. Any thread.
  records::Directory* directory();
  // The announcements by which rank 0 of a communicator tells the others its grant; null if there
  // is no directory. Made at the first call; lives as long as the team. Any thread.
  Announcements* announcements();

 private:
  bool share_segment(Bootstrap& bootstrap, shm::Segment::Kind kind, std::string* why_not);
  bool all_attached(Bootstrap& bootstrap);
  void await(const std::function<bool()>& is_here) const;
  void introduce();
  void agree();
  void learn_cores(std::vector<placement::CoreMask> masks);
  void learn_shape(const topo::Shape& shape);
  void watch_cores() const;
  char* text_of_levels() const;
  std::span<Introduction> introductions() const {
    return {introductions_, static_cast<size_t>(ranks_)};
  }

  const Settings settings_;
  int rank_ = 0;
  int ranks_ = 0;
  exec::WaitStyle wait_style_ = exec::WaitStyle::spin;
  bool sleeps_when_idle_ = false;
  topo::Shape shape_;
  placement::Levels levels_;
  std::unique_ptr<shm::Segment> node_segment_;
  Introduction* introductions_ = nullptr;      // indexed by member
  records::Directory::Page* pages_ = nullptr;  // the pages of the members' directories; null: none
  std::vector<placement::CoreMask> cores_;
  MemberMemory memory_;
  std::optional<AreaPool> areas_;

  std::mutex mutex_;                       // guards all below
  std::unique_ptr<records::Arena> arena_;  // may take memory from node_segment_, so ends before it
  std::unique_ptr<records::Directory> directory_;  // uses the arena
  std::unique_ptr<Announcements> announcements_;   // uses it
  // The same two, once they are made, without the lock.
  std::atomic<records::Directory*> made_directory_{nullptr};
  std::atomic<Announcements*> made_announcements_{nullptr};
};

}  // namespace tutti::team
