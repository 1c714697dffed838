#include "mpi/probe.h"

#include "mpi/host.h"
#include "mpi/types.h"

namespace tutti::mpi {
namespace {

// Instead of MPI_ERRORS_RETURN, whose value implementations of the standard ABI do not agree on yet; what a call
// returns after its handler differs too.
bool error_raised = false;
void note_error(MPI_Comm*, int*, ...) { error_raised = true; }

class NotedErrors {
 public:
  NotedErrors() {
    const Host& mpi = host();
    mpi.Comm_create_errhandler(note_error, &noting_);
    for (Kept& kept : kept_) {
      mpi.Comm_get_errhandler(kept.communicator, &kept.before);
      mpi.Comm_set_errhandler(kept.communicator, noting_);
    }
    error_raised = false;
  }
  ~NotedErrors() {
    const Host& mpi = host();
    for (Kept& kept : kept_) {
      mpi.Comm_set_errhandler(kept.communicator, kept.before);
      mpi.Errhandler_free(&kept.before);
    }
    mpi.Errhandler_free(&noting_);
  }
  NotedErrors(const NotedErrors&) = delete;

 private:
  struct Kept {
    MPI_Comm communicator;
    MPI_Errhandler before{};
  };
  Kept kept_[2] = {{host().comm_self}, {host().comm_world}};  // errors of no communicator go to either, by MPI's version
  MPI_Errhandler noting_{};
};

}  // namespace

// SMPI ends the simulation at a wrong argument, and at a type that it has no code for.
bool host_judges_arguments() {
  if (simulated) return true;
  const NotedErrors noted;
  char nothing = 0;
  host().Bcast(&nothing, -1, host().type_byte, 0, host().comm_self);
  return error_raised;
}

uint32_t types_that_host_lacks() {
  uint32_t missing = 0;
  if (simulated) {
    for (const RareType& rare : rare_types()) missing |= rare.bit;
    return missing;
  }
  const NotedErrors noted;
  for (const RareType& rare : rare_types()) {
    alignas(32) const unsigned char in[32] = {};
    alignas(32) unsigned char inout[32] = {};
    error_raised = false;
    if (host().Reduce_local(in, inout, 1, rare.type, host().op_sum) != MPI_SUCCESS || error_raised) missing |= rare.bit;
  }
  return missing;
}

}  // namespace tutti::mpi
