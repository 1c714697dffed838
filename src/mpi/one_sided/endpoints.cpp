#include "mpi/one_sided/endpoints.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/log.h"
#include "base/options.h"
#include "exec/waiter.h"
#include "mpi/host/inside.h"
#include "mpi/job/drive_host.h"
#include "mpi/job/end.h"
#include "mpi/job/servers.h"
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

// Collective: true if `own` is true at all ranks.
bool at_all(Comm communicator, bool own) {
  const uint64_t here = own ? 1 : 0;
  uint64_t least = 0;
  return host().Allreduce(&here, &least, 1, host().type_uint64, host().op_min, communicator) ==
             success &&
         least == 1;
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
  const auto now = exec::Lane::Clock::now();
  return now + rma::until_next_look(now - last_moved_.load(), false);
}

std::unique_ptr<Endpoints> Endpoints::make(Comm over, int rank, int servers, const Place& own,
                                           const rma::Endpoint::Memory& memory) {
  const Host& mpi = host();
  const Inside inside;
  PrivateCommunicator all = PrivateCommunicator::split(over, 0, rank);
  if (!all) return nullptr;  // at all ranks
  all.return_errors();
  if (!at_all(all.get(), start_server())) return nullptr;
  int ranks = 0;
  mpi.Comm_size(all.get(), &ranks);
  std::vector<Place> places(static_cast<size_t>(ranks));
  mpi.Allgather(&own, sizeof own, mpi.type_byte, places.data(), sizeof own, mpi.type_byte,
                all.get());
  std::unique_ptr<Endpoints> made(new Endpoints);
  bool whole = true;
  for (int server = 0; server < servers; ++server) {
    Meeting found = meeting(server, places);
    const bool here = std::binary_search(found.hosts.begin(), found.hosts.end(), rank);
    PrivateCommunicator meets =
        PrivateCommunicator::split(all.get(), here ? 0 : abi.undefined, rank);
    whole = whole && (!here || meets);
    if (!here || !meets) continue;
    meets.return_errors();
    made->held_.push_back(std::make_unique<Held>(std::move(meets), std::move(found.ways), memory));
  }
  whole = at_all(all.get(), whole);
  made->made_by_ = getpid();
  made->leaving_ = std::move(all);
  return whole ? std::move(made) : nullptr;
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
  int done = 0;
  int code = host().Ibarrier(leaving_.get(), &request);
  exec::Waiter waiter(exec::pace_of_messages(exec::WaitStyle::yield));
  const auto all_have_left = [&] {
    drive_transfers();
    if (code == success) code = host().Test(&request, &done, abi.status_ignore);
    return code != success || done != 0;
  };
  waiter.until(all_have_left, [&] {
    if (!waiter.stalls()) return Code::ok;
    log_line(LogLevel::warning, "has waited %d s for other ranks to call MPI_Finalize",
             options().stall_seconds);
    if (options().stall != StallAction::abort_job) return Code::ok;
    log_line(LogLevel::error, "stalled for %d s; ended because TUTTI_STALL=abort",
             options().stall_seconds);
    let_launcher_read();
    end_job(leaving_.get());
  });
  if (code == success) return;
  leaving_.abandon();  // others may not free them
  for (const auto& held : held_) held->abandon();
}

}  // namespace tutti::mpi
