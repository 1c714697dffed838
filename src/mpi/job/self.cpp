#include "mpi/job/self.h"

#include <mutex>

#include "mpi/abi/inside.h"
#include "shm/order.h"

namespace tutti::mpi {
namespace {

struct Self {
  std::mutex mutex;
  shm::Word has_session{0};  // read without the lock
#ifdef TUTTI_SESSIONS
  MPI_Session session{};
#endif
  bool made = false;
  MPI_Comm communicator{};
};

// Never destroyed: exit handlers may still call MPI.
Self& self() {
  static Self& made = *new Self;
  return made;
}

#ifdef TUTTI_SESSIONS
// It takes the place of MPI_ERRORS_RETURN (abi/probe.cpp says why).
void ignore_error(MPI_Comm*, int*, ...) {}

MPI_Comm make_self(MPI_Session session) {
  const Host& mpi = host();
  const Inside inside;
  MPI_Group own;
  MPI_Comm made = mpi.comm_null;
  if (mpi.Comm_create_from_group == nullptr ||
      mpi.Group_from_session_pset(session, "mpi://SELF", &own) != MPI_SUCCESS)
    return mpi.comm_null;
  MPI_Errhandler ignoring{};
  mpi.Comm_create_errhandler(ignore_error, &ignoring);
  const int code = mpi.Comm_create_from_group(own, "tutti.self", mpi.info_null, ignoring, &made);
  mpi.Errhandler_free(&ignoring);
  mpi.Group_free(&own);
  return code == MPI_SUCCESS ? made : mpi.comm_null;
}
#endif

}  // namespace

MPI_Comm self_communicator() {
  Self& self = mpi::self();
  if (shm::load_relaxed(self.has_session) == 0) [[likely]]
    return host().comm_self;
  const std::lock_guard<std::mutex> lock(self.mutex);
#ifdef TUTTI_SESSIONS
  if (!self.made) self.communicator = make_self(self.session);
  self.made = true;
#endif
  return self.communicator;
}

#ifdef TUTTI_SESSIONS
void note_session_of_self(MPI_Session session) {
  const std::lock_guard<std::mutex> lock(self().mutex);
  if (shm::load_relaxed(self().has_session) != 0) return;
  self().session = session;
  shm::store_relaxed(self().has_session, 1);
}
#endif

void leave_self() {
  Self& self = mpi::self();
  const std::lock_guard<std::mutex> lock(self.mutex);
  if (self.made && self.communicator != host().comm_null) host().Comm_free(&self.communicator);
  self.made = false;
  shm::store_relaxed(self.has_session, 0);
}

}  // namespace tutti::mpi
