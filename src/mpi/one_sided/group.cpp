// Groups of MPI processes for one-sided transfers (tutti/mpi.h). A preloaded interposer has these
// functions in the place of libtutti.so's.
#include <dlfcn.h>

#include <exception>
#include <memory>
#include <string>

#include "base/options.h"
#include "exec/waiter.h"
#include "mpi/host/host.h"
#include "mpi/host/inside.h"
#include "mpi/communicators/registry.h"
#include "mpi/job/drive_host.h"
#include "mpi/one_sided/between_nodes.h"
#include "mpi/one_sided/node.h"
#include "api/guard.h"
#include "api/team.h"
#include "tutti/tutti.h"

namespace tutti::mpi {
namespace {

struct Placed {
  std::shared_ptr<Node> node;
  int place = -1;      // the place of its client
  int far_place = -1;  // the same for transfers with other nodes
  std::shared_ptr<BetweenNodes> between_nodes{};
};
struct ProcessGroup final : Placed, tutti_group {
  ProcessGroup(std::shared_ptr<Node> its_node, const std::vector<int>& members, int its_rank)
      : Placed{std::move(its_node)},
        tutti_group(its_rank, static_cast<int>(members.size()),
                    node->processes(members, its_rank, &place)) {
    node->enter(one_sided);
  }
  ~ProcessGroup() override {
    node->leave(one_sided, place);
    if (between_nodes != nullptr) between_nodes->leave();
    node->leave_handing(far_place);
  }
  // True at all ranks or at none: each rank reaches those of one team. Ranks that were spawned are
  // not reached, because messages with them would keep the jobs connected.
  bool spans_nodes(Comm communicator) const {
    if (simulated || !in_world(communicator, ranks)) return false;
    for (int other = 0; other < ranks; ++other)
      if (one_sided.peer(other).elsewhere) return true;
    return false;
  }
  void reach_other_nodes(Comm communicator, const std::vector<int>& members) {
    std::vector<int> in_world;
    world_placement(communicator, ranks, &in_world);
    int world = 0;
    if (!in_world.empty()) host().Comm_size(host().comm_world, &world);
    if (ranks == world) node->make_endpoints(communicator, members, in_world, rank);
    std::unique_ptr<rma::Handing> handing = node->handing(&far_place);
    between_nodes = BetweenNodes::make(communicator, {.most = one_sided.most_outstanding(),
                                                      .style = node->wait_style(),
                                                      .told = node->servers_told(),
                                                      .handing = std::move(handing),
                                                      .in_world = std::move(in_world)});
    one_sided.reach_far(*between_nodes);
  }
};

// Collective: true if `own` is true at all ranks of the communicator. Others may wait for this
// rank's part in transfers before they enter, so this wait drives them.
bool all(Comm communicator, bool own) {
  const uint64_t here = own ? 1 : 0;
  uint64_t least = 0;
  Request request{};
  int done = 0;
  int code = host().Iallreduce(&here, &least, 1, host().type_uint64, host().op_min, communicator,
                               &request);
  exec::Waiter waiter(exec::pace_of_messages(exec::WaitStyle::yield));
  waiter.until(
      [&] {
        drive_transfers();
        if (code == success) code = host().Test(&request, &done, abi.status_ignore);
        return code != success || done != 0;
      },
      [] { return Code::ok; });
  return code == success && least == 1;
}

tutti_status make_group(Comm communicator, tutti_group** group) {
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
  std::unique_ptr<ProcessGroup> made;
  std::vector<int> members;
  std::string why = "a rank of the communicator could not make its group";
  try {
    const std::shared_ptr<Node> node = this_node(true);
    const std::shared_ptr<Team> team = world_team();
    members = team == nullptr ? std::vector<int>(static_cast<size_t>(ranks), -1)
                              : team->members_among(communicator, ranks);
    made = std::make_unique<ProcessGroup>(node, members, rank);
  } catch (const std::exception& error) {
    why = error.what();
  }
  if (!all(communicator, made != nullptr)) throw Error(Code::unavailable, why);
  if (made->spans_nodes(communicator)) made->reach_other_nodes(communicator, members);
  made->node->start_asked_servers();
  // No rank returns before all may be reached, and the servers of all ranks run.
  all(communicator, true);
  made->node->let_servers_copy();
  *group = made.release();
  return TUTTI_OK;
}

// If this library is not for the program's MPI, another one after it is.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace
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
  return tutti::api::guarded([&] { return make_group(comm_of(communicator), group); });
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
