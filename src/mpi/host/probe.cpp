#include "mpi/host/probe.h"

#include "mpi/host/host.h"
#include "mpi/host/private_communicator.h"
#include "mpi/host/types.h"

namespace tutti::mpi {
namespace {

// The handler that notes errors takes the place of MPI_ERRORS_RETURN, which does not yet have the
// same value in all implementations of the standard ABI. Hosts also differ in the code that a call
// returns after its handler has returned, so the note is needed beside the code.
bool error_raised = false;
void note_error(void*, int*, ...) { error_raised = true; }

// The communicator on which calls are tried. It is split from MPI_COMM_SELF, so no other process
// takes part. Only calls with a communicator may be tried, because errors of other calls go to the
// handler of MPI_COMM_SELF or MPI_COMM_WORLD.
class Trial {
 public:
  Trial() {
    if (made()) communicator_.return_errors(note_error);
  }

  bool made() const { return static_cast<bool>(communicator_); }

  bool refuses_negative_counts() {
    char nothing = 0;
    return fails(
        [&] { return host().Bcast(&nothing, -1, host().type_byte, 0, communicator_.get()); });
  }

  // All reductions of a host look up the function of a type in the same way. MPI_Allreduce is tried
  // because it takes a communicator.
  bool refuses_to_add(Datatype type) {
    alignas(32) const unsigned char in[32] = {};
    alignas(32) unsigned char out[32] = {};
    return fails(
        [&] { return host().Allreduce(in, out, 1, type, host().op_sum, communicator_.get()); });
  }

 private:
  template <class Call>
  static bool fails(Call call) {
    error_raised = false;
    return call() != success || error_raised;
  }

  PrivateCommunicator communicator_ = PrivateCommunicator::split(host().comm_self, 0, 0);
};

}  // namespace

// With SMPI nothing is tried, because a wrong argument ends the simulation, and so does a type that
// SMPI has no code for.
HostTraits probe_host() {
  HostTraits traits;
  if (simulated) {
    for (const RareType& rare : rare_types()) traits.missing_types |= rare.bit;
    return traits;
  }
  Trial trial;
  if (!trial.made()) return traits;
  traits.judges_arguments = trial.refuses_negative_counts();
  for (const RareType& rare : rare_types())
    if (trial.refuses_to_add(rare.type)) traits.missing_types |= rare.bit;
  return traits;
}

}  // namespace tutti::mpi
