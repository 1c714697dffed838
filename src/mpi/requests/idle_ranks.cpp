#include "mpi/requests/idle_ranks.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "exec/idle.h"
#include "mpi/communicators/processes.h"
#include "mpi/host/private_group.h"
#include "mpi/host/ranks.h"
#include "mpi/progress/host_waits.h"
#include "mpi/requests/own_request.h"

namespace tutti::mpi {
namespace {

// The ranks of the node's team, by rank; not one of them: no rank of the node.
using Places = std::vector<int>;

struct Known {
  std::mutex mutex;
  std::unordered_map<uint64_t, Places> places;  // the keys are handles
};
// Never destroyed, because threads may send until the process ends.
Known& known() {
  static TUTTI_PER_THREAD Known* const made = new Known;
  return *made;
}

constinit std::chrono::microseconds longest_sleep{};  // once ranks sleep

Places find(Comm communicator) {
  const std::shared_ptr<Team> team = world_team();
  if (team == nullptr) return {};
  const Host& mpi = host();
  int crosses = 0;
  mpi.Comm_test_inter(communicator, &crosses);
  Group made;
  const int code = crosses != 0 ? mpi.Comm_remote_group(communicator, &made)
                                : mpi.Comm_group(communicator, &made);
  if (code != success) return {};
  const PrivateGroup group(made);
  return team->members_among(group.get(), group.size());
}

void sleep_alone() {
  static constinit shm::Doorbell alone{};
  exec::sleep_when_idle({.first = reinterpret_cast<std::byte*>(&alone),
                         .stride = 0,
                         .ranks = 1,
                         .own = 0,
                         .longest_sleep = longest_sleep});
}

}  // namespace

void sleep_when_idle(Team* team) {
  const bool one_node = ranks_in(host().comm_world) == (team != nullptr ? team->ranks() : 1);
  longest_sleep = std::chrono::milliseconds(one_node ? 20 : 2);
  constexpr std::chrono::microseconds with_lock{50};
  int level = abi.thread_multiple;
  host().Query_thread(&level);
  limit_sleeps_in_calls(level == abi.thread_multiple ? with_lock : longest_sleep);
  watch_messages();
  watch_polls_of_open_mpi();
  if (team != nullptr)
    team->sleep_when_idle(longest_sleep);
  else
    sleep_alone();
}

bool sleep_in_finalize() {
  if (longest_sleep.count() == 0 || exec::sleeps_when_idle()) return false;
  sleep_alone();
  return true;
}

void ring_rank(Comm communicator, int rank) {
  Known& known = mpi::known();
  int place = -1;
  {
    const std::lock_guard lock(known.mutex);
    const auto [found, is_new] = known.places.try_emplace(static_cast<uint64_t>(communicator));
    if (is_new) found->second = find(communicator);
    if (rank >= 0 && static_cast<size_t>(rank) < found->second.size())
      place = found->second[static_cast<size_t>(rank)];
  }
  exec::ring_idle(place);
}

void forget_places(Comm communicator) {
  const std::lock_guard lock(known().mutex);
  known().places.erase(static_cast<uint64_t>(communicator));
}

}  // namespace tutti::mpi
