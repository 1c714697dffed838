// Groups of MPI processes for one-sided transfers (tutti/mpi.h). A preloaded interposer has these
// functions in the place of libtutti.so's.
#include <dlfcn.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/options.h"
#include "mpi/host/host.h"
#include "mpi/host/inside.h"
#include "mpi/host/ranks.h"
#include "mpi/communicators/registry.h"
#include "mpi/one_sided/at_all.h"
#include "mpi/one_sided/between_nodes.h"
#include "mpi/one_sided/group.h"
#include "mpi/one_sided/node.h"
#include "api/guard.h"
#include "api/team.h"
#include "tutti/tutti.h"

namespace tutti::mpi {
namespace {

// The places that a group has on its node, and its transfers with other nodes.
struct Placed {
  std::shared_ptr<Node> node;
  int place = -1;      // the place of its client
  int far_place = -1;  // the same for transfers with other nodes
  std::shared_ptr<BetweenNodes> between_nodes{};

  explicit Placed(std::shared_ptr<Node> its_node) : node(std::move(its_node)) {}
  Placed(const Placed&) = delete;
  ~Placed() {
    if (between_nodes != nullptr) between_nodes->leave();
    node->give_back(place, far_place);
  }
};
struct ProcessGroup final : Placed, tutti_group {
  // `members`: by rank, its number in the node's team; -1: it is on another node.
  ProcessGroup(std::shared_ptr<Node> its_node, Comm communicator, const std::vector<int>& members,
               int its_rank)
      : Placed(std::move(its_node)),
        tutti_group(its_rank, static_cast<int>(members.size()),
                    node->processes(members, its_rank, &place)),
        spans_nodes(finds_other_nodes(communicator)) {
    if (spans_nodes) world_placement(communicator, ranks, &in_world);
    node->enter(one_sided);
  }
  ~ProcessGroup() override { node->leave(one_sided); }
  // Collective; if the group spans nodes.
  void reach_other_nodes(Comm communicator, const std::vector<int>& members) {
    if (ranks == ranks_in(host().comm_world))
      node->make_endpoints(communicator, members, in_world, rank);
    const auto find_settings = [&] {
      return BetweenNodes::Settings{.most = one_sided.most_outstanding(),
                                    .style = node->wait_style(),
                                    .told = node->servers_told(),
                                    .handing = node->handing(&far_place),
                                    .in_world = std::move(in_world)};
    };
    between_nodes = BetweenNodes::make(communicator, std::cref(find_settings));
    one_sided.reach_far(*between_nodes);
  }

  // True at all ranks or at none: each rank reaches those of one team. Ranks that were spawned are
  // not reached, because messages with them would keep the jobs connected.
  const bool spans_nodes;
  std::vector<int> in_world;  // the group's ranks as ranks of MPI_COMM_WORLD

 private:
  bool finds_other_nodes(Comm communicator) const {
    if (simulated || !mpi::in_world(communicator, ranks)) return false;
    for (int other = 0; other < ranks; ++other)
      if (one_sided.peer(other).elsewhere) return true;
    return false;
  }
};

tutti_status make_users_group(Comm communicator, tutti_group** group) {
  const Host& mpi = host();
  const Inside inside;
  int ranks = 0, rank = 0, inter = 0;
  api::require(group != nullptr, "group is null; pass the address of a tutti_group*");
  api::require(communicator != mpi.comm_null, "the communicator is host().comm_null");
  if (!registry_is_open() || !may_set_up() || options().disable)
    throw Error(
        Code::unavailable,
        "Tutti is off: MPI does not run (groups exist between MPI_Init and MPI_Finalize), or "
        "TUTTI_DISABLE is set");
  if (mpi.Comm_test_inter(communicator, &inter) != success || inter != 0 ||
      mpi.Comm_size(communicator, &ranks) != success ||
      mpi.Comm_rank(communicator, &rank) != success)
    throw Error(Code::invalid_argument, "the communicator is no intracommunicator");
  *group = make_group(communicator, ranks, rank).release();
  return TUTTI_OK;
}

// If this library is not for the program's MPI, another one after it is.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

std::unique_ptr<tutti_group> make_group(Comm communicator, int ranks, int rank) {
  std::unique_ptr<ProcessGroup> made;
  std::vector<int> members;
  at_all(communicator, [&] {
    const std::shared_ptr<Node> node = this_node(true);
    const std::shared_ptr<Team> team = world_team();
    members = team == nullptr ? std::vector<int>(static_cast<size_t>(ranks), -1)
                              : team->members_among(communicator, ranks);
    made = std::make_unique<ProcessGroup>(node, communicator, members, rank);
  });
  if (made->spans_nodes) made->reach_other_nodes(communicator, members);
  at_all(communicator, [&] { made->node->start_asked_servers(); });
  // The servers of all ranks run now.
  at_all(communicator, [&] { made->node->let_servers_copy(); });
  return made;
}

}  // namespace tutti::mpi

extern "C" {

tutti_status tutti_group_of_communicator(uint64_t communicator, tutti_group** group) {
  using namespace tutti::mpi;
  if (host().foreign) {
    auto* const other = next<decltype(tutti_group_of_communicator)>("tutti_group_of_communicator");
    if (other != nullptr) {
      const tutti_status status = other(communicator, group);
      auto* const message = next<decltype(tutti_error_message)>("tutti_error_message");
      if (status != TUTTI_OK && message != nullptr) tutti::api::last_error = message();
      return status;
    }
  }
  return tutti::api::guarded([&] { return make_users_group(comm_of(communicator), group); });
}

tutti_team* tutti_node_team(void) {
  using namespace tutti::mpi;
  if (tutti::shm::observe(found_host) == 0) return nullptr;  // MPI was not called yet
  if (host().foreign) {
    auto* const other = next<decltype(tutti_node_team)>("tutti_node_team");
    if (other != nullptr) return other();
  }
  return this_node(false).get();
}

}  // extern "C"
