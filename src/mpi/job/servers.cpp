#include "mpi/job/servers.h"

#include <pthread.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "base/descriptors.h"
#include "base/log.h"
#include "base/options.h"
#include "base/short_slices.h"
#include "base/signals_blocked.h"
#include "mpi/host/inside.h"
#include "mpi/job/drive_host.h"
#include "report/tally.h"
#include "topo/binding.h"

namespace tutti::mpi {
namespace {

using Clock = exec::Lane::Clock;

// The server looks after this time again at an operation that a rank drives.
constexpr auto driven_by_a_rank = std::chrono::milliseconds(1);

// A clock that wakes the server. Any thread may set it.
class Alarm {
 public:
  Alarm() : file_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)) {}
  bool works() const { return static_cast<bool>(file_); }
  // At this time of the steady clock, or at once if it has passed.
  void set(Clock::time_point time) {
    const int64_t nanoseconds = std::max<int64_t>(1, time.time_since_epoch().count());
    itimerspec spec{};
    spec.it_value = {nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
    timerfd_settime(file_.number(), TFD_TIMER_ABSTIME, &spec, nullptr);
  }
  void sleep() {
    uint64_t times = 0;
    while (read(file_.number(), &times, sizeof times) < 0 && errno == EINTR) {
    }
  }

 private:
  const Descriptor file_;
};

// Lanes with operations under way, or a group's transfers between nodes.
struct Active {
  Driven driven;
  Clock::time_point look;  // when to drive it
};

struct State {
  std::mutex mutex;  // guards all; not held while an object is driven
  bool permitted = false;
  bool ends = false;
  std::vector<Active> active;
  std::vector<Driven> due;       // the server's; it has room for all that are active
  const void* driven = nullptr;  // the object, at this moment
  std::condition_variable left;  // `driven` has changed
  std::optional<Alarm> alarm;    // from the first server on, until MPI ends
  Clock::time_point wakes = Clock::time_point::max();  // the time of the alarm; max: it is off
  std::thread thread;
  pid_t made_by = 0;  // the process that has the thread
  uint64_t looks = 0;

  bool runs() const { return thread.joinable() && made_by == getpid(); }
  Active* find(const void* object) {
    const auto found = std::find_if(active.begin(), active.end(),
                                    [&](const Active& one) { return one.driven.object == object; });
    return found == active.end() ? nullptr : &*found;
  }
  // May throw, and has then added nothing.
  void add(const Active& one) {
    due.reserve(active.size() + 1);
    active.push_back(one);
  }
  void wake_at(Clock::time_point time) {
    if (time >= wakes) return;
    wakes = time;
    alarm->set(time);
  }
};

State& state() {
  static State& made = *new State;
  return made;
}

// Drives the objects that ask for it now, and forgets those that have nothing to do. True if all of
// these only wait. Other threads may change the list while an object is driven.
bool take_turns(State& state, std::unique_lock<std::mutex>& lock) {
  const Clock::time_point now = Clock::now();
  bool missed = true;
  std::vector<Driven>& due = state.due;
  due.clear();
  for (const Active& one : state.active)
    if (one.look <= now) due.push_back(one.driven);
  // The lock is released in between, so another thread may make room for more.
  for (size_t i = 0; i < due.size(); ++i) {
    const Driven driven = due[i];
    if (state.find(driven.object) == nullptr) continue;
    ++state.looks;
    state.driven = driven.object;
    lock.unlock();
    const exec::Lane::Turn turn = driven.drive(driven);
    lock.lock();
    state.driven = nullptr;
    state.left.notify_all();
    missed = missed && turn == exec::Lane::Turn::waits;
    Active* const one = state.find(driven.object);
    if (one == nullptr) continue;
    if (driven.is_idle(driven))
      state.active.erase(state.active.begin() + (one - state.active.data()));
    else
      one->look =
          turn == exec::Lane::Turn::taken ? now + driven_by_a_rank : driven.next_look(driven);
  }
  return missed && !due.empty();
}

// On the cores that servers have been given (TUTTI_SERVERS=N@CORES), if any.
void keep_to_own_cores() {
  const std::set<int>& cores = options().servers.cores;
  if (!topo::bind_to({cores.begin(), cores.end()}))
    log_once("server/cores", LogLevel::warning,
             "a server cannot run on processing unit %d: it runs where its rank does",
             *cores.begin());
}

void serve() {
  const Inside inside;  // some hosts call MPI_* themselves
  State& state = mpi::state();
  std::unique_lock<std::mutex> lock(state.mutex);
  while (!state.ends) {
    lock.unlock();
    state.alarm->sleep();
    lock.lock();
    state.wakes = Clock::time_point::max();
    const bool missed = take_turns(state, lock);
    if (missed && !state.active.empty()) {
      // A lane calls the host only while it waits for a message of its own.
      lock.unlock();
      drive_messages();
      lock.lock();
    }
    for (const Active& one : state.active) state.wake_at(one.look);
  }
}

// New threads begin with the signal mask of the thread that makes them.
std::thread thread_without_signals() {
  const SignalsBlocked blocked;
  std::thread made;
  try {
    made = std::thread([] {
      pthread_setname_np(pthread_self(), "tutti-server");
      keep_to_own_cores();
      ask_for_short_slices();
      serve();
    });
  } catch (const std::exception& error) {
    log_once("server", LogLevel::warning,
             "the system refuses a thread for a server (%s); non-blocking collectives between "
             "nodes stay on the host MPI",
             error.what());
  }
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
  if (!state.alarm) state.alarm.emplace();
  if (!state.alarm->works()) {
    log_once("server", LogLevel::warning,
             "the system refuses a timer for a server (the limit of open files?); non-blocking "
             "collectives between nodes stay on the host MPI");
    return false;
  }
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
    if (state.runs()) {
      thread = std::move(state.thread);
      state.alarm->set({});
    }
  }
  if (thread.joinable()) thread.join();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.alarm.reset();
}

void hand_to_server(const Driven& driven) {
  State& state = mpi::state();
  const Clock::time_point look = driven.next_look(driven);
  const std::lock_guard<std::mutex> lock(state.mutex);
  if (!state.runs()) return;
  if (Active* const one = state.find(driven.object))
    one->look = std::min(one->look, look);
  else
    state.add({driven, look});
  state.wake_at(look);
}

void take_from_server(const void* object) {
  State& state = mpi::state();
  std::unique_lock<std::mutex> lock(state.mutex);
  if (Active* const one = state.find(object))
    state.active.erase(state.active.begin() + (one - state.active.data()));
  if (state.runs()) state.left.wait(lock, [&] { return state.driven != object; });
}

void record_server() {
  State& state = mpi::state();
  const std::lock_guard<std::mutex> lock(state.mutex);
  clockid_t clock{};
  timespec used{};
  if (!state.runs()) return;
  if (pthread_getcpuclockid(state.thread.native_handle(), &clock) == 0) clock_gettime(clock, &used);
  const auto seconds = static_cast<uint64_t>(used.tv_sec);
  report::record_driving(
      {.servers = 1,
       .looks = state.looks,
       .nanoseconds = seconds * 1'000'000'000 + static_cast<uint64_t>(used.tv_nsec)});
}

}  // namespace tutti::mpi
