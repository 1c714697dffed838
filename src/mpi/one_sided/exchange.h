// Alltoalls between nodes whose parts servers exchange (group/exchange.h): one communicator's.
//
// The ranks tell each other where the parts lie that they send, by an alltoall of the host's of 8
// bytes. Then each rank gets its parts, the next rank's first, of which a fixed number are under
// way at once. It hands these transfers to the servers of its node (handing.h); those that no
// server gets, and parts on its own node, it executes itself. In the end all ranks tell each other
// that they have their parts, by a barrier of the host's. Parts that do not lie in the shared heap
// are copied there first, so that everybody reaches them.
//
// Operations advance in the order of their starts, at any rank's pace. The barriers come in that
// order, too, on a communicator of their own. The server of this process (mpi/job/servers.h) drives
// them, and so do the calls that wait for them. Any thread may call the functions.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "api/team.h"
#include "exec/lane.h"
#include "exec/watched_time.h"
#include "group/exchange.h"
#include "mpi/host/host.h"
#include "mpi/host/private_communicator.h"

namespace tutti::mpi {

class ServedExchange final : public group::Exchange {
 public:
  using Clock = exec::Lane::Clock;
  using Turn = exec::Lane::Turn;

  // Collective over the communicator, which spans nodes; of it this is `rank`. Null at all ranks if
  // servers are not asked for as threads, or if it cannot be made at some rank.
  static std::shared_ptr<group::Exchange> make(Comm over, int rank, int ranks,
                                               exec::WaitStyle style);
  ~ServedExchange() override;

  std::shared_ptr<exec::LaneOperation> start(const Call& call) override;
  void drive() override { drive_for_others(); }
  void wait(const exec::LaneOperation& operation) override;

  // For the server.
  Turn drive_for_others();
  bool is_idle() const { return shm::observe(moving_) == 0; }
  Clock::time_point next_look() const;

 private:
  struct Moving;
  ServedExchange(int rank, int ranks, exec::WaitStyle style)
      : rank_(rank), ranks_(ranks), style_(style), last_moved_(Clock::now()) {}
  bool advance(Moving& moving, bool may_end);
  bool test(Moving& moving);
  void get(Moving& moving, int distance);
  bool has_arrived(Moving& moving, int distance);
  void look_for_stall();
  std::string describe(const Moving& moving) const;

  const int rank_, ranks_;
  const exec::WaitStyle style_;
  PrivateCommunicator addresses_, ends_;
  std::unique_ptr<tutti_group> group_;
  shm::Word moving_{0};  // operations under way
  std::atomic<Clock::time_point> last_moved_;

  std::mutex mutex_;                              // guards all below
  std::list<std::shared_ptr<Moving>> under_way_;  // the oldest first
  exec::WatchedTime watched_;
};

}  // namespace tutti::mpi
