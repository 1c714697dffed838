#include "mpi/job/team.h"

#include <algorithm>
#include <numeric>

#include "mpi/host/polled.h"
#include "mpi/host/types.h"
#include "mpi/job/drive_host.h"
#include "mpi/job/found_table.h"
#include "mpi/progress/host_waits.h"
#include "base/options.h"
#include "group/system_copies.h"

namespace tutti::mpi {
namespace {

bool progress(void* pending) {
  return drive_host([&] { static_cast<const PendingReceive*>(pending)->ask(); });
}

// The ranks of a communicator.
class Ranks final : public team::Bootstrap {
 public:
  explicit Ranks(Comm communicator) : communicator_(communicator) {
    host().Comm_rank(communicator, &rank_);
    host().Comm_size(communicator, &ranks_);
  }
  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }
  void broadcast(void* data, size_t bytes) override { mpi::broadcast(data, bytes, communicator_); }
  bool all(bool own) override {
    uint64_t least = 0;
    tell_least(own ? 1 : 0, &least, communicator_);
    return least == 1;
  }

 private:
  const Comm communicator_;
  int rank_ = 0, ranks_ = 0;
};

}  // namespace

std::vector<int> places_in(Comm communicator, int ranks, Group group) {
  const PrivateGroup own = PrivateGroup::of(communicator);
  if (!own) return {};
  static TUTTI_PER_THREAD std::vector<int> from;  // 0, 1, 2, ...
  while (from.size() < static_cast<size_t>(ranks)) from.push_back(static_cast<int>(from.size()));
  std::vector<int> to(static_cast<size_t>(ranks), abi.undefined);
  host().Group_translate_ranks(own.get(), ranks, from.data(), group, to.data());
  if (std::find(to.begin(), to.end(), abi.undefined) != to.end()) to.clear();
  return to;
}

bool all_within(Comm communicator, int ranks, Group group) {
  return !places_in(communicator, ranks, group).empty();
}

void rebase(PrivateGroup& group, Group from) {
  const Host& mpi = host();
  const int size = group.size();
  std::vector<int> old(static_cast<size_t>(size)), place(static_cast<size_t>(size), abi.undefined);
  std::iota(old.begin(), old.end(), 0);
  mpi.Group_translate_ranks(group.get(), size, old.data(), from, place.data());
  std::erase(place, abi.undefined);
  Group replacement;
  mpi.Group_incl(from, static_cast<int>(place.size()), place.data(), &replacement);
  group = PrivateGroup(replacement);
}

// A report names the ranks as they are in `communicator`.
Team::Team(Comm communicator, bool of_world)
    : NodeTeam({.hook = {progress, &pending_},
                .missing_types = missing_types(),
                .reported_as = Ranks(communicator).rank(),
                .system_copies =
                    [of_world] { return group::system_copies_asked(overrides_of_job(of_world)); },
                .needs_shape = !options().plans.empty() || table_of_job(of_world) != nullptr}),
      of_world_(of_world) {}

bool Team::share(Comm members, PrivateCommunicator own, std::string* why_not) {
  pending_ = PendingReceive(std::move(own));
  Ranks ranks(members);
  if (!form(ranks, why_not)) return false;
  // The world's team follows the gathered placement (entry/life.cpp).
  if (!of_world_ && wait_style() == exec::WaitStyle::yield) rest_in_host_waits(wait_style());
  group_ = PrivateGroup::of(members);
  return true;
}

std::unique_ptr<Team> Team::form_of_all(Comm communicator, int ranks, bool of_several_jobs,
                                        std::string* why_not) {
  PrivateCommunicator node = PrivateCommunicator::split_by_node(communicator, 0);
  const Comm members = node.get();
  if (Ranks(members).ranks() != ranks) return nullptr;
  std::unique_ptr<Team> team(new Team(communicator, false));
  team->of_several_jobs_ = of_several_jobs;
  return team->share(members, std::move(node), why_not) ? std::move(team) : nullptr;
}

// MPI_Comm_split_type polls without rest for long, so it is called only if the launcher tells of
// several nodes, or if the ranks that it says are on one node do not share memory.
std::unique_ptr<Team> Team::form_of_world(bool one_node, std::string* why_not) {
  const Comm world = host().comm_world;
  std::unique_ptr<Team> team(new Team(world, true));
  const auto is_shared = [&](Comm members, PrivateCommunicator own) {
    if (Ranks(members).ranks() > 1) return team->share(members, std::move(own), why_not);
    *why_not = "one rank on its node";
    return false;
  };
  if (one_node && is_shared(world, PrivateCommunicator::copy_of_self())) return team;
  PrivateCommunicator node = PrivateCommunicator::split_by_node(world, 0);
  const Comm members = node.get();
  return is_shared(members, std::move(node)) ? std::move(team) : nullptr;
}

Team::~Team() {
  if (!may_free_handles()) group_.abandon();
}

void Team::leave_world(Group processes) {
  rebase(group_, processes);
  pending_.reset();
}

placement::Levels Team::levels(Comm communicator, int ranks) const {
  if (NodeTeam::levels().one_level()) return NodeTeam::levels();
  const std::vector<int> members = places_in(communicator, ranks, group_.get());
  return members.empty() ? placement::Levels() : NodeTeam::levels().of(members);
}

exec::Reach Team::reach(Comm communicator, int ranks) const {
  return memory().reach(places_in(communicator, ranks, group_.get()));
}

std::vector<int> Team::members(Comm communicator, int ranks) const {
  return ranks <= NodeTeam::ranks() ? places_in(communicator, ranks, group_.get())
                                    : std::vector<int>();
}

std::vector<int> Team::members_among(Group group, int ranks) const {
  std::vector<int> from(static_cast<size_t>(ranks)), to(static_cast<size_t>(ranks), abi.undefined);
  std::iota(from.begin(), from.end(), 0);
  host().Group_translate_ranks(group, ranks, from.data(), group_.get(), to.data());
  std::replace(to.begin(), to.end(), int{abi.undefined}, -1);
  return to;
}

std::vector<int> Team::members_among(Comm communicator, int ranks) const {
  const PrivateGroup group = PrivateGroup::of(communicator);
  if (!group) return std::vector<int>(static_cast<size_t>(ranks), -1);
  return members_among(group.get(), ranks);
}

bool Team::covers(Comm communicator, int ranks) const {
  return !members(communicator, ranks).empty();
}

}  // namespace tutti::mpi
