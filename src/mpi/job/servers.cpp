#include "mpi/job/servers.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/options.h"
#include "mpi/abi/inside.h"
#include "mpi/job/drive_host.h"

namespace tutti::mpi {
namespace {

using std::chrono::microseconds;

// The sleeps between turns in which nothing can be done. Each wake-up takes some microseconds of a
// core that the program may need, and an operation ends up to a sleep late (docs/servers.md).
constexpr microseconds shortest_sleep(20), longest_sleep(100);

struct State {
  std::mutex mutex;  // guards all; not held while lanes are driven
  bool permitted = false;
  bool ends = false;
  std::vector<group::Lanes*> active;  // with operations under way
  group::Lanes* driven = nullptr;     // at this moment
  std::condition_variable work;       // lanes have become active, or the server ends
  std::condition_variable left;       // `driven` has changed
  std::thread thread;
  pid_t made_by = 0;  // the process that has the thread
  ServerDeeds deeds;

  bool runs() const { return thread.joinable() && made_by == getpid(); }
};

State& state() {
  static State& made = *new State;
  return made;
}

// One turn of all active lanes. Forgets those that have nothing to do. True if a step was executed.
bool take_turns(State& state, std::unique_lock<std::mutex>& lock) {
  bool moved = false;
  ++state.deeds.turns;
  for (size_t i = 0; i < state.active.size();) {
    group::Lanes& lanes = *(state.driven = state.active[i]);
    lock.unlock();
    moved = lanes.drive_for_others() == exec::Lane::Turn::moved || moved;
    lock.lock();
    state.driven = nullptr;
    state.left.notify_all();
    // Other threads may have changed the list meanwhile.
    const auto found = std::find(state.active.begin(), state.active.end(), &lanes);
    if (found == state.active.end()) continue;
    i = static_cast<size_t>(found - state.active.begin());
    if (lanes.is_idle())
      state.active.erase(found);
    else
      ++i;
  }
  return moved;
}

// On the cores that servers have been given (TUTTI_SERVERS=N@CORES), if any.
void keep_to_own_cores() {
  const std::set<int>& cores = options().servers.cores;
  if (cores.empty()) return;
  const int most = *cores.rbegin() + 1;
  cpu_set_t* const set = CPU_ALLOC(most);
  const size_t bytes = CPU_ALLOC_SIZE(most);
  CPU_ZERO_S(bytes, set);
  for (const int core : cores) CPU_SET_S(static_cast<size_t>(core), bytes, set);
  if (sched_setaffinity(0, bytes, set) != 0)
    log_once("server/cores", LogLevel::warning,
             "a server cannot run on processing unit %d: it runs where its rank does",
             *cores.begin());
  CPU_FREE(set);
}

void serve() {
  const Inside inside;  // some hosts call MPI_* themselves
  State& state = mpi::state();
  std::unique_lock<std::mutex> lock(state.mutex);
  microseconds sleep = shortest_sleep;
  while (!state.ends) {
    if (state.active.empty()) {
      state.work.wait(lock);
      sleep = shortest_sleep;
    } else if (take_turns(state, lock)) {
      sleep = shortest_sleep;
    } else if (!state.active.empty()) {
      ++state.deeds.sleeps;
      state.work.wait_for(lock, sleep);
      // A lane calls the host only while it waits for a message of its own.
      lock.unlock();
      drive_host();
      lock.lock();
      sleep = std::min(2 * sleep, longest_sleep);
    }
  }
}

// New threads begin with the signal mask of the thread that makes them.
std::thread thread_without_signals() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread made;
  try {
    made = std::thread([] {
      pthread_setname_np(pthread_self(), "tutti-server");
      keep_to_own_cores();
      serve();
    });
  } catch (const std::system_error& error) {
    log_once("server", LogLevel::warning,
             "the system refuses a thread for a server (%s); non-blocking collectives between "
             "nodes stay on the host MPI",
             error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return made;
}

}  // namespace

void permit_servers(bool permitted) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  state().permitted = permitted;
}

bool start_server() {
  State& state = mpi::state();
  const std::lock_guard<std::mutex> lock(state.mutex);
  if (!state.permitted || state.ends) return false;
  if (!state.thread.joinable()) {
    state.thread = thread_without_signals();
    state.made_by = getpid();
  }
  return state.runs();
}

void stop_server() {
  State& state = mpi::state();
  std::thread thread;
  {
    const std::lock_guard<std::mutex> lock(state.mutex);
    state.ends = true;
    if (!state.runs()) return;
    thread = std::move(state.thread);
    state.work.notify_all();
  }
  thread.join();
}

void hand_to_server(group::Lanes& lanes) {
  State& state = mpi::state();
  const std::lock_guard<std::mutex> lock(state.mutex);
  if (!state.runs()) return;
  if (std::find(state.active.begin(), state.active.end(), &lanes) != state.active.end()) return;
  state.active.push_back(&lanes);
  if (state.active.size() == 1) state.work.notify_one();
}

void take_from_server(group::Lanes& lanes) {
  State& state = mpi::state();
  std::unique_lock<std::mutex> lock(state.mutex);
  std::erase(state.active, &lanes);
  if (state.runs()) state.left.wait(lock, [&] { return state.driven != &lanes; });
}

ServerDeeds server_deeds() {
  const std::lock_guard<std::mutex> lock(state().mutex);
  return state().deeds;
}

}  // namespace tutti::mpi
