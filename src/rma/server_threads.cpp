#include "rma/server_threads.h"

#include <pthread.h>
#include <unistd.h>

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "base/short_slices.h"
#include "base/signals_blocked.h"
#include "rma/server.h"
#include "topo/binding.h"

namespace tutti::rma {
namespace {

void run_on(const std::vector<int>& units) {
  if (!topo::bind_to(units))
    log_line(LogLevel::warning,
             "a server cannot run on processing unit %d: it runs where its starter does", units[0]);
}

}  // namespace

ServerThreads::ServerThreads(const Domain& domain, Mover& mover, const ServerSettings& settings)
    : domain_(domain), made_by_(getpid()) {
  const std::vector<int32_t> places =
      settings.places.empty() ? claim_all(domain, settings.count) : settings.places;
  const SignalsBlocked blocked;
  const int polls = settings.own_units ? polls_of_own_core : polls_of_shared_core;
  threads_.reserve(static_cast<size_t>(settings.count));
  started_.reserve(static_cast<size_t>(settings.count));  // whoever runs is stopped in the end
  for (int32_t nth = 0; nth < settings.count; ++nth) {
    const int32_t place = places.at(static_cast<size_t>(nth));
    try {
      Endpoint* const endpoint = settings.endpoint_of(nth);
      announce(domain.server(place), this_process(),
               endpoint != nullptr ? ServerKind::thread_with_endpoint : ServerKind::thread);
      auto server = std::make_unique<Server>(domain, place, mover, polls, endpoint);
      threads_.emplace_back([server = std::move(server), units = settings.units_of(nth)] {
        pthread_setname_np(pthread_self(), "tutti-server");
        run_on(units);
        ask_for_short_slices();
        server->run();
      });
      started_.push_back({place, standing(domain.server(place)).generation});
    } catch (const std::exception& error) {
      stop_all();
      for (const int32_t claimed : places) claim_again(domain.server(claimed));
      if (settings.places.empty()) release_places(domain, places);
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
  for (const Started& server : started_) stop(domain_, server);
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  started_.clear();
}

}  // namespace tutti::rma
