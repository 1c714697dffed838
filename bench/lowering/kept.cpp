#include "kept.h"

#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <new>
#include <numeric>

#include "exec/net.h"
#include "group/group.h"
#include "placement/world.h"
#include "memory.h"

namespace tutti::bench {
namespace {

constexpr size_t bytes_of_call = 1024;

// A network that carries no message, because programs are made but not run. Like the real one, it
// keeps the nodes of its peers.
class Unused final : public exec::Net {
 public:
  explicit Unused(const std::vector<int32_t>& machine_nodes) : machine_nodes_(machine_nodes) {}
  void reserve(size_t count) override { requests_.resize(std::max(requests_.size(), count)); }
  bool receive(size_t, void*, size_t, int, uint64_t) override { return false; }
  bool send(size_t, const void*, size_t, int, uint64_t) override { return false; }
  State test(size_t) override { return State::failed; }
  std::string failure() const override { return "nothing is carried"; }

 private:
  struct Request {
    std::vector<void*> pieces;
    size_t done;
    int peer;
    bool sends;
  };
  const placement::PeriodicRow machine_nodes_;
  std::vector<Request> requests_;
};

// Zeroed memory that is not counted, because it is shared memory in a real job.
struct Areas {
  explicit Areas(size_t size)
      : bytes(size),
        memory(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (memory == MAP_FAILED) throw std::bad_alloc();
  }
  ~Areas() { munmap(memory, bytes); }
  Areas(const Areas&) = delete;
  const size_t bytes;
  void* const memory;
};

std::vector<placement::RankLocation> locations_of(int nodes, int cores, Dealing dealing) {
  std::vector<placement::RankLocation> locations;
  for (int rank = 0; rank < nodes * cores; ++rank) {
    const bool blocks = dealing == Dealing::blocks;
    placement::RankLocation location;
    location.rank = rank;
    location.node = location.memory = blocks ? rank / cores * cores : rank % nodes;
    const int core = blocks ? rank % cores : rank / nodes;
    if (cores > 2 && cores % 2 == 0) location.groups[1] = core / (cores / 2);
    locations.push_back(location);
  }
  return locations;
}

}  // namespace

std::string_view name(Dealing dealing) { return dealing == Dealing::blocks ? "blocks" : "cyclic"; }

Kept kept(int nodes, int cores, Dealing dealing, const std::vector<plan::Collective>& collectives) {
  const int ranks = nodes * cores;
  Kept kept;
  begin_most();
  const size_t before = held_bytes();
  const auto world =
      std::make_unique<const placement::WorldPlacement>(locations_of(nodes, cores, dealing));
  kept.world = held_bytes() - before;

  const shm::Layout layout = shm::Layout::fit(cores, shm::modest_area);
  const Areas areas(layout.bytes());
  std::unique_ptr<Unused> net;
  std::unique_ptr<group::Group> group;
  {
    std::vector<int> members(static_cast<size_t>(ranks));
    std::iota(members.begin(), members.end(), 0);
    net = std::make_unique<Unused>(world->machine_nodes(members));
    group::Group::Settings settings;
    settings.areas = static_cast<std::byte*>(areas.memory);
    settings.layout = layout;
    settings.rank = dealing == Dealing::blocks ? nodes / 2 * cores : nodes / 2;
    settings.ranks = ranks;
    settings.nodes = world->nodes(members);
    settings.levels = world->levels(members);
    settings.net = net.get();
    group = std::make_unique<group::Group>(settings);
  }
  kept.communicator = held_bytes() - before - kept.world;
  for (const plan::Collective collective : collectives)
    group->algorithm(collective, bytes_of_call, 0);
  kept.programs = held_bytes() - before - kept.world - kept.communicator;
  kept.most = most_more_bytes();
  return kept;
}

}  // namespace tutti::bench
