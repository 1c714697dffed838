#include "api/near_side.h"

#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/only_one.h"
#include "base/options.h"
#include "exec/waiter.h"
#include "api/serving.h"
#include "rma/server.h"
#include "shm/process_heap.h"
#include "shm/readers.h"
#include "topo/kernel_files.h"

namespace tutti::api {
namespace {

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

rma::DomainShape shape_of(const NearSide::Settings& settings, int members, int domains) {
  const int far = members * settings.far_groups;
  rma::DomainShape shape{
      .clients = members * settings.groups + far,
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
  if (dladdr(reinterpret_cast<void*>(&server_program), &library) != 0 &&
      library.dli_fname != nullptr)
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

NearSide::NearSide(const Settings& settings)
    : team_(settings.team),
      groups_(settings.groups),
      member_(team_ == nullptr ? 0 : team_->rank()),
      members_(team_ == nullptr ? 1 : team_->ranks()) {
  find_domains();
  find_memory();
  std::vector<int> rank_of;
  for (int client = 0; client < members_ * groups_; ++client) rank_of.push_back(client % members_);
  mover_.emplace(peers_, rank_of);
  rma::DomainShape shape = shape_of(settings, members_, domains_);
  if (make_queues(shape)) return;
  // A process that is alone on its node may have servers. One that is not would serve itself alone.
  if (members_ > 1 || options().servers.count == 0)
    shape = {.clients = members_ * groups_, .servers = 0, .entries = most_entries};
  own_memory_ = std::make_unique<std::byte[]>(shape.bytes() + line_size);
  const auto start = reinterpret_cast<uintptr_t>(own_memory_.get());
  domain_.emplace(own_memory_.get() + (line_size - start % line_size) % line_size, shape);
  prepare(*domain_, members_);
}

NearSide::~NearSide() {
  if (domain_) end();
}

void NearSide::find_domains() {
  domain_of_.assign(static_cast<size_t>(members_), 0);
  const std::set<int>& cores = options().servers.cores;
  if (team_ == nullptr) units_of_domain_.assign(cores.begin(), cores.end());
  if (team_ == nullptr || team_->cores().empty()) return;
  std::map<int, int> regions;
  if (options().servers_domain == ServersDomain::numa)
    regions = topo::regions_of("/sys/devices/system");
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

void NearSide::find_memory() {
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
    if (memory.process == getpid()) peer = rma::own_memory;  // a thread of this process
    if (by_system) peer.process = static_cast<int32_t>(memory.process);
    if (peer.is_of_this_process() || memory.mapped == nullptr) continue;
    peer.first = memory.heap;
    peer.bytes = memory.bytes;
    peer.shift = reinterpret_cast<uint64_t>(memory.mapped) - memory.heap;
  }
}

// The first rank that comes makes the queues; the others wait until it has.
bool NearSide::make_queues(const rma::DomainShape& shape) {
  team::NodeTeam::NodeWords* const words = team_ == nullptr ? nullptr : team_->node_words();
  if (words == nullptr) return false;
  constexpr uint64_t failed = UINT64_MAX;
  shm::Segment& segment = team_->node_segment();
  if (shm::claim(words->claimed, static_cast<uint64_t>(getpid()))) {
    const auto piece = segment.take(shape.bytes(), shape.bytes(), static_cast<uint32_t>(members_));
    if (piece) {
      std::byte* const memory = segment.address(piece->first_page);
      if (!piece->fresh) std::fill_n(memory, shape.bytes(), std::byte{0});
      prepare(rma::Domain(memory, shape), members_);
    }
    shm::publish(words->page, piece ? piece->first_page + 1 : failed);
  }
  exec::Waiter waiter(exec::pace_of_set_up());
  const auto known = [&] { return shm::observe(words->page) != 0; };
  waiter.until(known, [&] {
    const bool gone = waiter.watched().time() > std::chrono::seconds(10);
    return gone ? Code::dead_peer : Code::ok;
  });
  const uint64_t page = shm::observe(words->page);
  if (page == 0 || page == failed) return false;
  page_ = page - 1;
  domain_.emplace(segment.address(static_cast<uint32_t>(page - 1)), shape);
  return true;
}

const rma::Domain& NearSide::domain() const {
  if (!domain_)
    throw Error(Code::unavailable, "MPI has ended, and with it the team of the node's processes");
  return *domain_;
}

rma::ServerRange NearSide::own_servers() const {
  const int each = domain().shape().servers / domains_;
  return {domain_of_[static_cast<size_t>(member_)] * each, each};
}

// The processing units that servers of this process may have for themselves.
std::vector<int> NearSide::units_of_servers() const {
  if (!units_of_domain_.empty()) return units_of_domain_;
  return units_in(cores_of_job() & ~cores_of_ranks());
}

// The processing units on which the node's ranks may run.
placement::CoreMask NearSide::cores_of_ranks() const {
  if (team_ == nullptr) return cores_of_process(0);
  placement::CoreMask used;
  for (const placement::CoreMask& mask : team_->cores()) used |= mask;
  return used;
}

OneSided::Processes NearSide::processes(const std::vector<int>& members, int own_rank, int place) {
  OneSided::Processes processes;
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
  processes.style = wait_style();
  rma::ServerRange servers{0, 0};
  if (place >= 0) {
    servers = own_servers();
    const auto in_use = static_cast<uint64_t>((place + 1) * members_);
    if (shm::load_relaxed(domain().clients_in_use()) < in_use)
      shm::publish(domain().clients_in_use(), in_use);
  }
  processes.client = std::make_unique<rma::Client>(
      domain(), std::max(place, 0) * members_ + member_, *mover_, wait_style(), servers);
  return processes;
}

exec::WaitStyle NearSide::wait_style() const {
  return team_ == nullptr ? exec::WaitStyle::spin : team_->wait_style();
}

// The clients of this process's domain; `servers`: of it.
rma::Crew NearSide::crew(int servers) const {
  const int own = domain_of_[static_cast<size_t>(member_)];
  const auto clients = std::count(domain_of_.begin(), domain_of_.end(), own);
  return {.domains = domains_, .clients = static_cast<int32_t>(clients), .servers = servers};
}

int NearSide::running_servers(const rma::ServerRange& range) const {
  int count = 0;
  for (int32_t place = range.first; place < range.first + range.count; ++place)
    if (rma::runs(domain().server(place))) ++count;
  return count;
}

void NearSide::start_servers(int count, tutti_serve serve, std::vector<rma::Endpoint*> endpoints) {
  if (threads_ || processes_)
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
    start_at(places, std::move(endpoints));
  } catch (...) {
    end_servers();
    rma::release_places(domain(), places);
    throw;
  }
  latest_.are_processes = processes_.has_value();
  shm::store_relaxed(domain().least_bytes(),
                     least_bytes_of(serve, latest_.share_cores, crew(running_servers(range))));
  auto far = latest_.share_cores ? rma::ServeFar::none : rma::ServeFar::selective;
  if (serve == TUTTI_SERVE_ALL) far = rma::ServeFar::all;
  shm::store_relaxed(domain().serve_far(), static_cast<uint64_t>(far));
  shm::store_relaxed(domain().enabled(), serve != TUTTI_SERVE_NONE ? 1 : 0);
  rma::tell_served_from(domain());
}

// Starts a server at each of these places of the domain, which were claimed for them.
void NearSide::start_at(const std::vector<int32_t>& places, std::vector<rma::Endpoint*> endpoints) {
  rma::ServerSettings settings{.count = static_cast<int32_t>(places.size()),
                               .places = places,
                               .endpoints = std::move(endpoints)};
  const int32_t first = own_servers().first;
  const std::vector<int> own = units_of_servers();
  settings.own_units = own.size() > static_cast<size_t>(places.back() - first);
  if (settings.own_units)  // units go by place, so that processes choose different ones
    for (const int32_t place : places)
      settings.units.push_back(own[static_cast<size_t>(place - first) % own.size()]);
  latest_.share_cores = !settings.own_units &&
                        cores_of_ranks().count() < static_cast<size_t>(members_) + places.size();
  if (latest_.share_cores)
    log_line(LogLevel::info, "%d servers share the cores of %d ranks", settings.count, members_);
  start_in(settings);
  latest_.places = places;
  latest_.units = settings.units;
}

// Where no process can be started, or reaches the memory, threads serve.
void NearSide::start_in(const rma::ServerSettings& settings) {
  const bool asked = options().servers_as == ServersAs::processes && team_ != nullptr;
  if (asked && start_processes(settings)) return;
  threads_.emplace(domain(), *mover_, settings);
}

// One rank of the node says why it cannot.
bool NearSide::start_processes(const rma::ServerSettings& settings) {
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

void NearSide::let_servers_copy() {
  std::vector<pid_t> servers;
  for (int32_t place = 0; place < domain().shape().servers; ++place) {
    const rma::ServerState& state = domain().server(place);
    if (rma::runs(state) && shm::load_relaxed(state.is_process) != 0)
      servers.push_back(static_cast<pid_t>(rma::process_of(state).number));
  }
  if (!servers.empty()) shm::let_read(servers);
}

void NearSide::end_servers() {
  threads_.reset();
  processes_.reset();
}

void NearSide::stop_servers() {
  end_servers();
  rma::tell_served_from(domain());
}

void NearSide::enable_servers(bool enabled) {
  shm::store_relaxed(domain().enabled(), enabled ? 1 : 0);
  rma::tell_served_from(domain());
}

void NearSide::keep_servers_awake(bool awake) { rma::keep_awake(domain(), awake); }

int NearSide::count_servers() {
  int count = 0;
  for (int32_t place = 0; place < domain().shape().servers; ++place)
    if (rma::runs(domain().server(place)) && !rma::note_death(domain().server(place))) ++count;
  return count;
}

void NearSide::end() {
  stop_servers();
  domain_.reset();
  team_ = nullptr;
}

}  // namespace tutti::api
