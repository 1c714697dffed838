#include "mpi/job/gathered_placement.h"

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/options.h"
#include "base/process.h"
#include "mpi/host/host.h"
#include "mpi/host/private_communicator.h"
#include "mpi/host/ranks.h"
#include "mpi/job/team.h"
#include "placement/clusters.h"
#include "placement/cores.h"
#include "placement/gathering.h"
#include "select/contents.h"
#include "team/levels.h"
#include "topo/description.h"

namespace tutti::mpi {
namespace {

using placement::CoreMask;
using placement::RankLocation;
using placement::WorldPlacement;

// Ranks that have something in common, and a communicator of them, which lives while they exchange
// what they know.
class Neighbours {
 public:
  static Neighbours on_node() {
    return Neighbours(PrivateCommunicator::split_by_node(host().comm_world, 0));
  }
  // The ranks that pass the same number as this one; no ranks if it passes MPI_UNDEFINED.
  // Collective over MPI_COMM_WORLD.
  static Neighbours by(int number) {
    return Neighbours(PrivateCommunicator::split(host().comm_world, number, 0));
  }

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  template <class Item>
  std::vector<Item> gather(const Item& own) const {
    return mpi::gather(own, ranks_, communicator_.get());
  }

  // Returns the value that the node's first rank gives.
  int32_t of_first(int32_t value) const {
    host().Bcast(&value, sizeof value, host().type_byte, 0, communicator_.get());
    return value;
  }
  // The same for a text.
  std::string of_first(std::string text) const {
    text.resize(static_cast<size_t>(of_first(static_cast<int32_t>(text.size()))));
    if (!text.empty())
      host().Bcast(text.data(), static_cast<int>(text.size()), host().type_byte, 0,
                   communicator_.get());
    return text;
  }
  // The levels of the ranks of a node, which the node's first rank finds.
  // Simulated ranks have one level, because this machine's levels do not describe their node.
  placement::Levels levels(const std::vector<placement::Place>& places) const {
    if (simulated) return {};
    placement::Levels levels = placement::read_levels(
        of_first(rank_ == 0 ? team::levels_here(places).text() : std::string()));
    team::record_levels(levels, places);
    return levels;
  }

  // Returns the items of all ranks, this rank's first. `number_of` gives equal numbers for the
  // items of one rank and different numbers for those of two. There are at most `most` items in
  // all.
  template <class Item, class Number>
  std::vector<Item> gather_shares(std::vector<Item> items, size_t most, Number number_of) const {
    const Host& mpi = host();
    items.reserve(most);
    for (const placement::GatheringRound& round : placement::gathering_rounds(rank_, ranks_)) {
      size_t sent = 0;
      for (int32_t shares = 0; sent < items.size(); ++sent) {
        if (sent == 0 || number_of(items[sent]) != number_of(items[sent - 1])) ++shares;
        if (shares > round.shares) break;
      }
      const size_t held = items.size();
      items.resize(most);  // the number of received items is known after the receive
      Request request{};
      Status status{};
      int bytes = 0;
      mpi.Irecv(items.data() + held, bytes_of<Item>(most - held), mpi.type_byte, round.from, 0,
                communicator_.get(), &request);
      mpi.Send(items.data(), bytes_of<Item>(sent), mpi.type_byte, round.to, 0, communicator_.get());
      mpi.Wait(&request, &status);
      mpi.Get_count(&status, mpi.type_byte, &bytes);
      items.resize(held + static_cast<size_t>(bytes) / sizeof(Item));
    }
    return items;
  }

 private:
  explicit Neighbours(PrivateCommunicator made) : communicator_(std::move(made)) {
    if (!communicator_) return;
    ranks_ = ranks_in(communicator_.get());
    rank_ = rank_in(communicator_.get());
  }

  template <class Item>
  static int bytes_of(size_t items) {
    return static_cast<int>(items * sizeof(Item));
  }

  PrivateCommunicator communicator_;
  int rank_ = 0, ranks_ = 0;
};

// Makes the placement of the world from what each rank tells about itself. Collective over all
// ranks.
WorldPlacement exchanged(const Neighbours& node, const RankLocation& own, int world_ranks) {
  std::vector<RankLocation> here = node.gather(own);
  const bool first = node.rank() == 0;
  const Neighbours firsts = Neighbours::by(first ? 0 : abi.undefined);
  if (!first) return WorldPlacement::read(node.of_first(std::string()));
  const auto node_of = [](const RankLocation& location) { return location.node; };
  const WorldPlacement all(
      firsts.gather_shares(std::move(here), static_cast<size_t>(world_ranks), node_of));
  node.of_first(all.text());
  return all;
}

// The relation of ranks and cores on this process's machine, over all nodes there: containers have
// names, memory and processes of their own, but share the machine's cores.
struct Subscription {
  bool oversubscribed = false;
  bool by_servers = false;  // it is so only because ranks keep off the cores of servers
};

// `node` is the number of this process's node. Collective over all ranks.
Subscription subscription_of_machine(int32_t node) {
  struct Resident {
    uint64_t kernel;
    CoreMask cores, of_servers;
  };
  if (simulated) return {};
  const uint64_t kernel = placement::kernel_identity();
  // Two kernels may have the same number in 30 bits, so their ranks are told apart below. Where a
  // kernel has no number, the node's own number is used.
  constexpr int kernels = 1 << 30;
  const int number = kernel != 0 ? static_cast<int>(kernel % kernels) : kernels + node % kernels;
  std::vector<CoreMask> masks, with_servers;
  Resident own{kernel, placement::usable_cores(), {}};
  for (const int core : options().servers.cores)
    if (static_cast<size_t>(core) < own.of_servers.size())
      own.of_servers.set(static_cast<size_t>(core));
  for (const Resident& resident : Neighbours::by(number).gather(own)) {
    if (resident.kernel != kernel) continue;
    masks.push_back(resident.cores);
    with_servers.push_back(resident.cores | resident.of_servers);
  }
  const bool oversubscribed = placement::oversubscribed(masks);
  return {oversubscribed, oversubscribed && !placement::oversubscribed(with_servers)};
}

struct ClustersFile {
  uint64_t fingerprint = 0;
  int32_t own = 0;
};

// Read once and kept until the process ends, like the other files that options name.
const ClustersFile& clusters_file() {
  static const ClustersFile& read = *new ClustersFile([] {
    const std::string& file = options().clusters;
    const std::string text =
        select::read_file(file, "give TUTTI_CLUSTERS the name of a file (docs/clusters.md)");
    return ClustersFile{hashed(hash_of_nothing, text),
                        placement::Clusters::read(text, file).of(host_name())};
  }());
  return read;
}

}  // namespace

void check_topology() {
  try {
    topo::check_given(options().topology);
  } catch (const Error& error) {
    throw Error(error.code(), std::string("TUTTI_TOPOLOGY: ") + error.what());
  }
}

int32_t own_cluster() { return options().clusters.empty() ? 0 : clusters_file().own; }
uint64_t clusters_fingerprint() { return clusters_file().fingerprint; }

std::shared_ptr<const GatheredPlacement> GatheredPlacement::gather(Team* team) {
  const Comm world = host().comm_world;
  const int world_rank = rank_in(world), world_ranks = ranks_in(world);
  const bool uses_memory = options().reach != ReachChoice::net;
  // If one team has all ranks, each of them sees that here, so all return.
  if (world_ranks < 2 || (uses_memory && team != nullptr && team->ranks() == world_ranks))
    return nullptr;
  const Neighbours node = Neighbours::on_node();
  const auto made = std::make_shared<GatheredPlacement>();
  RankLocation own;
  own.rank = world_rank;
  own.node = node.of_first(world_rank);
  const Subscription subscription = subscription_of_machine(own.node);
  made->oversubscribed_here_ = subscription.oversubscribed;
  if (team != nullptr && made->oversubscribed_here_) team->know_oversubscribed();
  if (made->oversubscribed_here_ && world_rank == 0)
    log_line(LogLevel::info,
             "ranks outnumber the cores of their machine, on this node or with other nodes of it: "
             "waits yield");
  if (subscription.by_servers && world_rank == 0)
    log_line(LogLevel::warning,
             "several nodes are containers of one machine, and each keeps its ranks off the cores "
             "that its servers have, so that ranks share cores; give each container cores of its "
             "own, or bind the ranks (docs/servers.md)");
  own.memory = uses_memory && team != nullptr ? own.node : world_rank;
  own.cluster = node.of_first(own_cluster());
  own.oversubscribed = made->oversubscribed_here_ ? 1 : 0;
  own.groups = groups_on_node(node.levels(node.gather(placement::present_place())), node.rank());
  made->of_world_ = exchanged(node, own, world_ranks);
  return made;
}

}  // namespace tutti::mpi
