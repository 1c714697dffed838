#include "rma/domain.h"

#include <unistd.h>

#include <string>

#include "base/error.h"

namespace tutti::rma {
namespace {

// A place that this process has claimed.
uint64_t claimed_word(uint64_t generation) {
  return word_of({Life::starting, generation, static_cast<uint64_t>(getpid())});
}

bool claim(ServerState& state) {
  note_death(state);
  const uint64_t seen = shm::observe(state.life);
  const Standing now = standing_of(seen);
  if (now.life == Life::starting || now.life == Life::running) return false;
  if (!shm::take(state.life, seen, claimed_word(now.generation + 1))) return false;
  state.doorbell.sleepers = 0;  // a server that was killed has not left
  return true;
}

}  // namespace

std::vector<int32_t> claim_places(const Domain& domain, const ServerRange& range, int32_t count) {
  std::vector<int32_t> places;
  for (int32_t place = range.first; place < range.first + range.count; ++place)
    if (static_cast<int32_t>(places.size()) < count && claim(domain.server(place)))
      places.push_back(place);
  return places;
}

std::vector<int32_t> claim_all(const Domain& domain, int32_t count) {
  std::vector<int32_t> places = claim_places(domain, {0, domain.shape().servers}, count);
  if (static_cast<int32_t>(places.size()) == count) return places;
  release_places(domain, places);
  throw Error(Code::invalid_argument, "the domain has no room for " + std::to_string(count) +
                                          " more servers; it has " + std::to_string(places.size()) +
                                          " places left");
}

void release_places(const Domain& domain, const std::vector<int32_t>& places) {
  for (const int32_t place : places) {
    ServerState& state = domain.server(place);
    shm::publish(state.life, word_of({Life::absent, standing(state).generation}));
  }
}

void claim_again(ServerState& state) {
  shm::publish(state.life, claimed_word(standing(state).generation + 1));
  state.doorbell.sleepers = 0;
}

void announce(ServerState& state, const ProcessId& process, ServerKind kind) {
  shm::store_relaxed(state.process, static_cast<uint64_t>(process.number));
  shm::store_relaxed(state.process_started, process.started);
  shm::store_relaxed(state.is_process, kind == ServerKind::process ? 1 : 0);
  shm::store_relaxed(state.reaches_nodes, kind == ServerKind::thread_with_endpoint ? 1 : 0);
  shm::publish(state.life, word_of({Life::running, standing(state).generation}));
}

bool note_death(ServerState& state) {
  const uint64_t seen = shm::observe(state.life);
  const Standing now = standing_of(seen);
  if (now.life != Life::running && now.life != Life::starting) return true;
  const ProcessId process = now.life == Life::running
                                ? process_of(state)
                                : ProcessId{static_cast<int64_t>(now.claimant), 0};
  if (!process_is_gone(process)) return false;
  shm::take(state.life, seen, word_of({Life::ended, now.generation}));
  return true;
}

void tell_served_from(const Domain& domain) {
  const auto value = [&domain] {
    bool serves = false;
    for (int32_t place = 0; place < domain.shape().servers; ++place)
      serves |= runs(domain.server(place)) && !note_death(domain.server(place));
    return serves && shm::load_relaxed(domain.enabled()) != 0
               ? shm::load_relaxed(domain.least_bytes())
               : UINT64_MAX;
  };
  do {
    shm::store_relaxed(domain.served_from(), value());
    // Each caller changes the domain, stores, and then has this fence before it looks. So of two
    // callers the one whose fence comes last sees the change and the store of the other.
    shm::fence_before_looking();
  } while (shm::load_relaxed(domain.served_from()) != value());
}

}  // namespace tutti::rma
