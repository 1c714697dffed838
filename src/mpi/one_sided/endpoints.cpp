#include "mpi/one_sided/endpoints.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/log.h"
#include "base/options.h"
#include "exec/waiter.h"
#include "mpi/host/inside.h"
#include "mpi/job/end.h"
#include "mpi/job/servers.h"
#include "mpi/one_sided/at_all.h"
#include "mpi/one_sided/between_nodes.h"
#include "rma/look.h"

namespace tutti::mpi {
namespace {

using Place = Endpoints::Place;

// The ranks that have server n of their domains, in ascending order, and for each rank of the job
// who of them answers for it.
struct Meeting {
  std::vector<int> hosts;
  std::vector<rma::Endpoint::Way> ways;

  bool has(int rank) const { return std::binary_search(hosts.begin(), hosts.end(), rank); }
};

Meeting meeting(int server, const std::vector<Place>& places) {
  std::map<std::pair<int32_t, int32_t>, std::vector<int>> domains;  // their ranks, by node
  for (size_t rank = 0; rank < places.size(); ++rank)
    domains[{places[rank].node, places[rank].domain}].push_back(static_cast<int>(rank));
  Meeting found;
  found.ways.resize(places.size());
  for (auto& [key, ranks] : domains) {
    std::sort(ranks.begin(), ranks.end(), [&](int a, int b) {
      return places[static_cast<size_t>(a)].member < places[static_cast<size_t>(b)].member;
    });
    found.hosts.push_back(
        ranks[static_cast<size_t>(server_of(server, static_cast<int>(ranks.size())))]);
    for (const int rank : ranks)
      found.ways[static_cast<size_t>(rank)] = {found.hosts.back(),
                                               places[static_cast<size_t>(rank)].member};
  }
  std::sort(found.hosts.begin(), found.hosts.end());
  for (rma::Endpoint::Way& way : found.ways)
    way.answers =
        static_cast<int32_t>(std::lower_bound(found.hosts.begin(), found.hosts.end(), way.answers) -
                             found.hosts.begin());
  return found;
}

}  // namespace

Endpoints::Held::Held(PrivateCommunicator communicator, std::vector<rma::Endpoint::Way> ways,
                      const rma::Endpoint::Memory& memory)
    : communicator_(std::move(communicator)),
      wire_(communicator_.get()),
      endpoint_(wire_, window_to_rank(), std::move(ways), memory),
      last_moved_(exec::Lane::Clock::now()) {}

exec::Lane::Turn Endpoints::Held::drive_for_others() {
  using Turn = exec::Lane::Turn;
  if (!endpoint_.drive_without_server()) return Turn::idle;
  last_moved_ = exec::Lane::Clock::now();
  return Turn::moved;
}

exec::Lane::Clock::time_point Endpoints::Held::next_look() const {
  if (endpoint_.is_taken()) return exec::Lane::Clock::time_point::max();
  const auto now = exec::Lane::Clock::now();
  return now + rma::until_next_look(now - last_moved_.load(), false);
}

std::unique_ptr<Endpoints> Endpoints::make(Comm over, int rank, int ranks, int servers,
                                           const FindPlace& find_place) {
  const Host& mpi = host();
  const Inside inside;
  PrivateCommunicator all_ranks = PrivateCommunicator::split(over, 0, rank);
  if (!all_ranks) return nullptr;  // at all ranks
  all_ranks.return_errors();
  const Comm all_of_job = all_ranks.get();
  const auto count = static_cast<size_t>(servers);
  Place own;
  rma::Endpoint::Memory memory;
  std::vector<Place> places;
  std::vector<Meeting> meetings;
  std::vector<PrivateCommunicator> meets;
  std::unique_ptr<Endpoints> made;
  bool permitted = false;
  at_all(all_of_job, [&] {
    permitted = start_server();
    find_place(&own, &memory);
    places.resize(static_cast<size_t>(ranks));
    meets.resize(count);
    made.reset(new Endpoints);
    made->made_by_ = getpid();
  });
  if (!true_at_all(all_of_job, permitted)) return nullptr;
  mpi.Allgather(&own, sizeof own, mpi.type_byte, places.data(), sizeof own, mpi.type_byte,
                all_of_job);
  at_all(all_of_job, [&] {
    for (int server = 0; server < servers; ++server) meetings.push_back(meeting(server, places));
  });
  bool whole = true;
  for (size_t server = 0; server < count; ++server) {
    const bool here = meetings[server].has(rank);
    meets[server] = PrivateCommunicator::split(all_of_job, here ? 0 : abi.undefined, rank);
    whole = whole && (!here || meets[server]);
    if (meets[server]) meets[server].return_errors();
  }
  if (!true_at_all(all_of_job, whole)) return nullptr;
  at_all(all_of_job, [&] {
    for (size_t server = 0; server < count; ++server) {
      if (!meets[server]) continue;
      made->held_.push_back(std::make_unique<Held>(std::move(meets[server]),
                                                   std::move(meetings[server].ways), memory));
      hand_to_server(*made->held_.back());  // until a server takes it
    }
  });
  made->leaving_ = std::move(all_ranks);
  return made;
}

// A forked child must not call MPI.
Endpoints::~Endpoints() {
  const bool forked = getpid() != made_by_;
  if (forked) leaving_.abandon();
  for (const auto& held : held_) {
    if (forked)
      held->abandon();
    else
      take_from_server(*held);
  }
}

std::vector<rma::Endpoint*> Endpoints::all() const {
  std::vector<rma::Endpoint*> endpoints;
  for (const auto& held : held_) endpoints.push_back(&held->endpoint());
  return endpoints;
}

void Endpoints::hand_over_idle_ones() {
  for (const auto& held : held_)
    if (!held->endpoint().is_taken()) hand_to_server(*held);
}

void Endpoints::leave() {
  const Inside inside;
  Request request{};
  const int begun = host().Ibarrier(leaving_.get(), &request);
  const int code = complete_collective(begun, request, [&](exec::Waiter& waiter) {
    if (!waiter.stalls()) return;
    log_line(LogLevel::warning, "has waited %d s for other ranks to call MPI_Finalize",
             options().stall_seconds);
    end_stalled_job(leaving_.get());
  });
  if (code == success) return;
  leaving_.abandon();  // others may not free them
  for (const auto& held : held_) held->abandon();
}

}  // namespace tutti::mpi
