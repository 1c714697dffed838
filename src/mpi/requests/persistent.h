// Persistent collectives: what MPI_Bcast_init and its like make.
//
// A Persistent is made by a collective call, in which the ranks tell each other what they give and
// get memory for it (group/deposits.h). What a rank does in each round is read off the collective's
// definition (plan/collective.h) once, and kept: which of its blocks it deposits, and which blocks
// of whom each block of its result is copied or combined from, in rank order. To start waits for
// nobody; to complete waits until all ranks have started, never for what they do later. So no order
// of other calls between start and completion can hang a program that MPI calls correct.
//
// The program holds a request of the host's, which names a Persistent in the table of requests.h.
// One thread at a time may use a Persistent, as MPI demands of a request.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "exec/executor.h"
#include "group/deposits.h"
#include "mpi/abi/host_op.h"
#include "mpi/collectives/serve.h"
#include "mpi/job/thrown.h"
#include "trace/tracer.h"

namespace tutti::mpi {

using group::Deposits;

// The call of a function that makes a request: by Tutti, or by the host at all ranks alike.
// Collective.
int persistent_init(const Call& call, MPI_Comm comm, MPI_Info info, MPI_Request* request);

class Persistent {
 public:
  // What reports and traces call them, in the place of a plan's algorithm.
  static constexpr std::string_view deposits_name = "deposits";

  // Collective; null, and *reason, where the host must make it, at all ranks alike. A failure is
  // raised: *code.
  static std::unique_ptr<Persistent> make(Communicator& communicator, const Call& call,
                                          Reason* reason, int* code);
  ~Persistent();

  // The next round; returns at once.
  int start() {
    return guarded(communicator_, [&] { return start_round(); });
  }
  // How far the round is. Taken: the results are there, and the program has not been told. Shown:
  // the host will tell it (requests.h), so to Tutti it is as if idle.
  enum class State : uint8_t { idle, pending, taken, shown };
  State state() const { return state_; }
  void set_idle() { state_ = State::idle; }
  // Starts the program's request in the host, so that the host finds it complete.
  int show(MPI_Request request);
  // The communicator that this request's handle is of.
  MPI_Comm loopback() const { return loopback_->handle; }
  bool all_started() const;
  // Waits until all have started, then takes the results.
  int complete() {
    return guarded(communicator_, [&] { return complete_round(); });
  }
  // Now and then while others are late: the host's messages must go on.
  void drive_host();

 private:
  // A run of elements in the user's memory.
  struct Part {
    void* at = nullptr;
    size_t count = 0;
    MPI_Datatype type{};
    size_t bytes = 0;  // of the signature
    bool dense = true;
  };
  // A block of this rank's result, and whose blocks make it.
  struct Result {
    Part part;
    plan::RankRange from;
    size_t block = 0;  // of theirs
  };

  Persistent(Communicator& communicator, const Call& call);
  bool agree(Communicator& communicator, const Deposits::Announced& own,
             const std::vector<Deposits::Announced>& all, Reason* reason, int* code);
  Reason describe_buffers(Communicator& communicator, const Call& call);
  bool describe(const Side& side, bool parted, const Call& call, std::vector<Part>& parts);
  Reason choose_combine(Communicator& communicator, const Call& call);
  void link();
  void describe_for_traces(const Communicator& communicator, uint64_t number);
  void record_start(std::optional<trace::Recorder>& recorder) const;
  void record_wait(trace::Recorder& recorder, int rank) const;
  void record_result(trace::Recorder& recorder, size_t result) const;
  void record_exit(trace::Recorder& recorder) const;
  static plan::StepKind kind_of(const Result& result);
  int first_wait() const { return given_.empty() ? 2 : 3; }  // among the steps
  MPI_Datatype keep(MPI_Datatype type);
  int start_round();
  int complete_round();
  int wait_for(int rank);
  int take(std::optional<trace::Recorder>& recorder);
  int take_result(const Result& result);
  void say_late(int64_t seconds, int rank) const;
  int fail(const char* what, int code) const;

  const MPI_Comm communicator_;
  const std::weak_ptr<Team> team_;  // whose end must not wait for requests
  const exec::WaitStyle style_;
  const plan::Collective collective_;
  const int root_;
  const int rank_, ranks_;
  std::vector<Part> given_;
  std::vector<Part> wanted_;
  std::vector<Result> results_;
  std::vector<MPI_Datatype> kept_types_;  // copies of the program's, which it may free
  exec::Combine combine_;
  std::unique_ptr<HostReduction> host_op_;
  std::unique_ptr<Deposits> deposits_;
  std::vector<std::byte> packed_;
  std::vector<const void*> sources_;
  uint64_t round_ = 0;
  exec::SlotStores stores_{group::store_policy(options().stores)};  // into deposits
  State state_ = State::idle;
  std::shared_ptr<Loopback> loopback_;
  size_t part_bytes_ = 0;              // the longest part of all ranks, for the report and traces
  std::chrono::nanoseconds spent_{0};  // of the round so far, for the report

  // For traces: what was noted when the request was made, and when the round's start began and
  // ended.
  struct Traced {
    uint32_t program = 0, communicator = 0;
    uint64_t number = 0;
    uint64_t entry = 0, deposited = 0, published = 0;
  } traced_;
};

}  // namespace tutti::mpi
