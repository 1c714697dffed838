#include "mpi/communicators/processes.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "mpi/host/inside.h"

namespace tutti::mpi {
namespace {

struct OpenSession {
  uint64_t handle;
  PrivateGroup processes;
};

struct Processes {
  std::mutex mutex;
  shm::Word off{0};  // changes under the lock and is read without it
  bool world_has_ended = false;
  std::shared_ptr<Team> team;  // the world's
  std::string why_no_team;
  std::shared_ptr<const GatheredPlacement> placement;
  PrivateGroup world;  // the world's processes, if they are known
  std::vector<OpenSession> sessions;
  std::vector<std::weak_ptr<Team>> teams;  // communicators use them; in the order of making
  int trust_keyval = abi.keyval_invalid;
};

// Never destroyed: exit handlers may still call MPI.
Processes& known() {
  static Processes& made = *new Processes;
  return made;
}

// The groups that are kept of the world's processes are made anew from those of an open session.
// The caller holds the lock.
void rebase_world(Processes& all) {
  const Group anew = all.sessions.front().processes.get();
  if (all.world) rebase(all.world, anew);
  if (all.team != nullptr) all.team->leave_world(anew);
}

}  // namespace

void open_processes() {
  Processes& all = known();
  const std::lock_guard<std::mutex> lock(all.mutex);
  make_keyval(true, nullptr, &all.trust_keyval);  // a duplicate has the same ranks
  all.world_has_ended = false;
}

void close_processes() {
  Processes& all = known();
  std::shared_ptr<Team> team;  // destroyed without the lock
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.teams.clear();
  team = std::move(all.team);
  all.world.reset();
  host().Comm_free_keyval(&all.trust_keyval);
}

void end_world() {
  Processes& all = known();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.world_has_ended = true;
  all.placement.reset();
  rebase_world(all);
}

void enter_world(std::shared_ptr<Team> team, std::string why_no_team,
                 std::shared_ptr<const GatheredPlacement> placement) {
  Processes& all = known();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.team = std::move(team);
  all.why_no_team = std::move(why_no_team);
  all.placement = std::move(placement);
  all.world = PrivateGroup::of(host().comm_world);
}

void switch_off() {
  const std::lock_guard<std::mutex> lock(known().mutex);
  shm::store_relaxed(known().off, 1);
}

std::shared_ptr<Team> world_team() {
  const std::lock_guard<std::mutex> lock(known().mutex);
  return known().team;
}

const std::string& why_no_team() { return known().why_no_team; }

bool in_world(Comm communicator, int ranks) {
  const std::lock_guard<std::mutex> lock(known().mutex);
  return known().world && all_within(communicator, ranks, known().world.get());
}

std::shared_ptr<const GatheredPlacement> world_placement(Comm communicator, int ranks,
                                                         std::vector<int>* members) {
  const std::lock_guard<std::mutex> lock(known().mutex);
  if (known().placement != nullptr && known().world)
    *members = places_in(communicator, ranks, known().world.get());
  return known().placement;
}

bool may_set_up() { return shm::load_relaxed(known().off) == 0; }

void note_session(uint64_t session, PrivateGroup processes) {
  const std::lock_guard<std::mutex> lock(known().mutex);
  known().sessions.push_back({session, std::move(processes)});
}

bool forget_session(uint64_t session) {
  Processes& all = known();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found =
      std::find_if(all.sessions.begin(), all.sessions.end(),
                   [&](const OpenSession& known) { return known.handle == session; });
  if (found == all.sessions.end()) return false;
  const PrivateGroup processes = std::move(found->processes);
  all.sessions.erase(found);
  // Groups that were made from this session's group are made anew from another session's.
  if (all.world_has_ended && !all.sessions.empty()) rebase_world(all);
  return true;
}

bool knows_session(uint64_t session) {
  const std::lock_guard<std::mutex> lock(known().mutex);
  return std::any_of(known().sessions.begin(), known().sessions.end(),
                     [&](const OpenSession& known) { return known.handle == session; });
}

bool any_session() {
  const std::lock_guard<std::mutex> lock(known().mutex);
  return !known().sessions.empty();
}

void trust(Comm communicator) {
  host().Comm_set_attr(communicator, known().trust_keyval, &known());
}
bool trusted(Comm communicator) {
  return attribute_of(communicator, known().trust_keyval) != nullptr;
}

bool may_ask(Comm communicator, int ranks) {
  if (trusted(communicator) || noted_team(communicator, ranks) != nullptr) return true;
  const std::lock_guard<std::mutex> lock(known().mutex);
  return std::any_of(known().sessions.begin(), known().sessions.end(),
                     [&](const OpenSession& session) {
                       return all_within(communicator, ranks, session.processes.get());
                     });
}

void note_team(const std::shared_ptr<Team>& team) {
  std::vector<std::weak_ptr<Team>>& teams = known().teams;
  const std::lock_guard<std::mutex> lock(known().mutex);
  std::erase_if(teams, [](const std::weak_ptr<Team>& noted) { return noted.expired(); });
  teams.push_back(team);
}

std::shared_ptr<Team> noted_team(Comm communicator, int ranks) {
  std::vector<std::shared_ptr<Team>> alive;  // released without the lock
  const std::lock_guard<std::mutex> lock(known().mutex);
  for (const std::weak_ptr<Team>& noted : known().teams)
    if (std::shared_ptr<Team> team = noted.lock()) alive.push_back(std::move(team));
  const auto newest = std::find_if(alive.rbegin(), alive.rend(), [&](const auto& team) {
    return team->covers(communicator, ranks);
  });
  return newest == alive.rend() ? nullptr : *newest;
}

}  // namespace tutti::mpi
