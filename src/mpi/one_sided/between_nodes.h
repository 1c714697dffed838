// A group's transfers between ranks of different nodes: messages of the host's, on a communicator
// of Tutti's own (rma/pieces.h). Each rank asks (rma/asking.h) and answers (rma/answering.h).
//
// Somebody must drive a rank's side: the server of its process (mpi/job/servers.h) if there is one
// and servers are enabled on the node, and always the rank's own calls that wait in Tutti, for
// whichever group. Without a server a rank answers only inside such calls. One thread at a time
// drives; any thread may try.
//
// Where the node's servers have endpoints (endpoints.h), a rank hands transfers to them
// (rma/handing.h), which then go between servers. The rank starts all others itself, as above.
//
// A rank's side ends when all ranks of the group have left it, because others may still ask this
// one. A rank leaves when it frees its group, or in MPI_Finalize, which waits for the end.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "exec/lane.h"
#include "exec/waiter.h"
#include "mpi/host/host.h"
#include "mpi/host/private_communicator.h"
#include "mpi/one_sided/host_wire.h"
#include "report/tally.h"
#include "rma/answering.h"
#include "rma/asking.h"
#include "rma/far_ranks.h"
#include "rma/handing.h"

namespace tutti::mpi {

// Drives the sides of all groups of this process, in a call of the program's. Waits for nothing.
// True if something has moved.
bool drive_between_nodes();

// The words that the processes of this node have written for its servers (rma/domain.h). The words
// outlive the objects here.
struct ServersTold {
  const shm::Word* enabled = nullptr;  // 0: they leave transfers to the ranks
  const shm::Word* awake = nullptr;    // not 0: they look often
};

// The window of bytes under way to one rank. A map, or the user, says how many it has; else it
// grows.
rma::Window window_to_rank();

// This process's shared heap; empty if it has none.
rma::Extent own_heap();
// The memory of this process that it reaches when it answers requests, whose addresses may be
// wrong: the heap, and memory outside it by the system's copies, which find out whether it exists.
rma::Peer own_memory_of_answers();

class BetweenNodes final : public rma::FarRanks {
 public:
  using Clock = exec::Lane::Clock;
  using Turn = exec::Lane::Turn;

  struct Settings {
    size_t most = 0;  // transfers that may be outstanding
    exec::WaitStyle style{};
    ServersTold told;
    // Null: no server gets a transfer. `in_world`: the group's ranks as ranks of MPI_COMM_WORLD.
    std::unique_ptr<rma::Handing> handing;
    std::vector<int> in_world;
  };
  // Collective over the communicator of a group. `find_settings` is called once, if the host makes
  // a communicator. Throws at all ranks or at none.
  static std::shared_ptr<BetweenNodes> make(Comm over,
                                            const std::function<Settings()>& find_settings);
  // Use make().
  BetweenNodes(PrivateCommunicator communicator, Settings settings);
  ~BetweenNodes() override;

  uint64_t start(const rma::Transfer& transfer, int rank, rma::Outcome* outcome) override;
  rma::Extent heap(int rank) const override { return heaps_[static_cast<size_t>(rank)]; }
  bool is_outstanding(uint64_t number) override;
  bool test(uint64_t number, rma::Outcome* outcome) override;
  rma::Outcome wait(uint64_t number) override;
  rma::Outcome wait_for_all() override;
  rma::Outcome wait_for_signal(const shm::Word& signal, uint64_t least) override;
  void drive() override { drive_between_nodes(); }
  size_t most_outstanding() const override { return settings_.most; }

  // For a call of the program's: sends, receives and answers what it can, unless another thread
  // does. Waits for nothing. True if something has moved.
  bool take_turn();

  // This rank starts no further transfers, and has none outstanding. Waits for nothing.
  void leave();
  // True if all ranks have left, and nothing is under way here.
  bool has_ended() const { return shm::observe(ended_) != 0; }
  void wait_for_end();
  // Frees the communicator. After the end, in a call of the program's.
  void release();

  // The same for the server, which leaves the side alone while a rank waits inside a call that
  // drives it, and while servers are disabled.
  Turn drive_for_others();
  bool is_idle() const { return has_ended(); }
  Clock::time_point next_look() const {
    return Clock::time_point(std::chrono::nanoseconds(shm::load_relaxed(next_look_)));
  }
  // Has the server look now, because it was told something.
  void wake_server();
  // Adds what this side has done so far.
  void add_to(report::TransfersBetweenNodes& sum);

 private:
  std::string describe(uint64_t number);
  // These hold mutex_.
  void ask_for_look(Clock::time_point time);
  bool plan_look();
  bool drive_all(uint64_t* answered);
  bool drive_end();
  bool take_signals_back() noexcept;
  bool is_complete(uint64_t number, bool closely, rma::Outcome* outcome);
  bool finish_handed(uint64_t number, bool closely, rma::Outcome* outcome);
  bool execute(uint64_t number) noexcept;
  void require_heap(const rma::Transfer& transfer, int rank) const;
  // Calls done(closely), and describe() for the purpose of the wait.
  template <class Done, class Describe>
  void wait_until(Done done, Describe describe);

  std::vector<rma::Extent> heaps_;  // indexed by rank; make() fills it
  const Settings settings_;
  const int64_t made_by_;  // the process; a forked child must not call MPI

  shm::Word helpers_{0};    // threads that wait, and drive again and again
  shm::Word next_look_{0};  // nanoseconds of Clock
  shm::Word ended_{0};

  std::mutex mutex_;  // guards all below
  PrivateCommunicator communicator_;
  HostWire wire_;
  rma::Asking asking_;
  rma::Answering answering_;
  bool leaves_ = false;
  Request all_have_left_{};
  Clock::time_point last_moved_;
  report::TransfersBetweenNodes done_;
  // Transfers that servers had and that this rank executes, indexed by number: their numbers in
  // asking_.
  std::map<uint64_t, uint64_t> executed_;
  // Puts that signal and that servers have, indexed by number. State::own: no server executes it,
  // and memory had run out when this rank was to do so.
  std::map<uint64_t, rma::Handing::State> signals_;
  uint64_t last_signal_ = 0;  // the number at which take_signals_back() has looked last
  // Says which looks of many, each of which costs little, are close ones, which call the system.
  struct CloseLooks {
    bool is_due();
    uint64_t looks = 0;
    Clock::time_point next{};
  };
  CloseLooks of_tests_, of_signals_;
};

// Has the server of this process look at once, because the node's servers were told something.
void wake_servers_between_nodes();
// Tells the report what the sides of this process have done, those that have ended included, and
// adds it to what its endpoints have done.
void record_between_nodes(report::TransfersBetweenNodes sum);
// For MPI_Finalize: leaves all groups, and returns when all other ranks have left them.
void end_between_nodes();
// For a forked child.
void forget_between_nodes();

}  // namespace tutti::mpi
