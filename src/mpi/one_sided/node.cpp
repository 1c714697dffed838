#include "mpi/one_sided/node.h"

#include <pthread.h>

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "mpi/communicators/registry.h"
#include "mpi/host/interfaces.h"
#include "mpi/job/drive_host.h"
#include "mpi/one_sided/at_all.h"
#include "api/serving.h"
#include "rma/saturation.h"

namespace tutti::mpi {
namespace {

constexpr int groups_with_queues = 2;  // per process; further groups execute all transfers

// So many groups of each process may hand transfers with other nodes over at once. Each thread of a
// program may have a group, so there are more of them where processes are few.
int most_far_groups(int members) {
  return options().servers.count == 0 ? 0 : std::clamp(32 / members, 2, 16);
}

}  // namespace

Node::Node(std::shared_ptr<Team> team)
    : team_(std::move(team)),
      near_side_({.team = team_.get(),
                  .groups = groups_with_queues,
                  .far_groups = most_far_groups(team_ == nullptr ? 1 : team_->ranks())}) {
  if (!near_side_.has_queues()) return;
  free_places_.add(groups_with_queues);
  free_far_places_.add(most_far_groups(near_side_.members()));
}

Node::~Node() = default;

void Node::make_endpoints(Comm communicator, const std::vector<int>& members,
                          const std::vector<int>& in_world, int own_rank) {
  if (options().servers.count == 0 || options().servers_as != ServersAs::threads) return;
  // Threads may make groups at once, in another order at each rank. Endpoints are made on a
  // communicator only if no rank makes them on another one, or has made them.
  const bool first = !makes_endpoints_.exchange(true);
  if (!true_at_all(communicator, first)) {
    if (first) makes_endpoints_ = false;
    return;
  }
  const int rank = in_world[static_cast<size_t>(own_rank)];
  const auto find_place = [&](Endpoints::Place* own, rma::Endpoint::Memory* memory) {
    const auto own_node = std::find(members.begin(), members.end(), 0) - members.begin();
    *own = {.node = team_ == nullptr ? rank : in_world[static_cast<size_t>(own_node)],
            .member = near_side_.member(),
            .domain = near_side_.domain_of(near_side_.member())};
    *memory = {.callers = near_side_.peers(), .targets = near_side_.peers()};
    memory->targets[static_cast<size_t>(near_side_.member())] = own_memory_of_answers();
  };
  try {
    std::unique_ptr<Endpoints> made =
        Endpoints::make(communicator, rank, static_cast<int>(members.size()),
                        options().servers.count, std::cref(find_place));
    const std::lock_guard lock(mutex_);
    endpoints_ = std::move(made);
  } catch (...) {
    makes_endpoints_ = false;  // memory has run out, and the next group tries again
    throw;
  }
}

std::unique_ptr<rma::Handing> Node::handing(int* place) {
  const std::lock_guard lock(mutex_);
  *place = endpoints_ == nullptr ? -1 : free_far_places_.take();
  if (*place < 0) return nullptr;
  const int members = near_side_.members();
  const rma::Domain& domain = near_side_.domain();
  // The process's first client of this kind in the domain comes after those of its queues.
  const int client = (groups_with_queues + *place) * members + near_side_.member();
  // The clients of a row of places, one of each process, come into use together.
  const auto in_use = static_cast<uint64_t>((client / members + 1) * members);
  if (shm::load_relaxed(domain.clients_in_use()) < in_use)
    shm::publish(domain.clients_in_use(), in_use);
  rma::Handing::Settings settings;
  settings.servers = near_side_.own_servers();
  const std::optional<rma::SaturationMap>& map = api::saturation_maps().between_nodes;
  if (map && !map->served.empty() && !far_policy_) {
    const int domains = domain.shape().servers / settings.servers.count;
    far_policy_ = rma::policy_between_nodes(*map, static_cast<size_t>(members),
                                            static_cast<size_t>(options().servers.count * domains));
  }
  if (far_policy_) settings.policy = &*far_policy_;
  settings.heap = own_heap();
  return std::make_unique<rma::Handing>(domain, client, settings);
}

api::OneSided::Processes Node::processes(const std::vector<int>& members, int own_rank,
                                         int* place) {
  const std::lock_guard lock(mutex_);
  *place = free_places_.take();
  api::OneSided::Processes processes = near_side_.processes(members, own_rank, *place);
  processes.progress = {.call = [](void*) { return drive_transfers(); }};
  return processes;
}

void Node::enter(api::OneSided& group) {
  const std::lock_guard lock(mutex_);
  groups_.insert(&group);
}

void Node::leave(api::OneSided& group) {
  group.end();
  const std::lock_guard lock(mutex_);
  if (groups_.erase(&group) > 0) group.add_to(ended_);
}

void Node::give_back(int place, int far_place) {
  const std::lock_guard lock(mutex_);
  free_places_.give(place);
  free_far_places_.give(far_place);
}

void Node::hand_over_idle_endpoints() {
  if (endpoints_ != nullptr) endpoints_->hand_over_idle_ones();
}

void Node::start_servers(int count, tutti_serve serve) {
  const std::lock_guard lock(mutex_);
  try {
    near_side_.start_servers(
        count, serve, endpoints_ == nullptr ? std::vector<rma::Endpoint*>() : endpoints_->all());
  } catch (...) {
    hand_over_idle_endpoints();
    throw;
  }
}

void Node::stop_servers() {
  const std::lock_guard lock(mutex_);
  near_side_.stop_servers();
  hand_over_idle_endpoints();
}

void Node::enable_servers(bool enabled) {
  near_side_.enable_servers(enabled);
  wake_servers_between_nodes();
}

void Node::keep_servers_awake(bool awake) {
  near_side_.keep_servers_awake(awake);
  wake_servers_between_nodes();
}

// The servers of a domain are spread over its processes, in the order of their ranks.
void Node::start_asked_servers() {
  const int asked = options().servers.count;
  if (asked == 0 || !near_side_.has_queues() || started_asked_.exchange(true)) return;
  const int own = near_side_.member();
  int here = 0, before = 0;  // this process's number among those of its domain
  for (int member = 0; member < near_side_.members(); ++member) {
    if (near_side_.domain_of(member) != near_side_.domain_of(own)) continue;
    if (member < own) ++before;
    ++here;
  }
  int count = 0;
  for (int server = 0; server < asked; ++server)
    if (server_of(server, here) == before) ++count;
  if (count == 0) return;
  try {
    start_servers(count, static_cast<tutti_serve>(options().serve));
  } catch (const Error& error) {
    log_line(LogLevel::warning, "%d of the servers that TUTTI_SERVERS asks for do not start: %s",
             count, error.what());
  } catch (...) {
    started_asked_ = false;  // memory has run out, and the next group tries again
    throw;
  }
}

void Node::record() {
  const std::lock_guard lock(mutex_);
  api::OneSided::Counts counts = ended_;
  for (const api::OneSided* const group : groups_) group->add_to(counts);
  report::OneSided done{
      .own = counts.own, .handed = counts.handed, .taken_back = counts.taken_back};
  report::TransfersBetweenNodes far;
  const api::NearSide::Servers& servers = near_side_.latest();
  for (const int32_t place : servers.places) {
    const rma::ServerState& state = near_side_.domain().server(place);
    ++done.servers;
    done.processes += servers.are_processes ? 1 : 0;
    done.sharing += servers.share_cores ? 1 : 0;
    done.transfers += shm::load_relaxed(state.transfers);
    done.bytes += shm::load_relaxed(state.bytes);
    done.sleeps += shm::load_relaxed(state.sleeps);
    done.slept_nanoseconds += shm::load_relaxed(state.slept_nanoseconds);
    if (shm::load_relaxed(state.reaches_nodes) == 0) continue;
    ++far.endpoints;
    far.exchanged += shm::load_relaxed(state.away);
    report::record_exchanged(shm::load_relaxed(state.away));
  }
  if (endpoints_ != nullptr) {
    for (const rma::Endpoint* const endpoint : endpoints_->all())
      far.by_servers += endpoint->answered();
    report::record_interfaces(interfaces_of_host());
  }
  record_between_nodes(far);
  report::record_one_sided(done);
  for (const int unit : servers.units) report::record_server_unit(static_cast<uint64_t>(unit));
  const api::SaturationMaps& maps = api::saturation_maps();
  std::string files = maps.file_of_node;
  if (far.endpoints > 0 && !maps.file_between_nodes.empty())
    files += (files.empty() ? "" : ", ") + maps.file_between_nodes;
  if (!files.empty()) report::record_saturation(std::move(files));
}

void Node::end_groups() {
  const std::lock_guard lock(mutex_);
  for (api::OneSided* const group : groups_) group->end();
}

void Node::end() {
  const std::lock_guard lock(mutex_);
  near_side_.stop_servers();
  endpoints_.reset();
  near_side_.end();
  team_.reset();  // its memory goes with it, and MPI's groups, which MPI_Finalize must find freed
}

void Node::become_alone() {
  near_side_.become_alone();
  for (api::OneSided* const group : groups_) group->become_alone();
}

namespace {

struct Nodes {
  std::mutex mutex;
  std::shared_ptr<Node> now;
};
// Never destroyed: a forked child may use it at any time.
Nodes& nodes() {
  static Nodes& made = *new Nodes;
  return made;
}

// The handlers of pthread_atfork. The thread that forks holds the locks, so that the child finds
// them free and what they guard whole, whatever other threads do.
void before_fork() {
  nodes().mutex.lock();
  if (nodes().now != nullptr) nodes().now->hold();
}
void after_fork() {
  if (nodes().now != nullptr) nodes().now->release();
  nodes().mutex.unlock();
}
void after_fork_in_child() {
  if (nodes().now != nullptr) nodes().now->become_alone();
  forget_between_nodes();
  after_fork();
}

}  // namespace

std::shared_ptr<Node> this_node(bool make) {
  const std::lock_guard lock(nodes().mutex);
  if (nodes().now == nullptr && make) {
    [[maybe_unused]] static const int forks =
        pthread_atfork(before_fork, after_fork, after_fork_in_child);
    nodes().now = std::make_shared<Node>(world_team());
  }
  return nodes().now;
}

void look_at_saturation_maps() {
  if (!options().saturation.empty()) api::saturation_maps();
}

void end_one_sided() {
  std::shared_ptr<Node> node;
  {
    const std::lock_guard lock(nodes().mutex);
    node.swap(nodes().now);
  }
  if (node == nullptr) return;
  node->end_groups();
  end_between_nodes();
  node->leave_far_side();
  if (report::recording()) node->record();
  node->end();
}

}  // namespace tutti::mpi
