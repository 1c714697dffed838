#include "mpi/job/self.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "mpi/host/inside.h"
#include "mpi/host/private_communicator.h"
#include "mpi/host/private_group.h"
#include "shm/order.h"

namespace tutti::mpi {
namespace {

struct Self {
  std::mutex mutex;
  shm::Word by_session{0};  // read without the lock
  bool world_lives = false;
  std::vector<Session> sessions;  // open, the oldest first
  bool made = false;              // from the first session
  PrivateCommunicator communicator;
};

// Never destroyed: exit handlers may still call MPI.
Self& self() {
  static Self& made = *new Self;
  return made;
}

PrivateCommunicator make_self(Session session) {
  const Host& mpi = host();
  const Inside inside;
  Group group;
  Comm made = mpi.comm_null;
  if (mpi.Comm_create_from_group == nullptr ||
      mpi.Group_from_session_pset(session, "mpi://SELF", &group) != success)
    return {};
  const PrivateGroup own(group);
  Errhandler ignoring{};
  mpi.Comm_create_errhandler(PrivateCommunicator::ignore_error, &ignoring);
  const int code =
      mpi.Comm_create_from_group(own.get(), "tutti.self", mpi.info_null, ignoring, &made);
  mpi.Errhandler_free(&ignoring);
  return PrivateCommunicator(code == success ? made : mpi.comm_null);
}

// The caller holds the lock.
void choose(Self& self) {
  shm::store_relaxed(self.by_session, !self.world_lives && !self.sessions.empty() ? 1 : 0);
}

}  // namespace

Comm self_communicator() {
  Self& self = mpi::self();
  if (shm::load_relaxed(self.by_session) == 0) [[likely]]
    return host().comm_self;
  const std::lock_guard<std::mutex> lock(self.mutex);
  if (!self.made && !self.sessions.empty()) {
    self.communicator = make_self(self.sessions.front());
    self.made = true;
  }
  return self.communicator.get();
}

void note_world_of_self(bool lives) {
  const std::lock_guard<std::mutex> lock(self().mutex);
  self().world_lives = lives;
  choose(self());
}

void note_session_of_self(Session session) {
  const std::lock_guard<std::mutex> lock(self().mutex);
  self().sessions.push_back(session);
  choose(self());
}

void leave_session_of_self(Session session) {
  Self& self = mpi::self();
  const std::lock_guard<std::mutex> lock(self.mutex);
  const auto found = std::find(self.sessions.begin(), self.sessions.end(), session);
  if (found == self.sessions.end()) return;
  if (found == self.sessions.begin()) {
    self.communicator.reset();
    self.made = false;
  }
  self.sessions.erase(found);
  choose(self);
}

}  // namespace tutti::mpi
