// A persistent collective is an operation that MPI_Bcast_init or a similar function makes. A
// Persistent is one rank's part of a persistent collective that Tutti serves.
//
// A collective call makes a Persistent. In this call the ranks tell each other what they give, and
// get shared memory for it (group/deposits.h). Each rank derives once, from the collective's
// definition (plan/collective.h), what it does in every round: which of its blocks it deposits, and
// from which blocks of which ranks it copies or combines each block of its result, in rank order. A
// start waits for no other rank. A completion waits until all ranks have started, and for nothing
// that they do later. So no order of other calls between start and completion can hang a program
// that is correct by MPI's rules.
//
// The Persistent lives from this call until the program frees its request. One thread at a time may
// use it, as MPI requires for a request.
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
#include "mpi/requests/own_request.h"
#include "trace/tracer.h"

namespace tutti::mpi {

using group::Deposits;

// Makes a persistent request, by Tutti or by the host, at all ranks alike. Collective; returns an
// MPI error code.
int persistent_init(const Call& call, MPI_Comm comm, MPI_Info info, MPI_Request* request);

class Persistent final : public OwnRequest {
 public:
  // The name of these operations in reports and traces, in the place of an algorithm.
  static constexpr std::string_view deposits_name = "deposits";

  // Collective. Returns null with *reason, at all ranks alike, if the host must make the request.
  // Returns null with the error in *code, which has been raised, if making it failed. Throws Error,
  // at all ranks alike, if the group has no program for the exchange; the host must then make the
  // request, too.
  static std::unique_ptr<Persistent> make(Communicator& communicator, const Call& call,
                                          Reason* reason, int* code);
  // If a round is pending, its deposits are never freed, because other ranks may still read them.
  ~Persistent();
  // Gives the object a handle, by which the program then knows it, and destroys it if there is
  // none. Returns an MPI error code. The object otherwise lives until it is destroyed by the
  // program's MPI_Request_free (requests.h).
  static int hand_over(std::unique_ptr<Persistent> made, MPI_Request* request);

  int start() override {
    return guarded(communicator_, [&] { return start_round(); });
  }
  bool is_ready() override;
  int complete() override {
    const int code = guarded(communicator_, [&] { return complete_round(); });
    state_ = State::taken;
    return code;
  }
  bool tell() noexcept override {
    state_ = State::idle;
    return false;
  }
  int raise_error(const char* what, int code) override { return fail(what, code); }
  void drive_host() override;

 private:
  // A run of elements in the user's memory.
  struct Part {
    void* at = nullptr;
    size_t count = 0;
    MPI_Datatype type{};
    size_t bytes = 0;  // of the signature
    bool dense = true;
  };
  // A block of this rank's result, and the ranks whose blocks it is made from.
  struct Result {
    Part part;
    plan::RankRange from;
    size_t block = 0;  // the index of the block that each of them gives
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
  // The index of the first wait among the steps of a round (persistent_tracing.cpp).
  int first_wait() const { return given_.empty() ? 2 : 3; }
  MPI_Datatype keep(MPI_Datatype type);
  int start_round();
  int complete_round();
  int wait_for(int rank);
  int take(std::optional<trace::Recorder>& recorder);
  int take_result(const Result& result);
  void say_late(int64_t seconds, int rank) const;
  int fail(const char* what, int code) const;

  const MPI_Comm communicator_;
  const std::weak_ptr<Team> team_;  // weak, because a request must not keep the team alive
  const exec::WaitStyle style_;
  const plan::Collective collective_;
  const int root_;
  const int rank_, ranks_;
  std::vector<Part> given_;
  std::vector<Part> wanted_;
  std::vector<Result> results_;
  std::vector<MPI_Datatype> kept_types_;  // copies of types that the program may free
  exec::Combine combine_;
  std::unique_ptr<HostReduction> host_op_;
  std::unique_ptr<Deposits> deposits_;
  std::vector<std::byte> packed_;
  std::vector<const void*> sources_;
  uint64_t round_ = 0;
  exec::SlotStores stores_{group::store_policy(options().stores)};  // for long copies into deposits
  size_t part_bytes_ = 0;              // the longest part of all ranks, for the report and traces
  std::chrono::nanoseconds spent_{0};  // on the start of this round, for the report

  // For traces: the numbers that were noted when the request was made, and the times of the round's
  // start.
  struct Traced {
    uint32_t program = 0, communicator = 0;
    uint64_t number = 0;
    uint64_t entry = 0, deposited = 0, published = 0;
  } traced_;
};

}  // namespace tutti::mpi
