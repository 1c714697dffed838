// The set-up of a communicator whose ranks are on several nodes, or use no shared memory
// (TUTTI_REACH=net).
//
// The ranks of each node take areas (node_areas.h). If ranks of a node do not share memory, each of
// them counts as a node and has an area of its own. Set-up uses the private communicator, which
// carries only the ranks' messages from then on.
//
// A communicator takes private ones for its messages, its leaders and its lanes. All of them come
// from the host's supply, which is the program's, too (MPICH has about 2,000). So Tutti takes only
// a bounded share of it, and further communicators stay on the host.
#include <algorithm>
#include <utility>

#include "algo/by_host.h"
#include "base/log.h"
#include "base/options.h"
#include "mpi/communicators/registry.h"
#include "mpi/communicators/communicator.h"
#include "mpi/job/drive_host.h"
#include "mpi/job/servers.h"
#include "mpi/report/tracing.h"
#include "mpi/host/types.h"
#include "select/select.h"

namespace tutti::mpi {
namespace {

// Facts that rank 0 sends to all ranks.
struct Common {
  uint64_t identity = 0;  // of the communicator, in traces
  uint32_t missing_types = 0;
};

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
  const bool yields = choice == WaitChoice::automatic ? placement.oversubscribed_here()
                                                      : choice == WaitChoice::yield;
  return yields ? exec::WaitStyle::yield : exec::WaitStyle::spin;
}

}  // namespace

// Makes the lanes of non-blocking collectives, if servers are asked for. Collective. If some rank
// has no server, or no memory for them, there are none, and the host serves these collectives and
// persistent ones.
void Communicator::make_lanes(const group::Group::Settings& settings,
                              const std::vector<int32_t>& here,
                              const placement::PeriodicRow& machine_nodes) {
  if (options().servers.count == 0 || private_left_ == 0) return;
  --private_left_;
  ServedLanes::Making making{settings, here, here.size() > 1 ? team_ : nullptr, machine_nodes};
  std::string why_not;
  lanes_ = ServedLanes::make(handle_, making, &why_not);
  if (lanes_ == nullptr) {
    if (rank_ == 0)
      log_once("lanes", LogLevel::warning,
               "non-blocking and persistent collectives between nodes stay on the host MPI, as "
               "without TUTTI_SERVERS: %s",
               why_not.c_str());
    return;
  }
  lanes_->serve(handle_);
  persistent_lanes_ = std::make_unique<PersistentLanes>(std::move(making));
}

// Makes the leaders only if a rule or a variable may ask for them, because their communicator costs
// the host memory and time. Null if none are made.
group::Leaders* Communicator::make_leaders(const placement::Levels& levels, int ranks) {
  if (!select::may_go_by_host(overrides_of_job(true)) || private_left_ == 0) return nullptr;
  --private_left_;
  leaders_ = HostLeaders::make(net_->communicator(), algo::leaders(levels, ranks));
  if (leaders_ == nullptr)
    log_once("leaders", LogLevel::warning,
             "the host MPI made no communicator of the nodes' leaders; the next rule serves "
             "instead of hierarchical+host");
  return leaders_.get();
}

Reason Communicator::span_nodes(int ranks) {
  const Host& mpi = host();
  std::vector<int> members;
  const std::shared_ptr<const GatheredPlacement> gathered =
      world_placement(handle_, ranks, &members);
  const Reason by_host = team_ == nullptr ? Reason::no_shared_memory : Reason::not_on_one_node;
  if (gathered == nullptr || members.empty()) return by_host;
  const placement::WorldPlacement& world = gathered->of_world();
  const int machine_nodes = world.machine_node_count(members);
  if (machine_nodes == 1 && options().reach != ReachChoice::net) return by_host;
  int rank = 0;
  mpi.Comm_rank(handle_, &rank);
  private_left_ = private_communicators_left(handle_);
  if (private_left_ < 0) return Reason::host_failed;
  if (private_left_ == 0) {
    if (rank == 0)
      log_once("communicators", LogLevel::warning,
               "this program has many communicators between nodes; further ones stay on the host "
               "MPI, whose supply of communicators is kept for the program");
    return Reason::communicators_kept;
  }
  --private_left_;
  messages_ = PrivateCommunicator::split(handle_, 0, rank);
  if (!messages_) return Reason::host_failed;
  messages_.return_errors();
  const Comm messages = messages_.get();
  net_ = std::make_unique<net::PointToPoint>(messages, net::Tags{0, largest_tag()},
                                             world.machine_nodes(members), rank);

  const placement::Nodes nodes = world.nodes(members);
  const std::vector<int32_t> here = nodes.members(rank, ranks);
  bool willing = true;
  std::vector<NodeAreas> areas = NodeAreas::agree(messages, here, team_, 1, &willing);
  if (areas.empty()) return Reason::shared_memory_exhausted;
  areas_ = std::move(areas.front());

  group::Group::Settings settings;
  settings.areas = areas_.areas();
  Common common{tracer() != nullptr ? new_identity() : 0, missing_types()};
  if (mpi.Bcast(&common, sizeof common, mpi.type_byte, 0, messages) != success)
    return Reason::host_failed;
  service().missing_types = common.missing_types;
  settings.layout = service().layout = areas_.layout();
  settings.rank = rank;
  settings.ranks = ranks;
  settings.nodes = nodes;
  settings.net = net_.get();
  settings.style = here.size() > 1 ? team_->wait_style() : style_of_one(*gathered);
  settings.oversubscribed = world.oversubscribed(members);
  settings.hook = here.size() > 1 ? team_->progress_hook()
                                  : exec::ProgressHook{[](void*) { drive_host(); }, nullptr};
  settings.levels = world.levels(members);
  settings.shape.counts[topo::node_level] = machine_nodes;
  if (tracer() != nullptr)
    settings.communicator = traced_as_ = note_communicator(handle_, common.identity, rank, ranks);
  settings.leaders = make_leaders(settings.levels, ranks);
  complete(settings);
  make_group(settings);
  make_lanes(settings, here, world.machine_nodes(members));
  if (rank == 0)
    log_line(LogLevel::info, "a communicator of %d ranks on %d nodes goes by messages between them",
             ranks, nodes.count());
  return Reason::none;
}

}  // namespace tutti::mpi
