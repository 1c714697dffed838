#include "mpi/job/places.h"

#include <sys/utsname.h>

#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/options.h"
#include "group/gathering.h"
#include "mpi/job/cores.h"
#include "mpi/abi/host.h"
#include "mpi/job/team.h"
#include "select/contents.h"
#include "topo/clusters.h"

namespace tutti::mpi {
std::string host_name() {
  utsname names{};
  uname(&names);
  return names.nodename;
}

namespace {

// A communicator of ranks that are together somewhere, for as long as they find out what they
// share.
class Neighbours {
 public:
  static Neighbours on_node() {
    const Host& mpi = host();
    MPI_Comm made{};
    mpi.Comm_split_type(mpi.comm_world, MPI_COMM_TYPE_SHARED, 0, mpi.info_null, &made);
    return Neighbours(made);
  }
  // Of those with one number, of 0 ranks for those with MPI_UNDEFINED; collective over all ranks.
  static Neighbours by(int number) {
    MPI_Comm made{};
    host().Comm_split(host().comm_world, number, 0, &made);
    return Neighbours(made);
  }
  ~Neighbours() {
    if (communicator_ != host().comm_null) host().Comm_free(&communicator_);
  }
  Neighbours(const Neighbours&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  template <class Item>
  std::vector<Item> gather(const Item& own) const {
    std::vector<Item> all(static_cast<size_t>(ranks_));
    host().Allgather(&own, sizeof own, host().type_byte, all.data(), sizeof own, host().type_byte,
                     communicator_);
    return all;
  }

  // What the node's first rank says.
  int32_t of_first(int32_t value) const {
    host().Bcast(&value, sizeof value, host().type_byte, 0, communicator_);
    return value;
  }
  // Likewise of a text.
  std::string of_first(std::string text) const {
    text.resize(static_cast<size_t>(of_first(static_cast<int32_t>(text.size()))));
    if (!text.empty())
      host().Bcast(text.data(), static_cast<int>(text.size()), host().type_byte, 0, communicator_);
    return text;
  }
  topo::Levels levels(const std::vector<CoreMask>& masks) const {
    return topo::read_levels(
        of_first(rank_ == 0 ? levels_of(masks, options().topology).contents() : std::string()));
  }

  // All shares, each of items with a number that no other's have, this rank's first. At most so
  // many items in all.
  template <class Item, class Number>
  std::vector<Item> gather_shares(std::vector<Item> items, size_t most, Number number_of) const {
    const Host& mpi = host();
    items.reserve(most);
    for (const group::GatheringRound& round : group::gathering_rounds(rank_, ranks_)) {
      size_t sent = 0;
      for (int32_t shares = 0; sent < items.size(); ++sent) {
        if (sent == 0 || number_of(items[sent]) != number_of(items[sent - 1])) ++shares;
        if (shares > round.shares) break;
      }
      const size_t held = items.size();
      items.resize(most);  // how many come is known when they have
      MPI_Request request{};
      MPI_Status status{};
      int bytes = 0;
      mpi.Irecv(items.data() + held, bytes_of<Item>(most - held), mpi.type_byte, round.from, 0,
                communicator_, &request);
      mpi.Send(items.data(), bytes_of<Item>(sent), mpi.type_byte, round.to, 0, communicator_);
      mpi.Wait(&request, &status);
      mpi.Get_count(&status, mpi.type_byte, &bytes);
      items.resize(held + static_cast<size_t>(bytes) / sizeof(Item));
    }
    return items;
  }

 private:
  explicit Neighbours(MPI_Comm made) : communicator_(made) {
    if (made == host().comm_null) return;
    host().Comm_size(communicator_, &ranks_);
    host().Comm_rank(communicator_, &rank_);
  }

  template <class Item>
  static int bytes_of(size_t items) {
    return static_cast<int>(items * sizeof(Item));
  }

  MPI_Comm communicator_;
  int rank_ = 0, ranks_ = 0;
};

// What all ranks tell of themselves. Collective over all of them.
group::Placement exchanged(const Neighbours& node, const group::Place& own, int world_ranks) {
  std::vector<group::Place> here = node.gather(own);
  const bool first = node.rank() == 0;
  const Neighbours firsts = Neighbours::by(first ? 0 : MPI_UNDEFINED);
  if (!first) return group::Placement::read(node.of_first(std::string()));
  const auto node_of = [](const group::Place& place) { return place.node; };
  const group::Placement all(
      firsts.gather_shares(std::move(here), static_cast<size_t>(world_ranks), node_of));
  node.of_first(all.text());
  return all;
}

// Whether ranks outnumber cores among those whose nodes are one machine: containers have names,
// memory and processes of their own, but the same cores. `node`: the number of this process's node.
// Collective over all ranks.
bool oversubscribed_on_machine(int32_t node) {
  struct Resident {
    uint64_t kernel;
    CoreMask cores;
  };
  if (simulated) return false;
  const uint64_t kernel = kernel_identity();
  // Numbers of several kernels may meet in 30 bits; a node's own number serves where a kernel has
  // none.
  constexpr int kernels = 1 << 30;
  const int number = kernel != 0 ? static_cast<int>(kernel % kernels) : kernels + node % kernels;
  std::vector<CoreMask> masks;
  for (const Resident& resident : Neighbours::by(number).gather(Resident{kernel, usable_cores()}))
    if (resident.kernel == kernel) masks.push_back(resident.cores);
  return oversubscribed(masks);
}

// A rank's groups on its node, by the floors that a machine may have; of two caches the inner one
// is the second.
std::array<int32_t, topo::floor_names.size()> groups_of(const topo::Levels& levels, int rank) {
  std::array<int32_t, topo::floor_names.size()> groups{};
  size_t next = 0;
  for (const topo::Floor& floor : levels.floors()) {
    while (next < groups.size() && !topo::floor_names[next].starts_with(floor.name)) ++next;
    if (next == groups.size()) break;
    groups[next++] = floor.group_of[static_cast<size_t>(rank)];
  }
  return groups;
}

struct ClustersFile {
  uint64_t fingerprint = 0;
  int32_t own = 0;
};

// Kept to the end, as other files that options name.
const ClustersFile& clusters_file() {
  static const ClustersFile& read = *new ClustersFile([] {
    const std::string& file = options().clusters;
    const std::string text =
        select::read_file(file, "give TUTTI_CLUSTERS the name of a file (docs/clusters.md)");
    return ClustersFile{select::hashed(select::hash_of_nothing, text),
                        topo::Clusters::read(text, file).of(host_name())};
  }());
  return read;
}

}  // namespace

int32_t own_cluster() { return options().clusters.empty() ? 0 : clusters_file().own; }
uint64_t clusters_fingerprint() { return clusters_file().fingerprint; }

std::shared_ptr<const Places> Places::gather(Team* team) {
  const Host& mpi = host();
  int world_rank = 0, world_ranks = 0;
  mpi.Comm_rank(mpi.comm_world, &world_rank);
  mpi.Comm_size(mpi.comm_world, &world_ranks);
  const bool uses_memory = options().reach != ReachChoice::net;
  // All ranks of a team of all know it, and so do all others.
  if (world_ranks < 2 || (uses_memory && team != nullptr && team->ranks() == world_ranks))
    return nullptr;
  const Neighbours node = Neighbours::on_node();
  const auto made = std::make_shared<Places>();
  group::Place own;
  own.rank = world_rank;
  own.node = node.of_first(world_rank);
  made->oversubscribed_here_ = oversubscribed_on_machine(own.node);
  if (team != nullptr && made->oversubscribed_here_) team->know_oversubscribed();
  if (made->oversubscribed_here_ && world_rank == 0)
    log_line(LogLevel::info,
             "ranks outnumber the cores of their machine, on this node or with other nodes of it: "
             "waits yield");
  own.memory = uses_memory && team != nullptr ? own.node : world_rank;
  own.cluster = node.of_first(own_cluster());
  own.oversubscribed = made->oversubscribed_here_ ? 1 : 0;
  own.floors = groups_of(node.levels(node.gather(usable_cores())), node.rank());
  made->of_world_ = exchanged(node, own, world_ranks);
  return made;
}

}  // namespace tutti::mpi
