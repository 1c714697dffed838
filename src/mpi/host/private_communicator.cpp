#include "mpi/host/private_communicator.h"

#include "mpi/host/inside.h"
#include "shm/order.h"

namespace tutti::mpi {
namespace {

shm::Word alive{0}, ended{0};

}  // namespace

void may_free_handles(bool may) { shm::publish(ended, may ? 0 : 1); }
bool may_free_handles() { return shm::observe(ended) == 0; }

PrivateCommunicator::PrivateCommunicator(Comm made) : handle_(made) {
  if (handle_ != host().comm_null) shm::count_in(alive);
}

PrivateCommunicator PrivateCommunicator::split(Comm from, int color, int key, int* code) {
  const Inside inside;
  Comm made = host().comm_null;
  const int result = host().Comm_split(from, color, key, &made);
  if (code != nullptr) *code = result;
  return PrivateCommunicator(result == success ? made : host().comm_null);
}

PrivateCommunicator PrivateCommunicator::copy_of_self() {
  const Inside inside;
  Comm made = host().comm_null;
  const int result = host().Comm_dup(host().comm_self, &made);
  return PrivateCommunicator(result == success ? made : host().comm_null);
}

PrivateCommunicator PrivateCommunicator::split_by_node(Comm from, int key) {
  const Inside inside;
  Comm made = host().comm_null;
  const int result =
      host().Comm_split_type(from, abi.comm_type_shared, key, host().info_null, &made);
  return PrivateCommunicator(result == success ? made : host().comm_null);
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
