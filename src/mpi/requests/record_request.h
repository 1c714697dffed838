// A request whose operations run by records (records/operation.h): a non-blocking collective
// (nonblocking.h) or a persistent one (persistent.h), of all ranks of a communicator or among
// neighbours. A RecordRequest is one rank's part of it.
//
// A start publishes a record of what this rank gives, and waits for nothing. The completion waits
// until the other ranks whose data is needed have started, and takes the results from their
// records. So no order of other calls between the two can hang a program that is correct by MPI's
// rules (docs/decisions/records.md). A completion that needs no data of others, as at the
// root of a bcast, waits as well if other ranks lag far behind, so that a root cannot fill the
// memory. A rank whose long data the others read in its buffer waits a little until they have read
// it, then copies what is left for those that come later.
//
// The communicator may end before the operation; its service does not. One thread at a time uses
// the object.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "records/operation.h"
#include "mpi/communicators/neighbour_records.h"
#include "mpi/communicators/service.h"
#include "mpi/requests/call_buffers.h"
#include "mpi/requests/own_request.h"
#include "mpi/requests/record_trace.h"

namespace tutti::mpi {

class RecordRequest : public OwnRequest, private records::Waits {
 public:
  // The names of these operations in reports and traces, in the place of an algorithm.
  static constexpr std::string_view records_name = "records", neighbours_name = "neighbours";

  // The forms of collectives, for messages.
  static constexpr std::string_view blocking = "blocking", nonblocking = "non-blocking",
                                    persistent = "persistent";

  bool is_ready() override;
  int complete() override;
  Comm communicator() const override;
  void note_late() override;
  void drive_host() override;

 protected:
  explicit RecordRequest(std::string_view form) : form_(form) {}
  ~RecordRequest() = default;

  // Takes over the arguments of a call on a communicator that serves it. Returns Reason::none, or
  // why the host must make the call; then nothing is taken over. May throw.
  Reason describe(Communicator& communicator, const Call& call);
  // The same for a call among neighbours of a communicator with a topology.
  Reason describe(Communicator& communicator, const Call& call, const records::Neighbourhood& own);
  // Makes `program` that of the operation, on a sequence. Both outlive this object's operations.
  void use(const plan::RecordProgram& program, records::Sequence& sequence);
  // The same for a call among neighbours.
  void use(std::shared_ptr<NeighbourRecords> neighbours);
  // For a call that is like the last one that was described and used (call_memo.h): what was taken
  // over then is valid again, apart from the addresses of the buffers.
  void use_again(Service& service, const std::byte* in, std::byte* out) {
    service_ = &service;
    operation_.in = in;
    operation_.out = out;
  }
  // The same for a call among neighbours, after the former.
  void use_again(std::shared_ptr<NeighbourRecords> neighbours) {
    neighbours_ = std::move(neighbours);
  }
  // Holds the types of the call again. Throws bad_alloc.
  void hold_again() { buffers_.hold_again(); }
  // Publishes the operation's record, by the call that was described. Returns an MPI error code,
  // which has been raised. The operation is pending afterwards, unless memory lacks.
  int begin(exec::SlotStores& stores);
  [[gnu::cold]] bool starts_later(exec::SlotStores& stores, int* packing);
  // Memory lacks for the operation: logs the error and raises it.
  int raise_lack_of_memory(const Error& error);
  // The operation has ended, and its results have been taken.
  virtual void ended() noexcept = 0;
  // The number of the operation in traces, unique among those of its communicator.
  virtual uint64_t traced_number() const = 0;

  // Lets the call's handles and the communicator go, until another call is described.
  void forget() noexcept {
    buffers_.release();
    neighbours_.reset();
    service_ = nullptr;
  }
  void set_form(std::string_view form) { form_ = form; }

  Records& records() { return *records_; }
  records::Sequence& sequence() { return *sequence_; }
  const records::Operation& operation() const { return operation_; }
  const CallBuffers& buffers() const { return buffers_; }
  bool is_among_neighbours() const { return neighbours_ != nullptr; }
  std::string described() const;

 private:
  template <class Describe>
  Reason take_over(Communicator& communicator, const Call& call, Describe describe);
  records::Outcome take_results();
  records::Outcome take_and_end();
  void take_early();
  bool is_returned();
  void get_buffer_back();
  bool await_ranks();
  Code wait(int rank, const shm::Word& word, uint64_t value) override;
  bool wait(int late, size_t seen);
  bool is_far_ahead() const;
  int late_rank();
  void say_late(int rank, const char* what) const;
  bool complete_quickly() noexcept;
  void note_end();
  int finish(const records::Outcome& outcome);

  std::string_view form_;
  Comm communicator_{};         // on which the call was made
  uint64_t use_ = 0;            // the number of this communicator's use of the service
  Service* service_ = nullptr;  // the service of the communicator; null: no call
  Records* records_ = nullptr;
  std::shared_ptr<NeighbourRecords> neighbours_;  // null unless the call is among neighbours
  bool is_whole_ = true;                          // false: the program only starts the operation
  bool awaits_readers_ = true;                    // a completion waits for all readers
  records::Sequence* sequence_ = nullptr;
  CallBuffers buffers_;
  records::Operation operation_;
  plan::Collective collective_{};
  uint32_t traced_as_ = 0;  // the number of the communicator in traces
  // The results of tests since the start.
  struct Tests {
    uint32_t late = 0;          // so many found that a rank was late
    exec::WatchedTime watched;  // the time since the first of them
    bool is_gone = false;       // the process of that rank has ended
  } tests_;
  std::chrono::steady_clock::time_point next_look_;
  std::vector<std::byte> scratch_;
  // The results of an operation that has lent its buffer, once they are taken, and the time of
  // that.
  std::optional<records::Outcome> early_;
  std::chrono::steady_clock::time_point taken_at_;
  size_t bytes_ = 0;                    // bytes of one part, for the report and traces
  Stopwatch since_{false};              // the start or the completion began, for the report
  TimeSpent spent_;                     // on both
  std::unique_ptr<RecordTrace> trace_;  // null unless steps are recorded
};

}  // namespace tutti::mpi
