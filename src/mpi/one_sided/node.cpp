#include "mpi/one_sided/node.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <system_error>

#include "base/error.h"
#include "base/log.h"
#include "base/only_one.h"
#include "base/options.h"
#include "exec/waiter.h"
#include "mpi/communicators/registry.h"
#include "mpi/job/drive_host.h"
#include "mpi/one_sided/at_all.h"
#include "api/serving.h"
#include "rma/server.h"
#include "shm/process_heap.h"
#include "shm/readers.h"
#include "topo/kernel_files.h"

namespace tutti::mpi {
namespace {

constexpr int groups_with_queues = 2;   // per process; further groups execute all transfers
constexpr int least_server_places = 4;  // per domain, for tutti_servers_start
constexpr size_t most_entries = 128;    // per queue
constexpr size_t most_queue_bytes = size_t{16} << 20;

std::vector<int> units_in(const placement::CoreMask& mask) {
  std::vector<int> units;
  for (size_t unit = 0; unit < placement::most_cores; ++unit)
    if (mask[unit]) units.push_back(static_cast<int>(unit));
  return units;
}

// The domain that a processing unit belongs to, by the system's number.
int key_of(int unit, const std::map<int, int>& regions) {
  const ServersDomain domain = options().servers_domain;
  if (domain == ServersDomain::socket) return topo::socket_of(unit, "/sys/devices/system");
  if (domain == ServersDomain::node) return 0;
  const auto found = regions.find(unit);
  return found == regions.end() ? 0 : found->second;
}

// The processors on which a process may run; 0: this one.
placement::CoreMask cores_of_process(pid_t process) {
  placement::CoreMask mask;
  std::vector<unsigned long> bits(CPU_ALLOC_SIZE(placement::most_cores) / sizeof(unsigned long));
  auto* const set = reinterpret_cast<cpu_set_t*>(bits.data());
  const size_t bytes = bits.size() * sizeof(unsigned long);
  if (sched_getaffinity(process, bytes, set) != 0) return mask;
  for (size_t core = 0; core < placement::most_cores; ++core)
    mask[core] = CPU_ISSET_S(core, bytes, set);
  return mask;
}

// Those of this process's parent, the launcher's: of the job on this node.
placement::CoreMask cores_of_job() { return cores_of_process(getppid()); }

rma::DomainShape shape_of(int members, int domains) {
  const int far = members * FarSide::most_groups(members);
  rma::DomainShape shape{
      .clients = members * groups_with_queues + far,
      .servers = domains * std::max(options().servers.count, least_server_places),
      .entries = most_entries,
      .far_clients = far};
  while (shape.entries > 8 && shape.slots_offset() > most_queue_bytes) shape.entries /= 2;
  return shape;
}

// Lets the node's other ranks, and their servers, copy from and into this process's memory.
void let_copy(const std::vector<team::MemberMemory::Memory>& memories) {
  std::vector<pid_t> others;
  for (const team::MemberMemory::Memory& memory : memories)
    if (memory.process != 0 && memory.process != getpid())
      others.push_back(static_cast<pid_t>(memory.process));
  if (!others.empty()) shm::let_read(others);
}

// The program of a server as a process, in ../bin or ../../bin of this library, as installations
// have it; the nearer place if there is none.
std::string server_program() {
  namespace fs = std::filesystem;
  Dl_info library{};
  std::error_code error;
  fs::path directory;
  if (dladdr(reinterpret_cast<void*>(&this_node), &library) != 0 && library.dli_fname != nullptr)
    directory = fs::absolute(library.dli_fname, error).parent_path();
  for (const char* const way : {"../bin", "../../bin"}) {
    const fs::path program = directory / way / "tutti-server";
    if (fs::exists(program, error)) return program.lexically_normal().string();
  }
  return (directory / "../bin/tutti-server").lexically_normal().string();
}

void prepare(const rma::Domain& domain, int members) {
  shm::store_relaxed(domain.enabled(), options().serve != ServeChoice::none ? 1 : 0);
  shm::store_relaxed(domain.served_from(), UINT64_MAX);
  shm::store_relaxed(domain.least_bytes(), UINT64_MAX);
  shm::store_relaxed(domain.serve_far(), static_cast<uint64_t>(rma::ServeFar::none));
  shm::store_relaxed(domain.clients_in_use(), static_cast<uint64_t>(members));
}

}  // namespace

Node::Node(std::shared_ptr<Team> team)
    : team_(std::move(team)),
      member_(team_ == nullptr ? 0 : team_->rank()),
      members_(team_ == nullptr ? 1 : team_->ranks()),
      far_side_(members_) {
  find_domains();
  find_memory();
  std::vector<int> rank_of;
  for (int client = 0; client < members_ * groups_with_queues; ++client)
    rank_of.push_back(client % members_);
  mover_.emplace(peers_, rank_of);
  Team::NodeWords* const words = team_ == nullptr ? nullptr : team_->node_words();
  if (words != nullptr && make_queues(*words)) {
    free_all_places();
    return;
  }
  // A process that is alone on its node may have servers. One that is not would serve itself alone.
  rma::DomainShape shape = shape_of(members_, domains_);
  if (members_ > 1 || options().servers.count == 0)
    shape = {.clients = members_ * groups_with_queues, .servers = 0, .entries = most_entries};
  else
    free_all_places();
  own_memory_ = std::make_unique<std::byte[]>(shape.bytes() + line_size);
  const auto start = reinterpret_cast<uintptr_t>(own_memory_.get());
  domain_.emplace(own_memory_.get() + (line_size - start % line_size) % line_size, shape);
  prepare(*domain_, members_);
}

Node::~Node() = default;

void Node::free_all_places() {
  free_places_.add(groups_with_queues);
  far_side_.open();
}

void Node::find_domains() {
  domain_of_.assign(static_cast<size_t>(members_), 0);
  const std::set<int>& cores = options().servers.cores;
  if (team_ == nullptr) units_of_domain_.assign(cores.begin(), cores.end());
  if (team_ == nullptr || team_->cores().empty()) return;
  const std::map<int, int> regions = topo::regions_of("/sys/devices/system");
  std::map<int, int> numbers;  // numbers of domains, indexed by key
  std::vector<int> keys;
  for (const placement::CoreMask& mask : team_->cores()) {
    const std::vector<int> units = units_in(mask);
    keys.push_back(units.empty() ? 0 : key_of(units.front(), regions));
    numbers[keys.back()] = 0;
  }
  domains_ = 0;
  for (auto& [key, number] : numbers) number = domains_++;
  for (size_t member = 0; member < keys.size(); ++member)
    domain_of_[member] = numbers[keys[member]];
  const int own = keys[static_cast<size_t>(member_)];
  for (const int unit : cores)
    if (key_of(unit, regions) == own) units_of_domain_.push_back(unit);
  if (units_of_domain_.empty()) units_of_domain_.assign(cores.begin(), cores.end());
}

void Node::find_memory() {
  peers_.resize(static_cast<size_t>(members_));
  peers_[static_cast<size_t>(member_)] = rma::own_memory;
  if (team_ == nullptr) return;
  const ReachChoice reach = options().reach;
  const bool by_system = reach == ReachChoice::automatic || reach == ReachChoice::cma;
  const std::vector<team::MemberMemory::Memory> memories = team_->memory().memories();
  if (by_system) let_copy(memories);
  for (int member = 0; member < members_; ++member) {
    const team::MemberMemory::Memory& memory = memories[static_cast<size_t>(member)];
    rma::Peer& peer = peers_[static_cast<size_t>(member)];
    if (by_system) peer.process = static_cast<int32_t>(memory.process);
    if (member == member_ || memory.mapped == nullptr) continue;
    peer.first = memory.heap;
    peer.bytes = memory.bytes;
    peer.shift = reinterpret_cast<uint64_t>(memory.mapped) - memory.heap;
  }
}

// The first process that comes makes the queues; the others wait until it has.
bool Node::make_queues(Team::NodeWords& words) {
  constexpr uint64_t failed = UINT64_MAX;
  const rma::DomainShape shape = shape_of(members_, domains_);
  shm::Segment& segment = team_->node_segment();
  if (shm::claim(words.claimed, static_cast<uint64_t>(getpid()))) {
    const auto piece = segment.take(shape.bytes(), shape.bytes(), static_cast<uint32_t>(members_));
    if (piece) {
      std::byte* const memory = segment.address(piece->first_page);
      if (!piece->fresh) std::fill_n(memory, shape.bytes(), std::byte{0});
      prepare(rma::Domain(memory, shape), members_);
    }
    shm::publish(words.page, piece ? piece->first_page + 1 : failed);
  }
  exec::Waiter waiter(exec::pace_of_set_up());
  const auto known = [&] { return shm::observe(words.page) != 0; };
  waiter.until(known, [&] {
    const bool gone = waiter.watched().time() > std::chrono::seconds(10);
    return gone ? Code::dead_peer : Code::ok;
  });
  const uint64_t page = shm::observe(words.page);
  if (page == 0 || page == failed) return false;
  page_ = page - 1;
  domain_.emplace(segment.address(static_cast<uint32_t>(page - 1)), shape);
  return true;
}

const rma::Domain& Node::domain() const {
  if (!domain_)
    throw Error(Code::unavailable, "MPI has ended, and with it the team of the node's processes");
  return *domain_;
}

rma::ServerRange Node::own_servers() const {
  const int each = domain().shape().servers / domains_;
  return {domain_of_[static_cast<size_t>(member_)] * each, each};
}

// The processing units that servers of this process may have for themselves.
std::vector<int> Node::units_of_servers() const {
  if (!units_of_domain_.empty()) return units_of_domain_;
  return units_in(cores_of_job() & ~cores_of_ranks());
}

// The processing units on which the node's ranks may run.
placement::CoreMask Node::cores_of_ranks() const {
  if (team_ == nullptr) return cores_of_process(0);
  placement::CoreMask used;
  for (const placement::CoreMask& mask : team_->cores()) used |= mask;
  return used;
}

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
            .member = member_,
            .domain = domain_of_[static_cast<size_t>(member_)]};
    *memory = {.callers = peers_, .targets = peers_};
    // The addresses of requests may be wrong, so own memory outside the heap is reached by the
    // system.
    const auto* const heap = shm::process_heap();
    rma::Peer& here = memory->targets[static_cast<size_t>(member_)];
    here = {.process = static_cast<int32_t>(getpid())};
    if (heap != nullptr) {
      here.first = reinterpret_cast<uint64_t>(heap->base());
      here.bytes = heap->bytes();
    }
  };
  try {
    std::unique_ptr<Endpoints> made =
        Endpoints::make(communicator, rank, static_cast<int>(members.size()),
                        options().servers.count, std::cref(find_place));
    const std::lock_guard lock(mutex_);
    far_side_.face(std::move(made));
  } catch (...) {
    makes_endpoints_ = false;  // memory has run out, and the next group tries again
    throw;
  }
}

std::unique_ptr<rma::Handing> Node::handing(int* place) {
  const std::lock_guard lock(mutex_);
  return far_side_.handing(domain(), groups_with_queues * members_ + member_, own_servers(), place);
}

void Node::leave_handing(int place) {
  const std::lock_guard lock(mutex_);
  far_side_.leave_handing(place);
}

api::OneSided::Processes Node::processes(const std::vector<int>& members, int own_rank,
                                         int* place) {
  api::OneSided::Processes processes;
  for (const int member : members) {
    rma::Peer peer{.elsewhere = true};
    if (member >= 0) peer = peers_[static_cast<size_t>(member)];
    processes.peers.push_back(peer);
    processes.targets.push_back(member);
  }
  processes.peers[static_cast<size_t>(own_rank)] = rma::own_memory;
  processes.targets[static_cast<size_t>(own_rank)] = member_;
  processes.served_from = &domain().served_from();
  processes.crew = crew(1);
  if (const auto* const heap = shm::process_heap(); heap != nullptr)
    processes.heap = {reinterpret_cast<uint64_t>(heap->base()), heap->bytes()};
  processes.progress = {.call = [](void*) { return drive_transfers(); }};
  processes.style = wait_style();
  const std::lock_guard lock(mutex_);
  rma::ServerRange servers{0, 0};
  *place = -1;
  if (free_places_.any()) {
    *place = free_places_.take();
    servers = own_servers();
    const auto in_use = static_cast<uint64_t>((*place + 1) * members_);
    if (shm::load_relaxed(domain().clients_in_use()) < in_use)
      shm::publish(domain().clients_in_use(), in_use);
  }
  processes.client = std::make_unique<rma::Client>(
      domain(), std::max(*place, 0) * members_ + member_, *mover_, wait_style(), servers);
  return processes;
}

exec::WaitStyle Node::wait_style() const {
  return team_ == nullptr ? exec::WaitStyle::spin : team_->wait_style();
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

void Node::give_back(int place) {
  const std::lock_guard lock(mutex_);
  free_places_.give(place);
}

// The clients of this process's domain; `servers`: of it.
rma::Crew Node::crew(int servers) const {
  const int own = domain_of_[static_cast<size_t>(member_)];
  const auto clients = std::count(domain_of_.begin(), domain_of_.end(), own);
  return {.domains = domains_, .clients = static_cast<int32_t>(clients), .servers = servers};
}

int Node::running_servers(const rma::ServerRange& range) const {
  int count = 0;
  for (int32_t place = range.first; place < range.first + range.count; ++place)
    if (rma::runs(domain().server(place))) ++count;
  return count;
}

void Node::start_servers(int count, tutti_serve serve) {
  const std::lock_guard lock(mutex_);
  if (has_servers())
    throw Error(Code::invalid_argument,
                "this process has servers already; tutti_servers_stop ends them");
  const rma::ServerRange range = own_servers();
  const std::vector<int32_t> places = rma::claim_places(domain(), range, count);
  if (static_cast<int>(places.size()) < count) {
    rma::release_places(domain(), places);
    throw Error(Code::invalid_argument, "the domain has no room for " + std::to_string(count) +
                                            " more servers; it has " +
                                            std::to_string(places.size()) + " of " +
                                            std::to_string(range.count) + " places left");
  }
  try {
    start_at(places);
  } catch (...) {
    end_servers();
    rma::release_places(domain(), places);
    far_side_.hand_over_idle_ones();
    throw;
  }
  were_processes_ = processes_.has_value();
  shm::store_relaxed(domain().least_bytes(),
                     api::least_bytes_of(serve, shares_cores_, crew(running_servers(range))));
  auto far = shares_cores_ ? rma::ServeFar::none : rma::ServeFar::selective;
  if (serve == TUTTI_SERVE_ALL) far = rma::ServeFar::all;
  shm::store_relaxed(domain().serve_far(), static_cast<uint64_t>(far));
  shm::store_relaxed(domain().enabled(), serve != TUTTI_SERVE_NONE ? 1 : 0);
  rma::tell_served_from(domain());
}

// Starts a server at each of these places of the domain, which were claimed for them.
void Node::start_at(const std::vector<int32_t>& places) {
  rma::ServerSettings settings{.count = static_cast<int32_t>(places.size()),
                               .places = places,
                               .endpoints = far_side_.endpoints()};
  const int32_t first = own_servers().first;
  const std::vector<int> own = units_of_servers();
  settings.own_units = own.size() > static_cast<size_t>(places.back() - first);
  if (settings.own_units)  // units go by place, so that processes choose different ones
    for (const int32_t place : places)
      settings.units.push_back(own[static_cast<size_t>(place - first) % own.size()]);
  shares_cores_ = !settings.own_units &&
                  cores_of_ranks().count() < static_cast<size_t>(members_) + places.size();
  if (shares_cores_)
    log_line(LogLevel::info, "%d servers share the cores of %d ranks", settings.count, members_);
  start_in(settings);
  places_ = places;
  units_ = settings.units;
}

// Where no process can be started, or reaches the memory, threads serve.
void Node::start_in(const rma::ServerSettings& settings) {
  if (options().servers_as == ServersAs::processes && start_processes(settings)) return;
  threads_.emplace(domain(), *mover_, settings);
}

// One rank of the node says why it cannot.
bool Node::start_processes(const rma::ServerSettings& settings) {
  rma::ServerHome home{.program = server_program(),
                       .segment = team_->node_segment().location(),
                       .offset = page_ * shm::page_size,
                       .owner = member_};
  const ReachChoice reach = options().reach;
  const bool by_system = reach == ReachChoice::automatic || reach == ReachChoice::cma;
  for (const team::MemberMemory::Memory& memory : team_->memory().memories())
    home.ranks.push_back({.heap = memory.location,
                          .heap_base = memory.heap,
                          .process = by_system ? memory.process : 0});
  try {
    processes_.emplace(domain(), home, settings);
    return true;
  } catch (const Error& error) {
    static const OnlyOne& speaker = *new OnlyOne("server-processes");
    if (speaker.chosen())
      log_once("servers/processes", LogLevel::warning,
               "servers are threads, because processes cannot serve: %s", error.what());
    return false;
  }
}

void Node::let_servers_copy() {
  std::vector<pid_t> servers;
  for (int32_t place = 0; place < domain().shape().servers; ++place) {
    const rma::ServerState& state = domain().server(place);
    if (rma::runs(state) && shm::load_relaxed(state.is_process) != 0)
      servers.push_back(static_cast<pid_t>(rma::process_of(state).number));
  }
  if (!servers.empty()) shm::let_read(servers);
}

void Node::end_servers() {
  threads_.reset();
  processes_.reset();
}

void Node::stop_servers() {
  const std::lock_guard lock(mutex_);
  end_servers();
  far_side_.hand_over_idle_ones();
  rma::tell_served_from(domain());
}

void Node::enable_servers(bool enabled) {
  shm::store_relaxed(domain().enabled(), enabled ? 1 : 0);
  rma::tell_served_from(domain());
  wake_servers_between_nodes();
}

void Node::keep_servers_awake(bool awake) {
  rma::keep_awake(domain(), awake);
  wake_servers_between_nodes();
}

int Node::count_servers() {
  int count = 0;
  for (int32_t place = 0; place < domain().shape().servers; ++place)
    if (rma::runs(domain().server(place)) && !rma::note_death(domain().server(place))) ++count;
  return count;
}

// The servers of a domain are spread over its processes, in the order of their ranks.
void Node::start_asked_servers() {
  const int asked = options().servers.count;
  if (asked == 0 || domain().shape().servers == 0 || started_asked_.exchange(true)) return;
  const int own = domain_of_[static_cast<size_t>(member_)];
  int here = 0, before = 0;  // this process's number among those of its domain
  for (int member = 0; member < members_; ++member) {
    if (domain_of_[static_cast<size_t>(member)] != own) continue;
    if (member < member_) ++before;
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
  for (const int32_t place : places_) {
    rma::ServerState& state = domain().server(place);
    ++done.servers;
    done.processes += were_processes_ ? 1 : 0;
    done.sharing += shares_cores_ ? 1 : 0;
    done.transfers += shm::load_relaxed(state.transfers);
    done.bytes += shm::load_relaxed(state.bytes);
    done.sleeps += shm::load_relaxed(state.sleeps);
    done.slept_nanoseconds += shm::load_relaxed(state.slept_nanoseconds);
    if (shm::load_relaxed(state.reaches_nodes) == 0) continue;
    ++far.endpoints;
    far.exchanged += shm::load_relaxed(state.away);
    report::record_exchanged(shm::load_relaxed(state.away));
  }
  far_side_.record(far);
  record_between_nodes(far);
  report::record_one_sided(done);
  for (const int unit : units_) report::record_server_unit(static_cast<uint64_t>(unit));
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
  end_servers();
  rma::tell_served_from(domain());
  far_side_.end();
  domain_.reset();
  team_.reset();  // its memory goes with it, and MPI's groups, which MPI_Finalize must find freed
}

void Node::become_alone() {
  rma::forget_others(peers_);
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
  if (report::recording()) {
    node->record();
  }
  node->end();
}

}  // namespace tutti::mpi
