// The set-up of a communicator whose ranks are on several nodes, or use no shared memory
// (TUTTI_REACH=net).
//
// On every node the first member takes the areas of the node's members and sends them the place.
// All ranks learn whether every node had memory, and all use areas as large as the smallest, so
// that every rank cuts messages alike. If ranks of a node do not share memory, each of them counts
// as a node and has an area of its own. Set-up uses the private communicator, which carries only
// the ranks' messages from then on.
#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "algo/by_host.h"
#include "base/log.h"
#include "base/options.h"
#include "mpi/communicators/registry.h"
#include "mpi/communicators/communicator.h"
#include "mpi/report/tracing.h"
#include "mpi/abi/types.h"
#include "select/select.h"

namespace tutti::mpi {
namespace {

// Facts that rank 0 sends to all ranks.
struct Common {
  uint64_t identity = 0;  // of the communicator, in traces
  uint32_t missing_types = 0;
};

// An error handler that lets the calls return error codes. The rank that waits for the message
// reports the error.
void return_code(MPI_Comm*, int*, ...) {}

void return_errors(MPI_Comm communicator) {
  MPI_Errhandler handler{};
  host().Comm_create_errhandler(return_code, &handler);
  host().Comm_set_errhandler(communicator, handler);
  host().Errhandler_free(&handler);  // the communicator keeps it
}

int largest_tag() {
  void* value = nullptr;
  int found = 0;
  host().Comm_get_attr(host().comm_world, MPI_TAG_UB, &value, &found);
  return found != 0 ? *static_cast<int*>(value) : 32767;  // the least that MPI permits
}

// How a rank waits that shares memory with no other.
exec::WaitStyle style_of_one(const GatheredPlacement& placement) {
  const WaitChoice choice = options().wait;
  const bool yields = choice == WaitChoice::automatic ? placement.oversubscribed_here()
                                                      : choice == WaitChoice::yield;
  return yields ? exec::WaitStyle::yield : exec::WaitStyle::spin;
}

}  // namespace

void OwnArea::operator()(std::byte* area) const { std::free(area); }

// Takes shared memory for the areas of `here`, the ranks that share memory with this one. False if
// this node has no memory for them; all ranks of the communicator then stay on the host.
bool Communicator::take_areas(const std::vector<int32_t>& here, uint64_t* bytes_per_rank,
                              AreaGrant* grant) {
  const Host& mpi = host();
  if (here.size() == 1) {
    const size_t asked = options().shm_bytes_per_rank;
    *bytes_per_rank = asked != 0 ? asked : shm::deep_area(1);
    return true;
  }
  int rank = 0;
  mpi.Comm_rank(handle_, &rank);
  MPI_Comm& messages = net_->communicator();
  if (rank == here.front()) {
    *grant = team_->grant_areas(static_cast<int>(here.size()));
    for (const int32_t member : here) {
      if (member != rank) mpi.Send(grant, sizeof *grant, mpi.type_byte, member, 0, messages);
    }
  } else {
    mpi.Recv(grant, sizeof *grant, mpi.type_byte, here.front(), 0, messages, MPI_STATUS_IGNORE);
  }
  if (!grant->granted) return false;
  service().segment = team_->segment(*grant);
  service().page = grant->page;
  *bytes_per_rank = grant->bytes_per_rank;
  return service().segment != nullptr;
}

// The areas of `here`, zeroed except for the slots; null if there is no memory.
std::byte* Communicator::ready_areas(const std::vector<int32_t>& here, const shm::Layout& layout,
                                     const AreaGrant& grant) {
  if (here.size() == 1) {
    own_area_.reset(static_cast<std::byte*>(std::aligned_alloc(
        shm::page_size, (layout.bytes() + shm::page_size - 1) / shm::page_size * shm::page_size)));
    if (own_area_ != nullptr) clear_areas(own_area_.get(), layout);
    return own_area_.get();
  }
  int rank = 0;
  host().Comm_rank(handle_, &rank);
  std::byte* const areas = service().segment->address(grant.page);
  if (rank == here.front() && !grant.fresh) clear_areas(areas, layout);
  const auto index = static_cast<size_t>(std::find(here.begin(), here.end(), rank) - here.begin());
  if (grant.touch) touch_area(areas + index * layout.stride(), layout.stride());
  return areas;
}

// Makes the leaders only if a rule or a variable may ask for them, because their communicator costs
// the host memory and time. Null if none are made.
group::Leaders* Communicator::make_leaders(const placement::Levels& levels, int ranks) {
  if (!select::may_go_by_host(group::overrides_of(options()))) return nullptr;
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
  MPI_Comm messages = mpi.comm_null;
  if (mpi.Comm_split(handle_, 0, rank, &messages) != MPI_SUCCESS) return Reason::host_failed;
  return_errors(messages);
  net_ = std::make_unique<net::PointToPoint>(
      net::Calls{mpi.Isend, mpi.Irecv, mpi.Test, mpi.Wait, mpi.Comm_free}, messages, mpi.type_byte,
      largest_tag(), world.machine_nodes(members), rank);

  const placement::Nodes nodes = world.nodes(members);
  const std::vector<int32_t> here = nodes.members(rank, ranks);
  AreaGrant grant;
  uint64_t bytes_per_rank = 0;
  const bool could = take_areas(here, &bytes_per_rank, &grant);
  const uint64_t own[] = {could ? uint64_t{1} : 0, could ? bytes_per_rank : UINT64_MAX};
  uint64_t least[2] = {};
  if (mpi.Allreduce(own, least, 2, mpi.type_uint64, mpi.op_min, messages) != MPI_SUCCESS)
    return Reason::host_failed;
  if (least[0] == 0) return Reason::shared_memory_exhausted;
  const shm::Layout layout = shm::Layout::fit(static_cast<int32_t>(here.size()), least[1]);

  group::Group::Settings settings;
  settings.areas = ready_areas(here, layout, grant);
  uint64_t ready = settings.areas != nullptr ? 1 : 0, all_ready = 0;
  if (mpi.Allreduce(&ready, &all_ready, 1, mpi.type_uint64, mpi.op_min, messages) != MPI_SUCCESS)
    return Reason::host_failed;
  if (all_ready == 0) return Reason::shared_memory_exhausted;
  Common common{tracer() != nullptr ? new_identity() : 0, missing_types()};
  if (mpi.Bcast(&common, sizeof common, mpi.type_byte, 0, messages) != MPI_SUCCESS)
    return Reason::host_failed;
  service().missing_types = common.missing_types;
  settings.layout = service().layout = layout;
  settings.rank = rank;
  settings.ranks = ranks;
  settings.nodes = nodes;
  settings.net = net_.get();
  settings.style = here.size() > 1 ? team_->wait_style() : style_of_one(*gathered);
  settings.oversubscribed = world.oversubscribed(members);
  if (here.size() > 1) settings.hook = team_->progress_hook();
  settings.levels = world.levels(members);
  settings.shape.counts[topo::node_level] = machine_nodes;
  if (tracer() != nullptr)
    settings.communicator = traced_as_ = note_communicator(handle_, common.identity, rank, ranks);
  settings.leaders = make_leaders(settings.levels, ranks);
  make_group(std::move(settings));
  if (rank == 0)
    log_line(LogLevel::info, "a communicator of %d ranks on %d nodes goes by messages between them",
             ranks, nodes.count());
  return Reason::none;
}

}  // namespace tutti::mpi
