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
#include "mpi/host/private_group.h"
#include "mpi/host/ranks.h"
#include "mpi/host/types.h"
#include "report/tally.h"

namespace tutti::mpi {

namespace {

// The number with which all ranks open the sequence of a communicator's neighbourhood collectives.
// No persistent collective opens the same (requests/persistent.cpp).
constexpr uint64_t opening_of_neighbours = 1;

// A number for traces that all ranks compute alike. The parts of a split have the same key, so the
// rank of the first member in MPI_COMM_WORLD tells them apart.
uint64_t traced_identity(Comm communicator, const records::Key& key) {
  const Host& mpi = host();
  const PrivateGroup own = PrivateGroup::of(communicator), all = PrivateGroup::of(mpi.comm_world);
  const int first = 0;
  int place = abi.undefined;
  mpi.Group_translate_ranks(own.get(), 1, &first, all.get(), &place);
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

// The number of calls after which a communicator sets up. Making the communicator and these calls
// take the host about ten times as long as set-up takes, which is 2 to 3 us
// (docs/decisions/set-up-after-some-collectives.md). The number is lower for MPICH 5, which sets up
// its own shared-memory collectives in the fifth call on a communicator, in some 100 us: Tutti's
// set-up makes the fourth call, and there is no fifth.
int calls_before_setup(std::string_view version) {
  constexpr std::string_view mpich = "MPICH Version:";
  if (abi.is_open_mpi) return 48;
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

// Why Tutti serves no collective of the communicator; none: it may. Finds this rank and the number
// of ranks. Local.
Reason Communicator::look_at_ranks() {
  const Host& mpi = host();
  int inter = 0;
  mpi.Comm_test_inter(handle_, &inter);
  if (inter != 0) return Reason::intercommunicator;
  mpi.Comm_size(handle_, &ranks_);
  mpi.Comm_rank(handle_, &rank_);
  if (ranks_ < 2) return Reason::one_rank;
  if (!may_set_up()) return Reason::different_options;
  return options().serve_collectives ? Reason::none : Reason::turned_off;
}

// Why records that are opened by the lineage cannot serve the communicator; none: they can. Local.
Reason Communicator::judge_lineage() {
  if (const Reason reason = look_at_ranks(); reason != Reason::none) return reason;
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
  if (rank_in(handle_) == 0 && says_for_node(reason_))
    log_once(std::string("placement/") + describe(reason_), LogLevel::warning,
             "TUTTI_REPRODUCIBLE=placement does not hold for a communicator, whose calls stay on "
             "the host MPI: %s",
             describe(reason_));
}

Reason Communicator::set_up() {
  if (const Reason reason = look_at_ranks(); reason != Reason::none) return reason;
  team_ = world_team();
  if (team_ != nullptr && options().reach != ReachChoice::net) {
    std::vector<int> members = team_->members(handle_, ranks_);
    if (!members.empty()) return join(std::move(members));
  }
  if (in_world(handle_, ranks_)) return span_nodes();
  team_.reset();
  if (!may_ask(handle_, ranks_)) return Reason::not_on_one_node;
  return form_team();
}

Reason Communicator::span_nodes() {
  Reason why_not = Reason::none;
  several_nodes_ = SeveralNodes::make(handle_, ranks_, team_, &why_not);
  if (several_nodes_ == nullptr) return why_not;
  group::Group::Settings settings = several_nodes_->settings();
  auto service = std::make_unique<Service>(team_);
  service->missing_types = several_nodes_->missing_types();
  service->layout = settings.layout;
  if (tracer() != nullptr)
    settings.communicator = traced_as_ =
        note_communicator(handle_, several_nodes_->identity(), rank_, ranks_);
  complete(settings, true);
  service->serve(handle_);
  service->group = std::make_unique<group::Group>(settings);
  serve_by(std::move(service));
  several_nodes_->make_lanes(settings);
  if (rank_ == 0)
    log_line(LogLevel::info, "a communicator of %d ranks on %d nodes goes by messages between them",
             ranks_, settings.nodes.count());
  return Reason::none;
}

// Sets up if the ranks are of several jobs, or of a job without MPI_COMM_WORLD. They join the team
// that they are all in, or form one of their own.
Reason Communicator::form_team() {
  team_ = noted_team(handle_, ranks_);
  const Common common = agree_in_setup(handle_, team_ == nullptr ? 0 : team_->identity());
  if (common.verdict == Verdict::host_failed) return Reason::host_failed;
  if (common.verdict != Verdict::alike) return Reason::different_options;
  if (common.same && team_ != nullptr) return join({});
  if (!common.one_node && common.can_meet) meet_for_roll(handle_);
  std::string why_not;
  team_ = Team::form_of_all(handle_, ranks_, trusted(handle_), &why_not);
  if (team_ == nullptr) {
    log_line(LogLevel::info, "a communicator stays on the host MPI: %s", why_not.c_str());
    return why_not.empty() ? Reason::not_on_one_node : Reason::no_shared_memory;
  }
  note_team(team_);
  return join({});
}

OneNode Communicator::on_one_node(std::vector<int> members) const {
  const bool is_traced = tracer() != nullptr && by_lineage_ == ByLineage::chosen;
  return OneNode({.handle = handle_,
                  .rank = rank_,
                  .ranks = ranks_,
                  .team = team_,
                  .members = std::move(members),
                  .traced_as = is_traced ? std::optional(traced_as_) : std::nullopt});
}

// Sets up if all ranks are members of the team. `members` are their ranks in the team; if it is
// empty, the service will not be parked.
Reason Communicator::join(std::vector<int> members) {
  OneNode node = on_one_node(std::move(members));
  AreaGrant grant;
  if (!node.tell(&grant)) return Reason::host_failed;
  if (!born().known())
    ancestry_.set_up_with(
        {key_of_child({{grant.lineage, team_->identity()}}, Descent::set_up, 0), team_});
  return use(node, grant, nullptr);
}

Reason Communicator::use(OneNode& node, const AreaGrant& grant, shm::Word* closed) {
  const Reason why_not = node.use(grant, closed);
  traced_as_ = node.traced_as();
  if (why_not == Reason::none) serve_by(node.take_service());
  return why_not;
}

void Communicator::serve_by(std::unique_ptr<Service> service) {
  service_ = std::move(service);
  group_ = service_->group.get();
  largest_element_ = group_->max_element();
}

// Throws before it has judged, if memory runs out.
void Communicator::judge_meeting() {
  meeting_ = may_meet_by_lineage() ? Meeting::expected : Meeting::no;
}

bool Communicator::may_meet_by_lineage() {
  if (decided_ || !born().known() || !options().serve_collectives ||
      options().reach == ReachChoice::net || options().setup_after != setup_after_automatic ||
      options().reproducible == Reproducible::placement)
    return false;
  const Inside inside;
  if (look_at_ranks() != Reason::none) return false;
  // Only the world's team stays until all announcements have been read (settle_announcements).
  const std::shared_ptr<Team> team = born().team != nullptr ? nullptr : world_team();
  if (team == nullptr || team->announcements() == nullptr) return false;
  members_ = team->members(handle_, ranks_);
  if (members_.empty()) return false;
  team_ = team;
  return true;
}

void Communicator::meet(const std::function<bool()>& is_refused) {
  const Inside inside;
  const bool refused = is_refused();
  if (refused && rank_ != 0) return;
  const records::Key key = key_of_child(born().key, Descent::granted, 0);
  OneNode node = on_one_node(members_);
  const team::Announcements::Announced announced =
      rank_ == 0 ? node.announce(key, refused) : node.await_rank_0(key);
  meeting_ = Meeting::over;
  const auto close = [&] {
    if (announced.closed != nullptr && (rank_ != 0 || announced.grant.touch)) announced.close();
  };
  if (announced.grant.postponed) {
    team_.reset();
    reason_ = announced.grant.refused ? Reason::set_up_pending : Reason::set_up_postponed;
    calls_left_ = std::max(calls_left_, 1);
    close();
    return;
  }
  decided_ = true;
  if (announced.closed == nullptr) {
    reason_ = Reason::set_up_broken;  // rank 0 has ended
    return;
  }
  try {
    reason_ = use(node, announced.grant, announced.closed);
  } catch (...) {
    reason_ = Reason::set_up_broken;
    close();
    throw;
  }
  close();
}

int Communicator::fail() {
  if (!said_) {
    say(group_->failure());
    if (call_the_roll != nullptr) call_the_roll("a collective has failed");
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
