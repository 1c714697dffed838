#include "mpi/communicators/registry.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/gpu.h"
#include "base/hash.h"
#include "group/handle_table.h"
#include "mpi/host/private_communicator.h"
#include "mpi/host/private_group.h"
#include "mpi/host/tools.h"

namespace tutti::mpi {

constinit TUTTI_PER_THREAD Remembered remembered[1 << log_of_remembered]{};
shm::Word generation{1};

namespace {

struct Registry {
  std::mutex mutex;
  bool record = false;
  // These two change under the lock and are read without it.
  shm::Word is_open{0};
  shm::Word left_world{0};
  uint64_t made = 0;  // communicators so far
  std::unordered_map<uint64_t, Communicator> communicators;
  // Nodes of communicators that ended before they set up, to be used again.
  std::vector<decltype(communicators)::node_type> spare;
  // The names of communicators, by handle; some had no collective yet.
  std::unordered_map<uint64_t, std::string> names;
  int keyval = abi.keyval_invalid;
};

// Never destroyed: exit handlers may still call MPI.
Registry& registry() {
  static Registry& made = *new Registry;
  return made;
}

bool is_open(const Registry& registry) { return shm::observe(registry.is_open) != 0; }

using Table = group::HandleTable<Communicator, group::Group>;

// `known` has every communicator of the registry; `ready` has those with a group, and none while
// calls are recorded. Never destroyed either.
struct Tables {
  Table known, ready;

  void remove(uint64_t key) {
    known.remove(key);
    ready.remove(key);
  }
  void clear() {
    known.clear();
    ready.clear();
  }
};
Tables& tables() {
  static Tables& made = *new Tables;
  return made;
}

uint64_t key_of(Comm handle) { return (uint64_t)handle; }

// A communicator that is no longer in the registry.
using Ended = decltype(Registry::communicators)::node_type;

// Takes a communicator out of the registry. All threads forget what they remember. The caller holds
// the lock.
Ended take_out(Registry& registry, uint64_t key) {
  tables().remove(key);
  forget_remembered();
  return registry.communicators.extract(key);
}

// The delete callback of the attribute: the host calls it when a communicator ends.
void forget(void* value) {
  Registry& registry = mpi::registry();
  Ended ended;  // destroyed without the lock
  {
    const std::lock_guard<std::mutex> lock(registry.mutex);
    if (!is_open(registry)) return;
    const uint64_t key = key_of(static_cast<Communicator*>(value)->handle());
    const auto found = registry.communicators.find(key);
    if (found == registry.communicators.end() || &found->second != value) return;
    ended = take_out(registry, key);
  }
}

// Finds a communicator after MPI_COMM_WORLD has ended; null if the registry has none. The world's
// communicators that were not freed have then ended without notice, and a session's communicator
// may have the handle of one.
Communicator* find_in_sessions(Comm handle) {
  Registry& registry = mpi::registry();
  Ended stale;
  const std::lock_guard<std::mutex> lock(registry.mutex);
  const auto found = registry.communicators.find(key_of(handle));
  if (found == registry.communicators.end()) return nullptr;
  // The attributes of a handle that is no communicator's must not be read, because the host would
  // raise an error. A communicator that is noted by calls was made while no session was open, so it
  // has ended with the world.
  const Noted noted = found->second.noted();
  if (noted == Noted::not_yet ||
      (noted == Noted::by_attribute && attribute_of(handle, registry.keyval) == &found->second)) {
    tables().known.put(key_of(handle), {&found->second});
    return &found->second;
  }
  stale = take_out(registry, key_of(handle));
  return nullptr;
}

// Null if the registry has none.
Communicator* find_known(Comm handle) {
  Communicator* const known = tables().known.find(key_of(handle)).object;
  if (known != nullptr || shm::load_relaxed(registry().left_world) == 0) return known;
  return find_in_sessions(handle);
}

constexpr size_t most_spare = 16;

// Makes the Communicator of a handle that the registry does not have. It takes all memory that
// counting calls needs, because memory may run out at one rank alone, and that rank then has not
// made the call. The caller holds the lock.
Communicator* make_communicator(Registry& registry, Comm handle) {
  const uint64_t key = key_of(handle);
  if (registry.spare.empty()) {
    registry.communicators.try_emplace(key, handle, ++registry.made);
  } else {
    auto node = std::move(registry.spare.back());
    registry.spare.pop_back();
    node.key() = key;
    node.mapped().renew(handle, ++registry.made);
    registry.communicators.insert(std::move(node));
  }
  Communicator* const made = &registry.communicators.find(key)->second;
  tables().known.put(key, {made});
  tables().ready.put(key, {});
  return made;
}

Communicator* make_communicator(Comm handle) {
  Registry& registry = mpi::registry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  registry.communicators.erase(key_of(handle));
  return make_communicator(registry, handle);
}

// *are is false if the ranks of a communicator are threads. False if the host refuses, because the
// handle is no communicator's.
bool ranks_are_processes(Comm handle, bool* are) {
  int ranks = 0;
  if (host().Comm_size(handle, &ranks) != success) return false;
  const PrivateGroup group = PrivateGroup::of(handle);
  if (!group) return false;
  *are = ranks == group.size();
  return true;
}

// Sets the attribute whose delete callback the host calls when the communicator ends. False if the
// host refuses, because the handle is no communicator's. A communicator of threads is left to the
// host, and has no attribute, because each thread would have its own.
bool note(Communicator& communicator) {
  const Inside inside;
  bool processes = true;
  if (!ranks_are_processes(communicator.handle(), &processes)) return false;
  if (!processes) {
    communicator.leave_to_host(Reason::ranks_are_threads);
    communicator.note(Noted::by_calls);
    return true;
  }
  if (host().Comm_set_attr(communicator.handle(), registry().keyval, &communicator) != success)
    return false;
  communicator.note(Noted::by_attribute);
  return true;
}

// Destroys them in the order of their making, because some free communicators of the host, which
// all ranks must do in one order.
void destroy(std::vector<Ended> communicators) {
  std::sort(communicators.begin(), communicators.end(), [](const Ended& one, const Ended& other) {
    return one.mapped().number() < other.mapped().number();
  });
  for (Ended& communicator : communicators) communicator = {};
}

}  // namespace

bool refused_for_arguments(int code) {
  int kind = success;
  if (code == success || host().Error_class(code, &kind) != success) return false;
  return std::find(abi.refusals.begin(), abi.refusals.end(), kind) != abi.refusals.end();
}

void open_registry(bool record) {
  Registry& registry = mpi::registry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  if (is_open(registry)) return;
  make_keyval(false, forget, &registry.keyval);
  open_processes();
  registry.record = record;
  registry.spare.reserve(most_spare);
  shm::store_relaxed(registry.left_world, 0);
  shm::publish(registry.is_open, 1);
}

void close_registry() {
  Registry& registry = mpi::registry();
  std::vector<Ended> ended;
  {
    const std::lock_guard<std::mutex> lock(registry.mutex);
    if (!is_open(registry)) return;
    shm::publish(registry.is_open, 0);
    tables().clear();
    forget_remembered();
    while (!registry.communicators.empty())
      ended.push_back(registry.communicators.extract(registry.communicators.begin()));
    registry.spare.clear();
  }
  const Inside inside;
  destroy(std::move(ended));
  end_services();
  host().Comm_free_keyval(&registry.keyval);
  close_processes();
}

void leave_world() {
  Registry& registry = mpi::registry();
  std::vector<Ended> ended;
  const Inside inside;
  empty_parking_lot();
  {
    const std::lock_guard<std::mutex> lock(registry.mutex);
    std::vector<uint64_t> keys;
    for (const auto& [key, communicator] : registry.communicators)
      if (communicator.is_of_several_jobs() || communicator.has_messages_of_world())
        keys.push_back(key);
    for (const uint64_t key : keys) ended.push_back(take_out(registry, key));
    // Communicators that have ended without notice are detected when their handles are looked up.
    tables().clear();
    forget_remembered();
    shm::store_relaxed(registry.left_world, 1);
    end_world();
  }
  destroy(std::move(ended));
}

bool world_lasts() { return is_open(registry()) && shm::load_relaxed(registry().left_world) == 0; }

bool registry_is_open() { return is_open(registry()); }

std::vector<const Communicator*> known_communicators() {
  const std::lock_guard<std::mutex> lock(registry().mutex);
  std::vector<const Communicator*> all;
  for (const auto& [key, communicator] : registry().communicators) all.push_back(&communicator);
  return all;
}

void visit_communicators(
    const std::function<void(const Communicator&, const std::string& name)>& visit) {
  const std::lock_guard<std::mutex> lock(registry().mutex);
  const auto& names = registry().names;
  for (const auto& [key, communicator] : registry().communicators) {
    const auto name = names.find(key);
    visit(communicator, name == names.end() ? std::string{} : name->second);
  }
}

void communicator_named(Comm handle, const char* name) noexcept {
  try {
    const std::lock_guard<std::mutex> lock(registry().mutex);
    registry().names[key_of(handle)] = name;
  } catch (...) {  // without memory it has no name
  }
}

namespace {

// A hash of the ranks of a group in a communicator, in their order.
uint64_t hash_of(Group group, Comm parent) {
  const Host& mpi = host();
  int size = 0;
  mpi.Group_size(group, &size);
  std::vector<int> own(static_cast<size_t>(size)), places(own.size());
  std::iota(own.begin(), own.end(), 0);
  const PrivateGroup all = PrivateGroup::of(parent);
  if (!all) return 0;
  mpi.Group_translate_ranks(group, size, own.data(), all.get(), places.data());
  return hashed(hash_of_nothing,
                {reinterpret_cast<const char*>(places.data()), places.size() * sizeof(int)});
}

}  // namespace

Newborn communicator_made(const Making& making, Comm handle) noexcept {
  Registry& registry = mpi::registry();
  const Comm none = host().comm_null;
  const bool by_session = making.by == Making::By::session;
  try {
    const Inside inside;
    Communicator* const parent = by_session ? nullptr : find_known(making.parent);
    if (parent != nullptr && parent->reason() == Reason::ranks_are_threads) {
      if (handle != none) communicator_of_threads(handle);
      return Newborn::nothing;
    }
    const bool by_group = making.by == Making::By::group && parent != nullptr;
    const uint64_t group =
        by_group && parent->ancestry().born().known() ? hash_of(making.group, making.parent) : 0;
    Communicator* made = nullptr;
    bool in_session = false;
    Ended stale;  // destroyed without the lock
    {
      const std::lock_guard<std::mutex> lock(registry.mutex);
      Lineage lineage;
      if (parent != nullptr)
        lineage = by_group ? parent->ancestry().next_child(group, making.tag)
                           : parent->ancestry().next_child();
      if (handle == none) return Newborn::nothing;
      // With an open session, it would not be known whether the communicator ends with the world,
      // so it gets an attribute.
      in_session = any_session();
      if (in_session && !by_session && !lineage.known()) return Newborn::nothing;
      if (registry.communicators.contains(key_of(handle)))
        stale = take_out(registry, key_of(handle));
      made = make_communicator(registry, handle);
      if (!in_session) made->note(Noted::by_calls);
      // A thread may call MPI_Comm_create_group while another one uses the parent.
      const bool expects =
          parent != nullptr && !by_group && !lineage.known() && parent->expects_nonblocking();
      if (expects || by_session) made->expect_nonblocking();
      made->descend(std::move(lineage));
    }
    // Its attributes must not be set yet, and it cannot set up. Its first call does both.
    if (making.by == Making::By::request) return Newborn::nothing;
    if (in_session && !note(*made)) throw std::bad_alloc();
    return made->has_enough_calls() ? Newborn::set_up : Newborn::nothing;
  } catch (...) {
    if (handle == none) return Newborn::nothing;
    const std::lock_guard<std::mutex> lock(registry.mutex);
    tables().remove(key_of(handle));
    registry.communicators.erase(key_of(handle));
    return Newborn::no_memory;
  }
}

void communicator_ends(Comm handle) noexcept {
  Registry& registry = mpi::registry();
  if (!is_open(registry) || Inside::depth != 0) return;
  Ended ended;  // destroyed without the lock
  const std::lock_guard<std::mutex> lock(registry.mutex);
  if (!registry.names.empty()) registry.names.erase(key_of(handle));
  const auto found = registry.communicators.find(key_of(handle));
  if (found == registry.communicators.end() || found->second.noted() == Noted::by_attribute) return;
  if (!found->second.may_be_renewed() || registry.spare.size() == most_spare) {
    ended = take_out(registry, key_of(handle));
    return;
  }
  tables().known.remove(key_of(handle));
  found->second.descend({});
  registry.spare.push_back(registry.communicators.extract(found));
}

void communicator_revoked(Comm handle) {
  Registry& registry = mpi::registry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  const auto found = registry.communicators.find(key_of(handle));
  if (found == registry.communicators.end()) return;
  found->second.leave_to_host(Reason::host_failed);
  tables().ready.remove(key_of(handle));
  forget_remembered();
}

void communicator_of_threads(Comm handle) noexcept {
  Registry& registry = mpi::registry();
  if (!is_open(registry)) return;
  Ended stale;  // destroyed without the lock
  const std::lock_guard<std::mutex> lock(registry.mutex);
  try {
    const auto found = registry.communicators.find(key_of(handle));
    // Each thread that makes a duplicate comes here, and others may use the entry by then.
    if (found != registry.communicators.end() &&
        found->second.reason() == Reason::ranks_are_threads)
      return;
    if (found != registry.communicators.end()) stale = take_out(registry, key_of(handle));
    Communicator* const made = make_communicator(registry, handle);
    made->leave_to_host(Reason::ranks_are_threads);
    made->note(Noted::by_calls);
  } catch (...) {  // its first call finds out what it is
  }
}

size_t communicators_in_use() {
  const std::lock_guard<std::mutex> lock(registry().mutex);
  return registry().communicators.size() + PrivateCommunicator::living();
}

const Remembered* recall(Comm handle) {
  if (Inside::depth != 0) return nullptr;
  const Table::Entry found = tables().ready.find(key_of(handle));
  if (found.object == nullptr) return nullptr;
  ServedCalls::enter_thread();
  uint64_t now = shm::load_relaxed(generation);
  if (!gpu::is_ruled_out()) [[unlikely]] {
    if (hides_any() || gpu::look()) return nullptr;
    now = 0;  // the next call looks again
  }
  Remembered& place = place_of(handle);
  place = {handle, now, found.object, found.second};
  return &place;
}

void forget_remembered() noexcept { shm::add(generation, 1); }

namespace {

void note_ready(Communicator& communicator) {
  if (communicator.group() == nullptr || registry().record) return;
  const std::lock_guard<std::mutex> lock(registry().mutex);
  tables().ready.put(key_of(communicator.handle()), {&communicator, communicator.group()});
}

void decide(Communicator& communicator) {
  if (communicator.is_decided()) return;  // note() has left it to the host
  communicator.decide();
  note_ready(communicator);
}

}  // namespace

void set_up_if_due(Comm handle) {
  Communicator* communicator = tables().known.find(key_of(handle)).object;
  if (communicator == nullptr) communicator = make_communicator(handle);
  if (communicator->is_decided() || !communicator->has_enough_calls()) return;
  if (communicator->is_noted() || note(*communicator)) decide(*communicator);
}

void meet(Communicator& communicator, const std::function<bool()>& is_refused) {
  if (communicator.is_decided() || !communicator.meets()) return;
  if (!communicator.is_noted() && !note(communicator)) return;
  communicator.meet(is_refused);
  note_ready(communicator);
}

void expect_nonblocking(Comm handle) {
  Communicator* const known = tables().known.find(key_of(handle)).object;
  if (known != nullptr) known->expect_nonblocking();
}

Communicator* known_communicator(Comm handle) {
  if (!is_open(registry()) || Inside::depth != 0 || handle == host().comm_null) return nullptr;
  return find_known(handle);
}

Communicator* find_communicator(Comm handle) {
  Registry& registry = mpi::registry();
  if (!is_open(registry) || Inside::depth != 0 || handle == host().comm_null) return nullptr;
  Communicator* communicator = find_known(handle);
  if (communicator == nullptr) communicator = make_communicator(handle);
  if (communicator->group() != nullptr && tables().ready.find(key_of(handle)).object == nullptr)
    note_ready(*communicator);
  if (communicator->is_decided() || !communicator->has_enough_calls()) return communicator;
  if (!communicator->is_noted() && !note(*communicator)) return nullptr;
  if (!communicator->meets()) decide(*communicator);
  return communicator;
}

void count_call(Communicator& communicator, int code) {
  if (communicator.is_decided() || refused_for_arguments(code)) return;
  if (!communicator.is_noted() && !note(communicator)) return;
  if (communicator.is_decided()) return;
  communicator.count();
  if (communicator.has_enough_calls()) decide(communicator);
}

}  // namespace tutti::mpi
