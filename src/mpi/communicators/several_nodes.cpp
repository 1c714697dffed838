#include "mpi/communicators/several_nodes.h"

#include <algorithm>
#include <utility>

#include "algo/by_host.h"
#include "base/log.h"
#include "base/options.h"
#include "mpi/communicators/registry.h"
#include "mpi/job/drive_host.h"
#include "mpi/job/servers.h"
#include "mpi/report/tracing.h"
#include "mpi/host/inside.h"
#include "mpi/host/types.h"
#include "report/tally.h"
#include "select/select.h"

namespace tutti::mpi {
namespace {

// None is taken where a rank has so many communicators in all, so that Tutti never takes the
// program's last ones.
constexpr uint64_t most_in_use = 1024;

// How many private communicators all ranks of a communicator can take. Collective; negative if the
// host fails, which it does at all ranks.
int64_t private_communicators_left(Comm communicator) {
  const Host& mpi = host();
  const uint64_t own[] = {PrivateCommunicator::living(), communicators_in_use()};
  uint64_t most[2] = {};
  if (mpi.Allreduce(own, most, 2, mpi.type_uint64, mpi.op_max, communicator) != success) return -1;
  constexpr uint64_t most_private = PrivateCommunicator::most;
  return static_cast<int64_t>(std::min(most_private - std::min(most[0], most_private),
                                       most_in_use - std::min(most[1], most_in_use)));
}

// How a rank waits that shares memory with no other.
exec::WaitStyle style_of_one(const GatheredPlacement& placement) {
  const WaitChoice choice = options().wait;
  const bool yield =
      choice == WaitChoice::automatic ? placement.oversubscribed_here() : yields(choice);
  return yield ? exec::WaitStyle::yield : exec::WaitStyle::spin;
}

}  // namespace

std::unique_ptr<SeveralNodes> SeveralNodes::make(Comm over, int ranks,
                                                 const std::shared_ptr<Team>& team,
                                                 Reason* why_not) {
  std::vector<int> members;
  const std::shared_ptr<const GatheredPlacement> gathered = world_placement(over, ranks, &members);
  *why_not = team == nullptr ? Reason::no_shared_memory : Reason::not_on_one_node;
  if (gathered == nullptr || members.empty()) return nullptr;
  const placement::WorldPlacement& world = gathered->of_world();
  const int machine_nodes = world.machine_node_count(members);
  if (machine_nodes == 1 && options().reach != ReachChoice::net) return nullptr;
  std::unique_ptr<SeveralNodes> made(new SeveralNodes(over, ranks));
  *why_not = made->take_messages(world, members);
  if (*why_not != Reason::none) return nullptr;
  *why_not = made->take_areas(*gathered, members, team);
  if (*why_not != Reason::none) return nullptr;
  made->settings_.shape.counts[topo::node_level] = machine_nodes;
  made->settings_.leaders = made->make_leaders();
  made->settings_.exchange = made->make_exchange_by_servers();
  return made;
}

SeveralNodes::SeveralNodes(Comm over, int ranks) : over_(over) {
  host().Comm_rank(over, &settings_.rank);
  settings_.ranks = ranks;
}

// All further objects use the private communicator, so they end before it.
SeveralNodes::~SeveralNodes() {
  const Inside inside;
  settings_.exchange.reset();
  leaders_.reset();
  net_.reset();
  messages_.reset();
}

Reason SeveralNodes::take_messages(const placement::WorldPlacement& world,
                                   const std::vector<int>& members) {
  private_left_ = private_communicators_left(over_);
  if (private_left_ < 0) return Reason::host_failed;
  if (private_left_ == 0) {
    if (settings_.rank == 0)
      log_once("communicators", LogLevel::warning,
               "this program has many communicators between nodes; further ones stay on the host "
               "MPI, whose supply of communicators is kept for the program");
    return Reason::communicators_kept;
  }
  --private_left_;
  messages_ = PrivateCommunicator::split(over_, 0, settings_.rank);
  if (!messages_) return Reason::host_failed;
  messages_.return_errors();
  machine_nodes_ = world.machine_nodes(members);
  net_ = std::make_unique<net::PointToPoint>(messages_.get(), net::Tags{0, largest_tag()},
                                             machine_nodes_, settings_.rank);
  settings_.net = net_.get();
  return Reason::none;
}

Reason SeveralNodes::take_areas(const GatheredPlacement& gathered, const std::vector<int>& members,
                                const std::shared_ptr<Team>& team) {
  const Host& mpi = host();
  const placement::WorldPlacement& world = gathered.of_world();
  settings_.nodes = world.nodes(members);
  here_ = settings_.nodes.members(settings_.rank, settings_.ranks);
  bool willing = true;
  std::vector<NodeAreas> areas = NodeAreas::agree(messages_.get(), here_, team, 1, &willing);
  if (areas.empty()) return Reason::shared_memory_exhausted;
  areas_ = std::move(areas.front());
  settings_.areas = areas_.areas();
  settings_.layout = areas_.layout();
  common_ = {tracer() != nullptr ? new_identity() : 0, mpi::missing_types()};
  if (mpi.Bcast(&common_, sizeof common_, mpi.type_byte, 0, messages_.get()) != success)
    return Reason::host_failed;
  const bool alone = here_.size() == 1;
  team_ = alone ? nullptr : team;
  settings_.style = alone ? style_of_one(gathered) : team->wait_style();
  settings_.oversubscribed = world.oversubscribed(members);
  settings_.hook = alone ? exec::ProgressHook{[](void*) { return drive_host(); }, nullptr}
                         : team->progress_hook();
  settings_.levels = world.levels(members);
  return Reason::none;
}

// Makes the leaders only if a rule or a variable may ask for them, because their communicator costs
// the host memory and time. Null if none are made.
group::Leaders* SeveralNodes::make_leaders() {
  if (!select::may_go_by_host(overrides_of_job(true)) || private_left_ == 0) return nullptr;
  --private_left_;
  leaders_ =
      HostLeaders::make(net_->communicator(), algo::leaders(settings_.levels, settings_.ranks));
  if (leaders_ == nullptr)
    log_once("leaders", LogLevel::warning,
             "the host MPI made no communicator of the nodes' leaders; the next rule serves "
             "instead of hierarchical+host");
  return leaders_.get();
}

// The same if a rule or a variable may ask for it. It takes communicators for its own messages and,
// once in a job, for the servers' endpoints.
std::shared_ptr<group::Exchange> SeveralNodes::make_exchange_by_servers() {
  const int64_t taken = 4 + options().servers.count;
  if (make_exchange == nullptr || private_left_ < taken || options().servers.count == 0 ||
      !select::may_go_by_servers(overrides_of_job(true)))
    return nullptr;
  private_left_ -= taken;
  return make_exchange(net_->communicator(), settings_.rank, settings_.ranks, settings_.style);
}

void SeveralNodes::make_lanes(const group::Group::Settings& settings) {
  if (options().servers.count == 0 || private_left_ == 0) return;
  --private_left_;
  ServedLanes::Making making{settings, here_, team_, machine_nodes_};
  std::string why_not;
  lanes_ = ServedLanes::make(over_, making, &why_not);
  if (lanes_ == nullptr) {
    if (settings.rank == 0)
      log_once("lanes", LogLevel::warning,
               "non-blocking and persistent collectives between nodes stay on the host MPI, as "
               "without TUTTI_SERVERS: %s",
               why_not.c_str());
    return;
  }
  lanes_->serve(over_);
  persistent_lanes_ = std::make_unique<PersistentLanes>(std::move(making));
}

void SeveralNodes::end_lanes() {
  if (persistent_lanes_ != nullptr) persistent_lanes_->serve(host().comm_null);
  if (lanes_ != nullptr) lanes_->serve(host().comm_null);
  persistent_lanes_.reset();
  lanes_.reset();
}

void SeveralNodes::decide_by(const select::Table* table) {
  if (lanes_ != nullptr) lanes_->lanes().decide_by(table);
  if (persistent_lanes_ != nullptr) persistent_lanes_->decide_by(table);
}

void SeveralNodes::record_sent() const {
  const auto sent = [](const net::PointToPoint::Sent& by) {
    return report::Sent{by.messages, by.bytes};
  };
  const report::Sent led = leaders_ != nullptr ? leaders_->calls() : report::Sent{};
  report::record_messages(sent(net_->sent_between_nodes()), sent(net_->sent_within_node()), led);
  if (lanes_ != nullptr) lanes_->record_sent();
  if (persistent_lanes_ != nullptr) persistent_lanes_->record_sent();
}

}  // namespace tutti::mpi
