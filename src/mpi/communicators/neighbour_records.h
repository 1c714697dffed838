// The records of neighbourhood collectives: a private sequence (records/private_sequence.h) whose
// records only a rank's neighbours read, and the programs by which these collectives run.
//
// A communicator with a topology has one for its blocking and non-blocking neighbourhood
// collectives, and each persistent one has its own. A rank knows its own edges and no others. So it
// tells its edges in the note of the private sequence, and reads those of its sources when it first
// completes an operation. No rank waits for another before that, and a rank's memory depends on its
// neighbours alone.
//
// The communicator and its operations under way share the object. Any thread may use it as it may
// use a sequence. The service outlives it.
#pragma once

#include <array>
#include <memory>
#include <mutex>

#include "records/neighbours.h"
#include "mpi/communicators/records.h"

namespace tutti::mpi {

class NeighbourRecords {
 public:
  // Opens the private sequence; `call` as in records::PrivateSequence::Settings. May throw, and has
  // then opened nothing.
  NeighbourRecords(Records& records, records::Neighbourhood own, uint64_t call);
  ~NeighbourRecords();
  NeighbourRecords(const NeighbourRecords&) = delete;

  const records::Neighbourhood& own() const { return own_; }
  records::PrivateSequence& opened() { return opened_; }
  // The program of an alltoall or an allgather among neighbours. It lives as long as the object,
  // and may be one that only starts operations (records/neighbours.h).
  const plan::RecordProgram& program(plan::Collective collective);
  // True if it completes operations as well.
  bool is_whole(const plan::RecordProgram& program) const {
    return &program == &programs_[0].whole || &program == &programs_[1].whole;
  }
  // Sets *program to one that also completes operations, and returns -1; or returns a rank whose
  // edges are needed and not known yet. Throws Error(mismatch) if ranks disagree about edges.
  int find_program(plan::Collective collective, const plan::RecordProgram** program);

 private:
  struct Programs {
    plan::RecordProgram start, whole;
    shm::Word is_whole{0};  // 1: `whole` is made, and constant
  };
  Programs& programs(plan::Collective collective);

  Records& records_;
  const records::Neighbourhood own_;
  records::PrivateSequence& opened_;
  std::mutex mutex_;  // guards the making of programs
  std::array<Programs, 2> programs_;
};

}  // namespace tutti::mpi
