#include "mpi/places.h"

#include <sys/utsname.h>

#include <algorithm>
#include <string>

#include "base/log.h"
#include "base/options.h"
#include "mpi/cores.h"
#include "mpi/host.h"
#include "mpi/team.h"
#include "select/contents.h"
#include "topo/clusters.h"

namespace tutti::mpi {
std::string host_name() {
  utsname names{};
  uname(&names);
  return names.nodename;
}

namespace {

// A communicator of ranks that are together somewhere, for as long as they find out what they share.
class Neighbours {
 public:
  static Neighbours on_node() {
    const Host& mpi = host();
    MPI_Comm made{};
    mpi.Comm_split_type(mpi.comm_world, MPI_COMM_TYPE_SHARED, 0, mpi.info_null, &made);
    return Neighbours(made);
  }
  // Of those with one number; collective over all ranks.
  static Neighbours by(int number) {
    MPI_Comm made{};
    host().Comm_split(host().comm_world, number, 0, &made);
    return Neighbours(made);
  }
  ~Neighbours() { host().Comm_free(&communicator_); }
  Neighbours(const Neighbours&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  template <class Item>
  std::vector<Item> gather(const Item& own) const {
    std::vector<Item> all(static_cast<size_t>(ranks_));
    host().Allgather(&own, sizeof own, host().type_byte, all.data(), sizeof own, host().type_byte, communicator_);
    return all;
  }

  // What the node's first rank says.
  int32_t of_first(int32_t value) const {
    host().Bcast(&value, sizeof value, host().type_byte, 0, communicator_);
    return value;
  }
  topo::Levels levels(const std::vector<CoreMask>& masks) const {
    std::string contents;
    if (rank_ == 0) contents = levels_of(masks, options().topology).contents();
    contents.resize(static_cast<size_t>(of_first(static_cast<int32_t>(contents.size()))));
    if (!contents.empty()) host().Bcast(contents.data(), static_cast<int>(contents.size()), host().type_byte, 0, communicator_);
    return topo::read_levels(contents);
  }

 private:
  explicit Neighbours(MPI_Comm made) : communicator_(made) {
    host().Comm_size(communicator_, &ranks_);
    host().Comm_rank(communicator_, &rank_);
  }

  MPI_Comm communicator_;
  int rank_ = 0, ranks_ = 0;
};

// Whether ranks outnumber cores among those whose nodes are one machine: containers have names, memory and processes of their
// own, but the same cores. `node`: the number of this process's node. Collective over all ranks.
bool crowded_on_machine(int32_t node) {
  struct Resident {
    uint64_t kernel;
    CoreMask cores;
  };
  if (simulated) return false;
  const uint64_t kernel = kernel_identity();
  // Numbers of several kernels may meet in 30 bits; a node's own number serves where a kernel has none.
  constexpr int kernels = 1 << 30;
  const int number = kernel != 0 ? static_cast<int>(kernel % kernels) : kernels + node % kernels;
  std::vector<CoreMask> masks;
  for (const Resident& resident : Neighbours::by(number).gather(Resident{kernel, usable_cores()}))
    if (resident.kernel == kernel) masks.push_back(resident.cores);
  return oversubscribed(masks);
}

// A rank's groups on its node, by the floors that a machine may have; of two caches the inner one is the second.
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
    const std::string text = select::read_file(file, "give TUTTI_CLUSTERS the name of a file (docs/clusters.md)");
    return ClustersFile{select::hashed(select::hash_of_nothing, text), topo::Clusters::read(text, file).of(host_name())};
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
  if (world_ranks < 2 || (uses_memory && team != nullptr && team->ranks() == world_ranks)) return nullptr;
  const Neighbours node = Neighbours::on_node();
  const auto made = std::make_shared<Places>();
  Place own;
  own.node = node.of_first(world_rank);
  made->crowded_here_ = crowded_on_machine(own.node);
  if (team != nullptr && made->crowded_here_) team->know_crowded();
  if (made->crowded_here_ && world_rank == 0)
    log_line(LogLevel::info, "ranks outnumber the cores of their machine, on this node or with other nodes of it: waits yield");
  own.memory = uses_memory && team != nullptr ? own.node : world_rank;
  own.cluster = node.of_first(own_cluster());
  own.crowded = made->crowded_here_ ? 1 : 0;
  own.floors = groups_of(node.levels(node.gather(usable_cores())), node.rank());
  made->places_.resize(static_cast<size_t>(world_ranks));
  mpi.Allgather(&own, sizeof own, mpi.type_byte, made->places_.data(), sizeof own, mpi.type_byte, mpi.comm_world);
  return made;
}

plan::Nodes Places::nodes(const std::vector<int>& ranks) const {
  std::vector<int32_t> of;
  for (const int rank : ranks) of.push_back(places_[static_cast<size_t>(rank)].memory);
  return plan::Nodes(std::move(of));
}

std::vector<int32_t> Places::machine_nodes(const std::vector<int>& ranks) const {
  std::vector<int32_t> of;
  for (const int rank : ranks) of.push_back(places_[static_cast<size_t>(rank)].node);
  return of;
}

int32_t Places::machine_node_count(const std::vector<int>& ranks) const { return plan::Nodes(machine_nodes(ranks)).count(); }

topo::Levels Places::levels(const std::vector<int>& ranks) const {
  topo::Floor clusters{"cluster", {}};
  for (const int rank : ranks) clusters.group_of.push_back(places_[static_cast<size_t>(rank)].cluster);
  topo::Floor nodes{"node", machine_nodes(ranks)};
  // A cluster for each node says nothing that nodes do not.
  const bool near = plan::Nodes(clusters.group_of).count() < plan::Nodes(nodes.group_of).count();
  std::vector<topo::Floor> floors;
  if (near) floors.push_back(std::move(clusters));
  floors.push_back(std::move(nodes));
  for (size_t i = 0; i < topo::floor_names.size(); ++i) {
    topo::Floor floor{std::string(topo::floor_names[i].substr(0, topo::floor_names[i].find(' '))), {}};
    for (const int rank : ranks) floor.group_of.push_back(places_[static_cast<size_t>(rank)].floors[i]);
    floors.push_back(std::move(floor));
  }
  return topo::Levels(std::move(floors));
}

bool Places::crowded(const std::vector<int>& ranks) const {
  return std::any_of(ranks.begin(), ranks.end(), [&](int rank) { return places_[static_cast<size_t>(rank)].crowded != 0; });
}

}  // namespace tutti::mpi
