// Extensions of hosts that change whose calls Tutti may serve
// (docs/decisions/extensions-of-hosts.md lists the others). The entry points are found by their
// names: a host that lacks one has no caller of it either.
//
// MPIX_Comm_revoke, of Open MPI and MPICH, is for programs that go on after failures. The host then
// fails all calls on the communicator, so Tutti must leave them to it. A rank learns of another
// rank's revocation by the host alone.
//
// MPIX_Request_is_complete, of MPICH, tells whether a request is complete, which stays so.
// The host takes a request of Tutti's for an inactive one.
//
// MPIX_Threadcomm_init, of MPICH, makes a communicator of threads, which MPIX_Threadcomm_free ends.
#include "mpi/abi/convert.h"
#include "mpi/communicators/registry.h"
#include "mpi/requests/own_request.h"

#if !defined(TUTTI_SIMULATED)
namespace tutti::mpi {
namespace {

template <class Function>
Function find(const char* name) {
  return reinterpret_cast<Function>(host_symbol(name));
}

}  // namespace
}  // namespace tutti::mpi

extern "C" __attribute__((visibility("default"))) int MPIX_Comm_revoke(MPI_Comm comm) {
  static const auto next = tutti::mpi::find<int (*)(MPI_Comm)>("PMPIX_Comm_revoke");
  if (next == nullptr) return MPI_ERR_OTHER;
  if (!tutti::mpi::host().foreign)
    tutti::mpi::communicator_revoked(tutti::mpi::house<tutti::mpi::Comm>(comm));
  return next(comm);
}

#if defined(TUTTI_MPICH_EXTENSIONS)
extern "C"
    __attribute__((visibility("default"))) int MPIX_Request_is_complete(MPI_Request request) {
  using tutti::mpi::OwnRequest;
  static const auto next = tutti::mpi::find<int (*)(MPI_Request)>("PMPIX_Request_is_complete");
  OwnRequest* const own =
      tutti::mpi::has_own_requests()
          ? tutti::mpi::own_request(tutti::mpi::house<tutti::mpi::Request>(request))
          : nullptr;
  if (own != nullptr && own->state() == OwnRequest::State::pending) {
    if (!own->is_ready()) return 0;
    own->complete_and_keep();  // waits for nothing; the program may look at the results now
  }
  if (own != nullptr) return 1;
  return next != nullptr ? next(request) : 0;
}

extern "C" __attribute__((visibility("default"))) int MPIX_Threadcomm_init(MPI_Comm comm,
                                                                           int threads,
                                                                           MPI_Comm* made) {
  static const auto next =
      tutti::mpi::find<int (*)(MPI_Comm, int, MPI_Comm*)>("PMPIX_Threadcomm_init");
  if (next == nullptr) return MPI_ERR_OTHER;
  const int code = next(comm, threads, made);
  if (code == MPI_SUCCESS && !tutti::mpi::host().foreign)
    tutti::mpi::communicator_of_threads(tutti::mpi::house<tutti::mpi::Comm>(*made));
  return code;
}

extern "C" __attribute__((visibility("default"))) int MPIX_Threadcomm_free(MPI_Comm* made) {
  static const auto next = tutti::mpi::find<int (*)(MPI_Comm*)>("PMPIX_Threadcomm_free");
  if (next == nullptr) return MPI_ERR_OTHER;
  if (!tutti::mpi::host().foreign && made != nullptr)
    tutti::mpi::communicator_ends(tutti::mpi::house<tutti::mpi::Comm>(*made));
  return next(made);
}
#endif
#endif
