#include "mpi/book.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpi/communicator_table.h"

namespace tutti::mpi {

constinit TUTTI_PER_THREAD int Inside::depth = 0;
constinit TUTTI_PER_THREAD Remembered remembered[1 << log_of_remembered]{};
shm::Word generation{1};

namespace {

struct Session {
  uint64_t handle;
  MPI_Group processes;
};

struct Book {
  std::mutex mutex;
  bool open = false;
  bool record = false;
  shm::Word off{0};  // these two change under the lock and are read without
  shm::Word left_world{0};
  uint64_t made = 0;  // communicators so far
  std::unordered_map<uint64_t, Communicator> communicators;
  std::vector<decltype(communicators)::node_type>
      spare;                   // memory of those that ended before they set up, for the next
  std::shared_ptr<Team> team;  // the world's
  std::string why_no_team;
  std::shared_ptr<const Places> places;
  MPI_Group world{};  // its processes, where world_known
  bool world_known = false;
  std::vector<Session> sessions;
  std::vector<std::weak_ptr<Team>> teams;  // of communicators, in the order of making
  int keyval = MPI_KEYVAL_INVALID;
  int trust_keyval = MPI_KEYVAL_INVALID;
};

// Never destroyed: exit handlers may still call MPI.
Book& book() {
  static Book& made = *new Book;
  return made;
}

// Likewise. Every communicator of the book; those that have a group, while nothing is recorded.
struct Tables {
  CommunicatorTable known, ready;

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

uint64_t key_of(MPI_Comm handle) { return (uint64_t)handle; }

int copy_nothing(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

// A duplicate has the same ranks.
int copy_trust(MPI_Comm, int, void*, void* value, void* copy, int* flag) {
  *static_cast<void**>(copy) = value;
  *flag = 1;
  return MPI_SUCCESS;
}

int delete_nothing(MPI_Comm, int, void*, void*) { return MPI_SUCCESS; }

// A communicator that is no longer in the book.
using Ended = decltype(Book::communicators)::node_type;

// The lock is held. Threads forget all that they remember.
Ended take_out(Book& book, uint64_t key) {
  tables().remove(key);
  shm::store_relaxed(generation, shm::load_relaxed(generation) + 1);
  return book.communicators.extract(key);
}

// The host calls it when a communicator ends.
int forget(MPI_Comm, int, void* value, void*) {
  Book& book = mpi::book();
  Ended ended;  // destroyed without the lock
  {
    const std::lock_guard<std::mutex> lock(book.mutex);
    if (!book.open) return MPI_SUCCESS;
    const uint64_t key = key_of(static_cast<Communicator*>(value)->handle());
    const auto found = book.communicators.find(key);
    if (found == book.communicators.end() || &found->second != value) return MPI_SUCCESS;
    ended = take_out(book, key);
  }
  return MPI_SUCCESS;
}

void* attribute(MPI_Comm handle, int keyval) {
  void* value = nullptr;
  int found = 0;
  const Inside inside;
  return host().Comm_get_attr(handle, keyval, &value, &found) == MPI_SUCCESS && found != 0
             ? value
             : nullptr;
}

// Where MPI_COMM_WORLD has ended: its communicators that were not freed have ended without a word,
// and a session's may have their handles.
Communicator* find_in_sessions(MPI_Comm handle) {
  Book& book = mpi::book();
  Ended stale;
  const std::lock_guard<std::mutex> lock(book.mutex);
  const auto found = book.communicators.find(key_of(handle));
  if (found == book.communicators.end()) return nullptr;
  // A handle that is no communicator's must not be asked for attributes: the host would raise an
  // error for it. What was noted by calls was made while there was no session, so it has ended with
  // the world.
  const Noted noted = found->second.noted();
  if (noted == Noted::not_yet ||
      (noted == Noted::by_attribute && attribute(handle, book.keyval) == &found->second)) {
    tables().known.put(key_of(handle), {&found->second});
    return &found->second;
  }
  stale = take_out(book, key_of(handle));
  return nullptr;
}

constexpr size_t most_spare = 16;

// The lock is held, and the book has no communicator of this handle. It takes all memory that
// counting calls needs: memory may run out at one rank alone, which then has not made the call.
Communicator* make_communicator(Book& book, MPI_Comm handle) {
  const uint64_t key = key_of(handle);
  if (book.spare.empty()) {
    book.communicators.try_emplace(key, handle, ++book.made);
  } else {
    auto node = std::move(book.spare.back());
    book.spare.pop_back();
    node.key() = key;
    node.mapped().renew(handle, ++book.made);
    book.communicators.insert(std::move(node));
  }
  Communicator* const made = &book.communicators.find(key)->second;
  tables().known.put(key, {made});
  tables().ready.put(key, {});
  return made;
}

Communicator* make_communicator(MPI_Comm handle) {
  Book& book = mpi::book();
  const std::lock_guard<std::mutex> lock(book.mutex);
  book.communicators.erase(key_of(handle));
  return make_communicator(book, handle);
}

// The host will tell when it ends; false where the handle is no communicator's.
bool note(Communicator& communicator) {
  const Inside inside;
  if (host().Comm_set_attr(communicator.handle(), book().keyval, &communicator) != MPI_SUCCESS)
    return false;
  communicator.note(Noted::by_attribute);
  return true;
}

// The host has not begun such a call, and no other rank knows of it.
bool refused_for_arguments(int code) {
  int kind = MPI_SUCCESS;
  if (code == MPI_SUCCESS || host().Error_class(code, &kind) != MPI_SUCCESS) return false;
  for (const int refusal : {MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_COMM, MPI_ERR_ROOT,
                            MPI_ERR_OP, MPI_ERR_ARG, MPI_ERR_RANK})
    if (kind == refusal) return true;
  return false;
}

// Destroys them in the order of their making, because some end communicators of the host.
void destroy(std::vector<Ended> communicators) {
  std::sort(communicators.begin(), communicators.end(), [](const Ended& one, const Ended& other) {
    return one.mapped().number() < other.mapped().number();
  });
  for (Ended& communicator : communicators) communicator = {};
}

}  // namespace

void open_book(bool record) {
  Book& book = mpi::book();
  const std::lock_guard<std::mutex> lock(book.mutex);
  if (book.open) return;
  host().Comm_create_keyval(copy_nothing, forget, &book.keyval, nullptr);
  host().Comm_create_keyval(copy_trust, delete_nothing, &book.trust_keyval, nullptr);
  book.record = record;
  book.spare.reserve(most_spare);
  shm::store_relaxed(book.left_world, 0);
  book.open = true;
}

void close_book() {
  Book& book = mpi::book();
  std::vector<Ended> ended;
  std::shared_ptr<Team> team;
  {
    const std::lock_guard<std::mutex> lock(book.mutex);
    if (!book.open) return;
    book.open = false;
    tables().clear();
    shm::store_relaxed(generation, shm::load_relaxed(generation) + 1);
    while (!book.communicators.empty())
      ended.push_back(book.communicators.extract(book.communicators.begin()));
    book.spare.clear();
    book.teams.clear();
    team = std::move(book.team);
    if (std::exchange(book.world_known, false)) host().Group_free(&book.world);
  }
  const Inside inside;
  destroy(std::move(ended));
  empty_parking_lot();
  host().Comm_free_keyval(&book.keyval);
  host().Comm_free_keyval(&book.trust_keyval);
  team.reset();
}

void enter_world(std::shared_ptr<Team> team, std::string why_no_team,
                 std::shared_ptr<const Places> places) {
  Book& book = mpi::book();
  const std::lock_guard<std::mutex> lock(book.mutex);
  book.team = std::move(team);
  book.why_no_team = std::move(why_no_team);
  book.places = std::move(places);
  book.world_known = host().Comm_group(host().comm_world, &book.world) == MPI_SUCCESS;
}

void leave_world() {
  Book& book = mpi::book();
  std::vector<Ended> ended;
  const Inside inside;
  empty_parking_lot();
  {
    const std::lock_guard<std::mutex> lock(book.mutex);
    std::vector<uint64_t> keys;
    for (const auto& [key, communicator] : book.communicators)
      if (communicator.team() != nullptr && communicator.team()->of_several_jobs())
        keys.push_back(key);
    for (const uint64_t key : keys) ended.push_back(take_out(book, key));
    // Those that have ended without a word are found out when they are looked up again.
    tables().clear();
    shm::store_relaxed(generation, shm::load_relaxed(generation) + 1);
    shm::store_relaxed(book.left_world, 1);
    book.places.reset();
    if (book.world_known) rebase(&book.world, book.sessions.front().processes);
    if (book.team != nullptr) book.team->leave_world(book.sessions.front().processes);
  }
  destroy(std::move(ended));
}

bool world_lasts() { return book().open && shm::load_relaxed(book().left_world) == 0; }

void switch_off() {
  const std::lock_guard<std::mutex> lock(book().mutex);
  shm::store_relaxed(book().off, 1);
}

bool book_is_open() { return book().open; }

std::vector<const Communicator*> known_communicators() {
  const std::lock_guard<std::mutex> lock(book().mutex);
  std::vector<const Communicator*> all;
  for (const auto& [key, communicator] : book().communicators) all.push_back(&communicator);
  return all;
}

std::shared_ptr<Team> world_team() {
  const std::lock_guard<std::mutex> lock(book().mutex);
  return book().team;
}

const std::string& why_no_team() { return book().why_no_team; }

bool in_world(MPI_Comm communicator, int ranks) {
  const std::lock_guard<std::mutex> lock(book().mutex);
  return book().world_known && all_within(communicator, ranks, book().world);
}

std::shared_ptr<const Places> world_places(MPI_Comm communicator, int ranks,
                                           std::vector<int>* members) {
  const std::lock_guard<std::mutex> lock(book().mutex);
  if (book().places != nullptr && book().world_known)
    *members = places_in(communicator, ranks, book().world);
  return book().places;
}

bool may_set_up() { return shm::load_relaxed(book().off) == 0; }

void note_session(uint64_t session, MPI_Group processes) {
  const std::lock_guard<std::mutex> lock(book().mutex);
  book().sessions.push_back({session, processes});
}

bool forget_session(uint64_t session) {
  Book& book = mpi::book();
  const std::lock_guard<std::mutex> lock(book.mutex);
  const auto found = std::find_if(book.sessions.begin(), book.sessions.end(),
                                  [&](const Session& known) { return known.handle == session; });
  if (found == book.sessions.end()) return false;
  MPI_Group processes = found->processes;
  book.sessions.erase(found);
  if (shm::load_relaxed(book.left_world) != 0 &&
      !book.sessions.empty()) {  // what was told by the session's group must be told by another's
    if (book.world_known) rebase(&book.world, book.sessions.front().processes);
    if (book.team != nullptr) book.team->leave_world(book.sessions.front().processes);
  }
  host().Group_free(&processes);
  return true;
}

bool knows_session(uint64_t session) {
  const std::lock_guard<std::mutex> lock(book().mutex);
  return std::any_of(book().sessions.begin(), book().sessions.end(),
                     [&](const Session& known) { return known.handle == session; });
}

bool any_session() {
  const std::lock_guard<std::mutex> lock(book().mutex);
  return !book().sessions.empty();
}

void trust(MPI_Comm communicator) {
  host().Comm_set_attr(communicator, book().trust_keyval, &book());
}
bool trusted(MPI_Comm communicator) {
  return attribute(communicator, book().trust_keyval) != nullptr;
}

bool may_ask(MPI_Comm communicator, int ranks) {
  if (trusted(communicator) || noted_team(communicator, ranks) != nullptr) return true;
  const std::lock_guard<std::mutex> lock(book().mutex);
  return std::any_of(book().sessions.begin(), book().sessions.end(), [&](const Session& session) {
    return all_within(communicator, ranks, session.processes);
  });
}

void note_team(const std::shared_ptr<Team>& team) {
  std::vector<std::weak_ptr<Team>>& teams = book().teams;
  const std::lock_guard<std::mutex> lock(book().mutex);
  std::erase_if(teams, [](const std::weak_ptr<Team>& noted) { return noted.expired(); });
  teams.push_back(team);
}

std::shared_ptr<Team> noted_team(MPI_Comm communicator, int ranks) {
  std::vector<std::shared_ptr<Team>> alive;  // released without the lock
  const std::lock_guard<std::mutex> lock(book().mutex);
  for (const std::weak_ptr<Team>& noted : book().teams)
    if (std::shared_ptr<Team> team = noted.lock()) alive.push_back(std::move(team));
  const auto newest = std::find_if(alive.rbegin(), alive.rend(), [&](const auto& team) {
    return team->covers(communicator, ranks);
  });
  return newest == alive.rend() ? nullptr : *newest;
}

void communicator_made(MPI_Comm handle) noexcept {
  Book& book = mpi::book();
  if (!book.open || Inside::depth != 0 || handle == host().comm_null) return;
  Ended stale;  // destroyed without the lock
  const std::lock_guard<std::mutex> lock(book.mutex);
  if (!book.sessions.empty())
    return;  // or nobody would know which communicators end with the world
  try {
    if (book.communicators.contains(key_of(handle))) stale = take_out(book, key_of(handle));
    make_communicator(book, handle)->note(Noted::by_calls);
  } catch (...) {  // memory has run out; its first call tries again
    tables().remove(key_of(handle));
    book.communicators.erase(key_of(handle));
  }
}

void communicator_ends(MPI_Comm handle) noexcept {
  Book& book = mpi::book();
  if (!book.open || Inside::depth != 0) return;
  Ended ended;  // destroyed without the lock
  const std::lock_guard<std::mutex> lock(book.mutex);
  const auto found = book.communicators.find(key_of(handle));
  if (found == book.communicators.end() || found->second.noted() != Noted::by_calls) return;
  if (found->second.is_decided() || book.spare.size() == most_spare) {
    ended = take_out(book, key_of(handle));
    return;
  }
  tables().known.remove(key_of(handle));
  book.spare.push_back(book.communicators.extract(found));
}

const Remembered* recall(MPI_Comm handle) {
  if (Inside::depth != 0) return nullptr;
  const CommunicatorTable::Entry found = tables().ready.find(key_of(handle));
  if (found.communicator == nullptr) return nullptr;
  ServedCalls::enter_thread();
  Remembered& place = place_of(handle);
  place = {handle, shm::load_relaxed(generation), found.communicator, found.group};
  return &place;
}

namespace {

void note_ready(Communicator& communicator) {
  if (communicator.group() == nullptr || book().record) return;
  const std::lock_guard<std::mutex> lock(book().mutex);
  tables().ready.put(key_of(communicator.handle()), {&communicator, communicator.group()});
}

void decide(Communicator& communicator) {
  communicator.decide();
  note_ready(communicator);
}

}  // namespace

Communicator* find_communicator(MPI_Comm handle) {
  Book& book = mpi::book();
  if (!book.open || Inside::depth != 0 || handle == host().comm_null) return nullptr;
  Communicator* communicator = tables().known.find(key_of(handle)).communicator;
  if (communicator == nullptr && shm::load_relaxed(book.left_world) != 0)
    communicator = find_in_sessions(handle);
  if (communicator == nullptr) communicator = make_communicator(handle);
  if (communicator->group() != nullptr &&
      tables().ready.find(key_of(handle)).communicator == nullptr)
    note_ready(*communicator);
  if (communicator->is_decided() || !communicator->has_enough_calls()) return communicator;
  if (!communicator->is_noted() && !note(*communicator)) return nullptr;
  decide(*communicator);
  return communicator;
}

void count_call(Communicator& communicator, int code) {
  if (communicator.is_decided() || refused_for_arguments(code)) return;
  if (!communicator.is_noted() && !note(communicator)) return;
  communicator.count();
  if (communicator.has_enough_calls()) decide(communicator);
}

}  // namespace tutti::mpi
