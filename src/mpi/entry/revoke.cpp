// MPIX_Comm_revoke, an extension of Open MPI and MPICH for programs that go on after failures. The
// host then fails all calls on the communicator, so Tutti must leave them to it. A rank learns of
// another rank's revocation by the host alone.
#include "mpi/communicators/registry.h"

#if !defined(TUTTI_ABI_SMPI)
extern "C" __attribute__((visibility("default"))) int MPIX_Comm_revoke(MPI_Comm comm) {
  using Revoke = int (*)(MPI_Comm);
  static const auto next = reinterpret_cast<Revoke>(tutti::mpi::host_symbol("PMPIX_Comm_revoke"));
  if (next == nullptr) return MPI_ERR_OTHER;
  if (!tutti::mpi::host().foreign) tutti::mpi::communicator_revoked(comm);
  return next(comm);
}
#endif
