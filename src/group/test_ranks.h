// Groups of thread ranks for tests, with settings that the C API does not offer.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "base/sanitized.h"
#include "group/group.h"
#include "kernels/kernels.h"
#include "shm/segment.h"

namespace tutti::group::test {

inline exec::Combine sum_of(kernels::Type type, exec::Needs needs) {
  return {kernels::find_reduce(type, kernels::Op::sum),
          nullptr,
          nullptr,
          kernels::size(type),
          true,
          needs};
}
inline exec::Combine sum_of_doubles() {
  return sum_of(kernels::Type::float64, exec::needs_same_expression);
}
inline exec::Combine sum_of_integers() { return sum_of(kernels::Type::int64, exec::needs_nothing); }

// The check of lowered programs uses one thread and would take half of the time of a build with
// sanitizers, so such a build checks small groups only.
inline constexpr int most_ranks = looks_for_races ? 5 : 64,
                     most_checked_ranks = looks_for_races || looks_at_memory ? 2 : 64,
                     many_ranks = looks_for_races || looks_at_memory ? 7 : 18;
inline std::vector<int> rank_counts(std::initializer_list<int> wanted) {
  std::vector<int> counts;
  std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(counts),
               [](int ranks) { return ranks <= most_ranks; });
  return counts;
}

// How ranks reach each other's buffers: all directly, those of even ranks directly, by the system's
// copies between processes, or not at all.
enum class Reaching : uint8_t { direct, mixed, by_system, none };
inline constexpr Reaching all_reaching[] = {Reaching::direct, Reaching::mixed, Reaching::by_system,
                                            Reaching::none};

inline exec::Reach reach_of(Reaching how, int rank, int ranks) {
  exec::Reach reach;
  reach.one_process = how == Reaching::direct || how == Reaching::mixed;
  if (reach.one_process) reach.mapped.resize(static_cast<size_t>(ranks));
  if (how == Reaching::direct || rank % 2 == 0) reach.own_bytes = SIZE_MAX;
  reach.cma_unasked = true;
  if (how == Reaching::by_system) reach.memories.assign(static_cast<size_t>(ranks), {getpid(), -1});
  return reach;
}

// Runs `body` on one thread for each rank, with the rank's group. If a rank hangs, the timeout of
// the test program ends it.
inline void with_groups(int ranks, const select::Overrides& overrides, const topo::Shape& shape,
                        const std::function<void(Group&)>& body, bool oversubscribed = true,
                        size_t slot_bytes = 64 * 1024, bool check = true,
                        const placement::Levels& levels = {}, Reaching reaching = Reaching::mixed,
                        trace::Tracer* tracer = nullptr) {
  struct Free {
    void operator()(std::byte* areas) const {
      ::operator delete(areas, std::align_val_t{shm::page_size});
    }
  };
  shm::Layout layout = shm::Layout::fit(ranks, slot_bytes);
  const std::unique_ptr<std::byte, Free> areas(
      static_cast<std::byte*>(::operator new(layout.bytes(), std::align_val_t{shm::page_size})));
  std::memset(areas.get(), 0, layout.bytes());
  std::vector<std::unique_ptr<Group>> groups;
  for (int rank = 0; rank < ranks; ++rank) {
    Group::Settings settings;
    settings.areas = areas.get();
    settings.layout = layout;
    settings.rank = rank;
    settings.style = oversubscribed ? exec::WaitStyle::yield : exec::WaitStyle::spin;
    settings.check = check && ranks <= most_checked_ranks;
    settings.reach = reach_of(reaching, rank, ranks);
    settings.overrides = overrides;
    settings.shape = shape;
    settings.levels = levels;
    settings.tracer = tracer;
    groups.push_back(std::make_unique<Group>(settings));
  }
  std::vector<std::thread> threads;
  for (const auto& group : groups) threads.emplace_back([&body, &group] { body(*group); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace tutti::group::test
