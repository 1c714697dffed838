#include "mpi/communicators/communicator.h"

#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/only_one.h"
#include "base/options.h"
#include "group/scratch.h"
#include "mpi/job/agreement.h"
#include "mpi/communicators/registry.h"
#include "mpi/communicators/topology.h"
#include "mpi/job/end.h"
#include "mpi/report/tracing.h"
#include "mpi/host/polled.h"
#include "mpi/host/types.h"
#include "report/tally.h"

namespace tutti::mpi {

namespace {

// The number with which all ranks open the sequence of a communicator's neighbourhood collectives.
// No persistent collective opens the same (requests/persistent.cpp).
constexpr uint64_t opening_of_neighbours = 1;

// An identity that no other parked service of the team has, because the leader's rank in the team
// is a part of it.
uint64_t new_service_identity(const std::vector<int>& members) {
  static std::atomic<uint32_t> made{0};
  const uint64_t leader = members.empty() ? 0 : static_cast<uint64_t>(members.front());
  return leader << 32 | made.fetch_add(1);
}

// A number for traces that all ranks compute alike. The parts of a split have the same key, so the
// rank of the first member in MPI_COMM_WORLD tells them apart.
uint64_t traced_identity(Comm communicator, const records::Key& key) {
  const Host& mpi = host();
  Group own, all;
  const int first = 0;
  int place = abi.undefined;
  mpi.Comm_group(communicator, &own);
  mpi.Comm_group(mpi.comm_world, &all);
  mpi.Group_translate_ranks(own, 1, &first, all, &place);
  mpi.Group_free(&own);
  mpi.Group_free(&all);
  return key_of_child(key, Descent::traced, static_cast<uint64_t>(place)).words[0];
}

// True in one process of a node's ranks: every communicator has a rank 0, so many processes may
// have the same to say.
bool says_for_node(Reason reason) {
  static std::mutex mutex;
  static auto& by_reason = *new std::map<Reason, OnlyOne>;  // lives until the process ends
  const std::lock_guard<std::mutex> lock(mutex);
  const std::string purpose = "placement-" + std::to_string(static_cast<int>(reason));
  return by_reason.try_emplace(reason, purpose.c_str()).first->second.chosen();
}

// A number that no other communicator of the team gets from the set-up of one.
uint64_t new_lineage(const Team& team) {
  static std::atomic<uint32_t> made{0};
  return static_cast<uint64_t>(team.rank()) << 32 | made.fetch_add(1);
}

// The number of calls after which a communicator sets up. Making the communicator and these calls
// take the host about ten times as long as set-up takes, which is 2 to 3 us
// (docs/decisions/set-up-after-some-collectives.md). The number is lower for MPICH 5, which sets up
// its own shared-memory collectives in the fifth call on a communicator, in some 100 us: Tutti's
// set-up makes the fourth call, and there is no fifth.
int calls_before_setup(std::string_view version) {
  constexpr std::string_view mpich = "MPICH Version:";
  if (abi.kind == Abi::openmpi) return 48;
  const size_t number = version.substr(0, mpich.size()) == mpich
                            ? version.find_first_of("0123456789", mpich.size())
                            : version.npos;
  const bool early = number != version.npos && version[number] >= '5' && version[number + 1] == '.';
  return early ? 3 : 24;
}

// The number of calls that the host makes before a communicator sets up. It makes none with
// TUTTI_REPRODUCIBLE=placement, because the bits of its results may depend on where the ranks are.
// Otherwise TUTTI_SETUP_AFTER decides if it is set. MPI_COMM_WORLD lives as long as the program, so
// it sets up inside MPI_Init.
int calls_to_host(Comm communicator) {
  static const int automatic = calls_before_setup(host_version());
  if (options().reproducible == Reproducible::placement) return 0;
  if (options().setup_after != setup_after_automatic) return options().setup_after;
  return communicator == host().comm_world ? 0 : automatic;
}

}  // namespace

// The service is parked for a later communicator of the same ranks, unless the communicator also
// has messages, or a number in traces, which each communicator needs for itself.
Communicator::~Communicator() {
  neighbours_.reset();
  if (records_service_ != nullptr) {
    records_service_->serve(host().comm_null);
    retire(std::move(records_service_));
  }
  if (service_ != nullptr) service_->serve(host().comm_null);
  if (several_nodes_ != nullptr) {
    several_nodes_->end_lanes();
    if (service_ != nullptr) service_->group.reset();
    if (report::recording()) several_nodes_->record_sent();
    return;
  }
  if (service_ == nullptr) return;
  if (tracer() == nullptr && world_lasts())
    park(std::move(service_));
  else
    retire(std::move(service_));
}

void Communicator::decide_by(const select::Table* table) {
  group_->decide_by(table);
  if (several_nodes_ != nullptr) several_nodes_->decide_by(table);
}

void Communicator::renew(Comm handle, uint64_t number) {
  handle_ = handle;
  number_ = number;
  calls_left_ = calls_to_host(handle);
  noted_ = Noted::not_yet;
  expects_nonblocking_ = false;
  ancestry_ = Ancestry(handle == host().comm_world ? Lineage{key_of_world, nullptr} : Lineage{});
  by_lineage_ = ByLineage::unknown;
  meeting_ = Meeting::unknown;
  reason_ = Reason::set_up_pending;
}

// Why records that are opened by the lineage cannot serve the communicator; none: they can. Local.
Reason Communicator::judge_lineage() {
  const Host& mpi = host();
  int inter = 0;
  mpi.Comm_test_inter(handle_, &inter);
  if (inter != 0) return Reason::intercommunicator;
  mpi.Comm_size(handle_, &ranks_);
  mpi.Comm_rank(handle_, &rank_);
  if (ranks_ < 2) return Reason::one_rank;
  if (!may_set_up()) return Reason::different_options;
  if (!born().known()) return Reason::nonblocking_before_set_up;
  const std::shared_ptr<Team> team = born().team != nullptr ? born().team : world_team();
  if (team == nullptr || options().reach == ReachChoice::net)
    return Reason::nonblocking_before_set_up;
  members_ = team->members(handle_, ranks_);
  if (members_.empty()) return Reason::nonblocking_before_set_up;
  if (team->directory() == nullptr) return Reason::no_growing_memory;
  records_service_ = std::make_unique<Service>(team);
  return Reason::none;
}

Reason Communicator::find_by_lineage() {
  const Inside inside;
  if (by_lineage_ == ByLineage::unknown && !decided_) {
    no_records_ = judge_lineage();
    by_lineage_ = no_records_ == Reason::none ? ByLineage::chosen : ByLineage::no;
  }
  if (by_lineage_ != ByLineage::chosen) return decided_ ? reason_ : no_records_;
  if (reason_ == Reason::host_failed) return reason_;  // the communicator is revoked
  if (records_service_->made_records() != nullptr) return Reason::none;
  const records::Directory::Page& of_first =
      records_service_->team->directory()->page(members_.front());
  records_service_->missing_types =
      static_cast<uint32_t>(shm::load_relaxed(of_first.missing_types));
  records_service_->open_records(born().key, members_, rank_);
  records_service_->serve(handle_);
  if (tracer() != nullptr)
    traced_as_ = note_communicator(handle_, traced_identity(handle_, born().key), rank_, ranks_);
  return Reason::none;
}

void Communicator::decide() {
  decided_ = true;
  meeting_ = Meeting::over;
  const Inside inside;
  try {
    reason_ = set_up();
  } catch (...) {
    reason_ = Reason::set_up_broken;
    throw;
  }
  if (options().reproducible != Reproducible::placement || group_ != nullptr ||
      reason_ == Reason::one_rank)
    return;
  int rank = 0;
  host().Comm_rank(handle_, &rank);
  if (rank == 0 && says_for_node(reason_))
    log_once(std::string("placement/") + describe(reason_), LogLevel::warning,
             "TUTTI_REPRODUCIBLE=placement does not hold for a communicator, whose calls stay on "
             "the host MPI: %s",
             describe(reason_));
}

Reason Communicator::set_up() {
  const Host& mpi = host();
  int inter = 0, ranks = 0;
  mpi.Comm_test_inter(handle_, &inter);
  if (inter != 0) return Reason::intercommunicator;
  mpi.Comm_size(handle_, &ranks);
  mpi.Comm_rank(handle_, &rank_);
  ranks_ = ranks;
  if (ranks < 2) return Reason::one_rank;
  if (!may_set_up()) return Reason::different_options;
  team_ = world_team();
  if (team_ != nullptr && options().reach != ReachChoice::net) {
    std::vector<int> members = team_->members(handle_, ranks);
    if (!members.empty()) return join(std::move(members));
  }
  if (in_world(handle_, ranks)) return span_nodes(ranks);
  team_.reset();
  if (!may_ask(handle_, ranks)) return Reason::not_on_one_node;
  return form_team(ranks);
}

Reason Communicator::span_nodes(int ranks) {
  Reason why_not = Reason::none;
  several_nodes_ = SeveralNodes::make(handle_, ranks, team_, &why_not);
  if (several_nodes_ == nullptr) return why_not;
  group::Group::Settings settings = several_nodes_->settings();
  service().missing_types = several_nodes_->missing_types();
  service().layout = settings.layout;
  if (tracer() != nullptr)
    settings.communicator = traced_as_ =
        note_communicator(handle_, several_nodes_->identity(), rank_, ranks);
  complete(settings);
  make_group(settings);
  several_nodes_->make_lanes(settings);
  if (rank_ == 0)
    log_line(LogLevel::info, "a communicator of %d ranks on %d nodes goes by messages between them",
             ranks, settings.nodes.count());
  return Reason::none;
}

// Sets up if the ranks are of several jobs, or of a job without MPI_COMM_WORLD. They join the team
// that they are all in, or form one of their own.
Reason Communicator::form_team(int ranks) {
  team_ = noted_team(handle_, ranks);
  const Common common = agree_in_setup(handle_, team_ == nullptr ? 0 : team_->identity());
  if (common.verdict == Verdict::host_failed) return Reason::host_failed;
  if (common.verdict != Verdict::alike) return Reason::different_options;
  if (common.same && team_ != nullptr) return join({});
  std::string why_not;
  team_ = Team::form_of_all(handle_, ranks, trusted(handle_), &why_not);
  if (team_ == nullptr) {
    log_line(LogLevel::info, "a communicator stays on the host MPI: %s", why_not.c_str());
    return why_not.empty() ? Reason::not_on_one_node : Reason::no_shared_memory;
  }
  note_team(team_);
  return join({});
}

Service& Communicator::service() {
  if (service_ == nullptr) service_ = std::make_unique<Service>(team_);
  return *service_;
}

// Takes the parked service that the grant names; false if it names none.
bool Communicator::take_over(const AreaGrant& grant) {
  if (!grant.taken_over) return false;
  if (service_ == nullptr) service_ = take_parked(*team_, grant.service);
  if (service_ == nullptr)
    // The leader has seen that all ranks had parked it.
    throw std::logic_error("a parked communicator has gone");
  service_->serve(handle_);
  group_ = service_->group.get();
  group_->decide_by(table_of_job(of_world()));  // the program may have changed it
  largest_element_ = group_->max_element();
  return true;
}

// For rank 0, if no rank will use what it has granted: gives the shares of all ranks back, because
// some may not even have attached to the memory.
void Communicator::forgo(const AreaGrant& grant) {
  if (grant.taken_over) return park_again(std::move(service_));
  shm::Segment* const segment = grant.granted ? team_->segment(grant) : nullptr;
  for (int rank = 0; segment != nullptr && rank < ranks_; ++rank) segment->leave(grant.page);
}

// For rank 0: memory, or a parked service, for a communicator whose ranks are these members of the
// team. If a service is taken, it is service_.
AreaGrant Communicator::make_grant(const std::vector<int>& members) {
  AreaGrant grant;
  if (!members.empty() && tracer() == nullptr) service_ = take_parked(*team_, members);
  if (service_ != nullptr) {
    grant.taken_over = true;
    grant.service = service_->identity;
    return grant;
  }
  grant = team_->grant_areas(ranks_);
  grant.service = new_service_identity(members);
  if (tracer() != nullptr) grant.identity = new_identity();
  grant.missing_types = missing_types();
  return grant;
}

// Sets up if all ranks are members of the team. `members` are their ranks in the team; if it is
// empty, the service will not be parked.
Reason Communicator::join(std::vector<int> members) {
  AreaGrant grant;
  if (rank_ == 0) {
    grant = make_grant(members);
    grant.lineage = new_lineage(*team_);
  }
  // If the communicator was revoked, this fails at all ranks. The program's call then raises the
  // same error.
  if (broadcast(&grant, sizeof grant, handle_) != success) {
    if (rank_ == 0) forgo(grant);
    return Reason::host_failed;
  }
  if (!born().known())
    ancestry_.set_up_with(
        {key_of_child({{grant.lineage, team_->identity()}}, Descent::set_up, 0), team_});
  return use(grant, std::move(members), nullptr);
}

// Makes the group in the memory of the grant, which all ranks have. `members` as for join; `closed`
// as for all_have_touched.
Reason Communicator::use(const AreaGrant& grant, std::vector<int> members, shm::Word* closed) {
  if (take_over(grant)) return Reason::none;
  if (!grant.granted) return Reason::shared_memory_exhausted;
  const shm::Layout layout = shm::Layout::fit(ranks_, grant.bytes_per_rank);
  Service& service = this->service();
  service.segment = team_->segment(grant);
  service.page = grant.page;
  service.layout = layout;
  service.missing_types = grant.missing_types;
  if (!grant.node_segment && !all_attached(service.segment != nullptr)) {
    service.segment = nullptr;
    if (rank_ == 0) forgo(grant);
    return Reason::shared_memory_exhausted;
  }

  group::Group::Settings settings;
  settings.areas = service.segment->address(grant.page);
  settings.layout = layout;
  settings.rank = rank_;
  if (grant.touch) {
    touch_area(settings.areas + static_cast<size_t>(rank_) * layout.stride(), layout.stride());
    if (!all_have_touched(closed)) return Reason::host_failed;
  }
  settings.style = team_->wait_style();
  settings.hook = team_->progress_hook();
  if (tracer() != nullptr && by_lineage_ != ByLineage::chosen)
    traced_as_ = note_communicator(handle_, grant.identity, rank_, ranks_);
  settings.communicator = traced_as_;
  settings.reach = team_->reach(handle_, ranks_);
  settings.shape = team_->shape();
  settings.levels = team_->levels(handle_, ranks_);
  complete(settings);
  make_group(settings);
  if (!members.empty() && tracer() == nullptr) {
    service.members = std::move(members);
    service.identity = grant.service;
  }
  return Reason::none;
}

void Communicator::complete(group::Group::Settings& settings) const {
  settings.process = static_cast<uint64_t>(getpid());
  settings.tracer = tracer();
  settings.check = options().check;
  settings.overrides = overrides_of_job(of_world());
}

void Communicator::make_group(const group::Group::Settings& settings) {
  service().serve(handle_);
  service().group = std::make_unique<group::Group>(settings);
  group_ = service_->group.get();
  largest_element_ = group_->max_element();
}

bool Communicator::all_attached(bool attached) {
  const Host& mpi = host();
  uint64_t own = attached ? 1 : 0, all = 0;
  mpi.Allreduce(&own, &all, 1, mpi.type_uint64, mpi.op_min, handle_);
  return all == 1;
}

int Communicator::fail() {
  if (!said_) {
    say(group_->failure());
    let_launcher_read();  // the handler may abort the job
  }
  if (group_->stalled()) end_job(handle_);  // even if the handler would let the program go on
  const Inside inside;
  host().Comm_call_errhandler(handle_, abi.err_other);
  return abi.err_other;
}

const std::shared_ptr<NeighbourRecords>& Communicator::neighbour_records() {
  if (neighbours_ != nullptr) return neighbours_;
  auto own = neighbourhood_of(handle_);
  if (own)
    neighbours_ = std::make_shared<NeighbourRecords>(served_by().records(), std::move(*own),
                                                     opening_of_neighbours);
  return neighbours_;
}

void Communicator::say(const std::string& what) {
  if (!std::exchange(said_, true)) log_line(LogLevel::error, "%s", what.c_str());
}

}  // namespace tutti::mpi
