#include "mpi/abi/probe.h"

#include "mpi/abi/host.h"
#include "mpi/abi/types.h"

namespace tutti::mpi {
namespace {

// Instead of MPI_ERRORS_RETURN, whose value implementations of the standard ABI do not agree on
// yet; what a call returns after its handler differs too.
bool error_raised = false;
void note_error(MPI_Comm*, int*, ...) { error_raised = true; }

// Split from MPI_COMM_SELF, so that no other process takes part. Only calls with a communicator may
// be tried: errors of others go to the handler of MPI_COMM_SELF or MPI_COMM_WORLD.
class Trial {
 public:
  Trial() {
    const Host& mpi = host();
    if (mpi.Comm_split(mpi.comm_self, 0, 0, &communicator_) != MPI_SUCCESS)
      communicator_ = mpi.comm_null;
    if (!made()) return;
    MPI_Errhandler noting{};
    mpi.Comm_create_errhandler(note_error, &noting);
    mpi.Comm_set_errhandler(communicator_, noting);
    mpi.Errhandler_free(&noting);  // the communicator keeps it
  }
  ~Trial() {
    if (made()) host().Comm_free(&communicator_);
  }
  Trial(const Trial&) = delete;

  bool made() const { return communicator_ != host().comm_null; }

  bool refuses_negative_counts() {
    char nothing = 0;
    return fails([&] { return host().Bcast(&nothing, -1, host().type_byte, 0, communicator_); });
  }

  // All of a host's reductions look up a type's function alike; this one takes a communicator.
  bool refuses_to_add(MPI_Datatype type) {
    alignas(32) const unsigned char in[32] = {};
    alignas(32) unsigned char out[32] = {};
    return fails([&] { return host().Allreduce(in, out, 1, type, host().op_sum, communicator_); });
  }

 private:
  template <class Call>
  static bool fails(Call call) {
    error_raised = false;
    return call() != MPI_SUCCESS || error_raised;
  }

  MPI_Comm communicator_{};
};

}  // namespace

// SMPI ends the simulation at a wrong argument, and at a type that it has no code for.
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
