#include "mpi/communicators/one_node.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <utility>

#include "base/log.h"
#include "base/options.h"
#include "base/process.h"
#include "exec/waiter.h"
#include "mpi/communicators/registry.h"
#include "mpi/host/inside.h"
#include "mpi/host/polled.h"
#include "mpi/host/ranks.h"
#include "mpi/host/types.h"
#include "mpi/job/end.h"
#include "mpi/job/found_table.h"
#include "mpi/report/tracing.h"

namespace tutti::mpi {
namespace {

// Some of the node's memory is kept for communicators that make many calls. Each that meets takes
// at most a quarter of what is left (team::AreaPool::share_of), so about eleven meet at one time.
bool is_roomy(const shm::Segment& segment) {
  return segment.free_bytes() >= segment.usable_bytes() / 32;
}

// An identity that no other parked service of the team has, because the leader's rank in the team
// is a part of it.
uint64_t new_service_identity(const std::vector<int>& members) {
  static std::atomic<uint32_t> made{0};
  const uint64_t leader = members.empty() ? 0 : static_cast<uint64_t>(members.front());
  return leader << 32 | made.fetch_add(1);
}

// A number that no other communicator of the team gets from the set-up of one.
uint64_t new_lineage(const Team& team) {
  static std::atomic<uint32_t> made{0};
  return static_cast<uint64_t>(team.rank()) << 32 | made.fetch_add(1);
}

}  // namespace

// For rank 0: memory, or a parked service, for a communicator whose ranks are these members of the
// team. If a service is taken, it is service_.
AreaGrant OneNode::grant() {
  AreaGrant grant;
  if (!of_.members.empty() && tracer() == nullptr) service_ = take_parked(*of_.team, of_.members);
  if (service_ != nullptr) {
    grant.taken_over = true;
    grant.service = service_->identity;
    return grant;
  }
  grant = of_.team->areas().grant(of_.ranks);
  grant.service = new_service_identity(of_.members);
  if (tracer() != nullptr) grant.identity = new_identity();
  grant.missing_types = missing_types();
  return grant;
}

// For rank 0, if no rank will use what it has granted: gives the shares of all ranks back, because
// some may not even have attached to the memory.
void OneNode::forgo(const AreaGrant& grant) {
  if (grant.taken_over) return park_again(std::move(service_));
  shm::Segment* const segment = grant.granted ? of_.team->areas().segment(grant) : nullptr;
  for (int rank = 0; segment != nullptr && rank < of_.ranks; ++rank) segment->leave(grant.page);
}

// Takes the parked service that the grant names; false if it names none.
bool OneNode::take_over(const AreaGrant& grant) {
  if (!grant.taken_over) return false;
  if (service_ == nullptr) service_ = take_parked(*of_.team, grant.service);
  if (service_ == nullptr)
    // The leader has seen that all ranks had parked it.
    throw std::logic_error("a parked communicator has gone");
  service_->serve(of_.handle);
  // The program may have changed the table since the service was parked.
  service_->group->decide_by(table_of_job(of_.team->of_world()));
  return true;
}

bool OneNode::tell(AreaGrant* grant) {
  if (of_.rank == 0) {
    *grant = this->grant();
    grant->lineage = new_lineage(*of_.team);
  }
  // If the communicator was revoked, this fails at all ranks. The program's call then raises the
  // same error.
  if (broadcast(grant, sizeof *grant, of_.handle) == success) return true;
  if (of_.rank == 0) forgo(*grant);
  return false;
}

// Where ranks touch their areas, all of them wait for all of them, and each closes twice. For a
// refused call no memory is taken, because the other ranks may never make a call.
team::Announcements::Announced OneNode::announce(const records::Key& key, bool refused) {
  AreaGrant grant;
  if (!refused) grant = this->grant();
  const bool is_fit = grant.taken_over ||
                      (grant.granted && grant.node_segment && is_roomy(of_.team->node_segment()));
  if (!is_fit) {
    forgo(grant);
    grant = {};
    grant.postponed = true;
    grant.refused = refused;
  }
  const team::Announcements::Announced announced =
      of_.team->announcements()->announce(key, grant, grant.touch ? 2 * of_.ranks : of_.ranks - 1);
  if (announced.grant.postponed) forgo(grant);
  return announced;
}

team::Announcements::Announced OneNode::await_rank_0(const records::Key& key) {
  team::Announcements::Announced found;
  const int leader = of_.members.front();
  const auto is_announced = [&] { return of_.team->announcements()->find(leader, key, &found); };
  if (is_announced() || await({leader}, is_announced) == Code::ok) return found;
  log_line(LogLevel::error, "rank 0 ended before its first collective on a communicator");
  let_launcher_read();
  return {};
}

// Waits for what these members of the team do in set-up. Code::dead_peer: one of them has ended.
Code OneNode::await(const std::vector<int>& awaited, const std::function<bool()>& is_here) const {
  const records::Directory& directory = *of_.team->directory();
  const auto process_of = [&](int member) {
    return shm::load_relaxed(directory.page(member).process);
  };
  const auto has_ended = [&](int member) {
    return process_is_gone(process_of(member)) || directory.has_left(member);
  };
  const exec::ProgressHook hook = of_.team->progress_hook();
  exec::Waiter waiter(exec::pace_between_calls(of_.team->wait_style()), hook);
  return waiter.until(is_here, [&]() -> Code {
    waiter.note_peer(process_of(awaited.front()));
    if (!waiter.looks_closely()) return Code::ok;
    if (std::any_of(awaited.begin(), awaited.end(), has_ended) && !is_here())
      return Code::dead_peer;
    if (!waiter.stalls()) return Code::ok;
    if (call_the_roll == nullptr)
      log_line(LogLevel::warning, "no progress for %d s: rank %d of a communicator waits for %s",
               options().stall_seconds, of_.rank,
               awaited.size() == 1 ? "rank 0" : "the other ranks");
    end_stalled_job(of_.handle);
    return Code::ok;
  });
}

Reason OneNode::use(const AreaGrant& grant, shm::Word* closed) {
  if (take_over(grant)) return Reason::none;
  if (!grant.granted) return Reason::shared_memory_exhausted;
  const shm::Layout layout = shm::Layout::fit(of_.ranks, grant.bytes_per_rank);
  service_ = std::make_unique<Service>(of_.team);
  Service& service = *service_;
  service.segment = of_.team->areas().segment(grant);
  service.page = grant.page;
  service.layout = layout;
  service.missing_types = grant.missing_types;
  if (!grant.node_segment && !all_say(service.segment != nullptr, of_.handle)) {
    service.segment = nullptr;
    if (of_.rank == 0) forgo(grant);
    return Reason::shared_memory_exhausted;
  }

  group::Group::Settings settings;
  settings.areas = service.segment->address(grant.page);
  settings.layout = layout;
  settings.rank = of_.rank;
  if (grant.touch) {
    team::touch_area(settings.areas + static_cast<size_t>(of_.rank) * layout.stride(),
                     layout.stride());
    if (!all_have_touched(closed)) return Reason::host_failed;
  }
  settings.style = of_.team->wait_style();
  settings.hook = of_.team->progress_hook();
  if (tracer() != nullptr && !of_.traced_as)
    of_.traced_as = note_communicator(of_.handle, grant.identity, of_.rank, of_.ranks);
  settings.communicator = traced_as();
  settings.reach = of_.team->reach(of_.handle, of_.ranks);
  settings.shape = of_.team->shape();
  settings.levels = of_.team->levels(of_.handle, of_.ranks);
  complete(settings, of_.team->of_world());
  service.serve(of_.handle);
  service.group = std::make_unique<group::Group>(settings);
  if (!of_.members.empty() && tracer() == nullptr) {
    service.members = std::move(of_.members);
    service.identity = grant.service;
  }
  return Reason::none;
}

void complete(group::Group::Settings& settings, bool of_world) {
  settings.process = static_cast<uint64_t>(getpid());
  settings.tracer = tracer();
  settings.check = options().check;
  settings.overrides = overrides_of_job(of_world);
}

// True when all ranks have touched their areas, which they tell by `closed`, or by the host if it
// is null.
bool OneNode::all_have_touched(shm::Word* closed) const {
  if (closed == nullptr) return host().Barrier(of_.handle) == success;
  shm::add(*closed, 1);
  const auto all = static_cast<uint64_t>(of_.ranks);
  return await(of_.members, [&] { return shm::observe(*closed) >= all; }) == Code::ok;
}

void settle_announcements() {
  const std::shared_ptr<Team> team = world_team();
  team::Announcements* const made = team != nullptr ? team->announcements() : nullptr;
  if (made == nullptr) return;
  records::Directory& directory = *team->directory();
  directory.read_no_more();
  const Inside inside;
  const exec::ProgressHook hook = team->progress_hook();
  exec::Waiter waiter(exec::pace_between_calls(team->wait_style()), hook);
  waiter.until(
      [&] { return made->all_closed(); },
      [&]() -> Code {
        int reader = 0;
        while (reader < team->ranks() &&
               (directory.reads_no_more(reader) ||
                (waiter.looks_closely() &&
                 process_is_gone(shm::load_relaxed(directory.page(reader).process)))))
          ++reader;
        if (reader == team->ranks()) return Code::dead_peer;
        if (waiter.looks_closely() && waiter.stalls())
          log_line(
              LogLevel::warning,
              "MPI ends, but for %d s rank %d of this node has not come to its end, nor has every "
              "rank made its first collective on a communicator on which this rank has made one",
              options().stall_seconds, reader);
        return Code::ok;
      });
}

}  // namespace tutti::mpi
