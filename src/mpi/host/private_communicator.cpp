#include "mpi/host/private_communicator.h"

#include "mpi/host/inside.h"
#include "shm/order.h"

namespace tutti::mpi {
namespace {

shm::Word alive{0}, ended{0};

// The communicator that make(&MADE) stores, unless the host fails.
template <class Make>
PrivateCommunicator made_by(Make make, int* code = nullptr) {
  const Inside inside;
  Comm made = host().comm_null;
  const int result = make(&made);
  if (code != nullptr) *code = result;
  return PrivateCommunicator(result == success ? made : host().comm_null);
}

}  // namespace

void may_free_handles(bool may) { shm::publish(ended, may ? 0 : 1); }
bool may_free_handles() { return shm::observe(ended) == 0; }

PrivateCommunicator::PrivateCommunicator(Comm made) : handle_(made) {
  if (handle_ != host().comm_null) shm::count_in(alive);
}

PrivateCommunicator PrivateCommunicator::split(Comm from, int color, int key, int* code) {
  return made_by([&](Comm* made) { return host().Comm_split(from, color, key, made); }, code);
}

PrivateCommunicator PrivateCommunicator::copy_of_self() {
  return made_by([](Comm* made) { return host().Comm_dup(host().comm_self, made); });
}

PrivateCommunicator PrivateCommunicator::split_by_node(Comm from, int key) {
  return made_by([&](Comm* made) {
    return host().Comm_split_type(from, abi.comm_type_shared, key, host().info_null, made);
  });
}

void PrivateCommunicator::reset() noexcept {
  const Comm owned = std::exchange(handle_, host().comm_null);
  if (owned == host().comm_null) return;
  shm::count_out(alive);
  if (!may_free_handles()) return;
  const Inside inside;
  Comm freed = owned;
  host().Comm_free(&freed);
}

void PrivateCommunicator::abandon() noexcept {
  if (std::exchange(handle_, host().comm_null) != host().comm_null) shm::count_out(alive);
}

void PrivateCommunicator::return_errors(ErrorHandler* handler) {
  Errhandler made{};
  host().Comm_create_errhandler(handler, &made);
  host().Comm_set_errhandler(handle_, made);
  host().Errhandler_free(&made);  // the communicator keeps it
}

uint64_t PrivateCommunicator::living() { return shm::load_relaxed(alive); }

}  // namespace tutti::mpi
