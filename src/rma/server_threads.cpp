#include "rma/server_threads.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "rma/server.h"

namespace tutti::rma {
namespace {

void run_on(const std::vector<int>& units) {
  if (units.empty()) return;
  const int most = *std::max_element(units.begin(), units.end()) + 1;
  cpu_set_t* const set = CPU_ALLOC(most);
  const size_t bytes = CPU_ALLOC_SIZE(most);
  CPU_ZERO_S(bytes, set);
  for (const int unit : units) CPU_SET_S(static_cast<size_t>(unit), bytes, set);
  if (sched_setaffinity(0, bytes, set) != 0)
    log_line(LogLevel::warning,
             "a server cannot run on processing unit %d: it runs where its starter does", units[0]);
  CPU_FREE(set);
}

// While it lives, new threads of this thread begin with all signals blocked.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

ServerThreads::ServerThreads(const Domain& domain, Mover& mover, const Settings& settings)
    : domain_(domain), made_by_(getpid()) {
  const SignalsBlocked blocked;
  const int polls = settings.own_units ? polls_of_own_core : polls_of_shared_core;
  for (int32_t nth = 0; nth < settings.count; ++nth) {
    const int32_t place =
        settings.places.empty() ? nth : settings.places.at(static_cast<size_t>(nth));
    ServerState& state = domain.server(place);
    shm::publish(state.is_asked_to_stop, 0);
    shm::store_relaxed(state.process, static_cast<uint64_t>(getpid()));
    shm::publish(state.life, static_cast<uint64_t>(Life::running));
    std::vector<int> units = settings.units;
    if (settings.own_units) units = {settings.units.at(static_cast<size_t>(nth))};
    try {
      threads_.emplace_back([domain, place, &mover, polls, units] {
        pthread_setname_np(pthread_self(), "tutti-server");
        run_on(units);
        Server(domain, place, mover, polls).run();
      });
      places_.push_back(place);
    } catch (const std::system_error& error) {
      shm::publish(state.life, static_cast<uint64_t>(Life::absent));
      stop_all();
      throw Error(Code::unavailable, "the system refuses a thread for server " +
                                         std::to_string(place) + ": " + error.what() +
                                         "; ask for fewer servers, or raise the limit of threads");
    }
  }
}

ServerThreads::~ServerThreads() { stop_all(); }

void ServerThreads::stop_all() {
  if (getpid() != made_by_) {  // a forked child has none of these threads, and cannot join them
    static_cast<void>(new std::vector<std::thread>(std::move(threads_)));
    return;
  }
  for (const int32_t place : places_) stop(domain_, place);
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  places_.clear();
}

}  // namespace tutti::rma
