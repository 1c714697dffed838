// The set-up of a communicator whose ranks are all members of one team.
//
// Rank 0 takes memory for it, or a parked service, and tells the others: by a collective call, or
// by an announcement in the team's memory (team/announcements.h), which the others find under a key
// of the communicator's lineage. With an announcement no message is sent, and only ranks that come
// before rank 0 wait. So set-up costs little enough to be made in the first call
// (docs/decisions/set-up-after-some-collectives.md). The object lives during set-up; what it has
// taken and not handed over is given back at its end.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "group/group.h"
#include "mpi/communicators/service.h"
#include "mpi/host/host.h"
#include "mpi/job/team.h"
#include "records/directory.h"
#include "report/reason.h"
#include "team/announcements.h"

namespace tutti::mpi {

using report::Reason;

class OneNode {
 public:
  // A communicator as its set-up finds it.
  struct Ranks {
    Comm handle;
    int rank = 0, ranks = 0;
    std::shared_ptr<Team> team;
    // The ranks as ranks of the team; if there are none, the service will not be parked.
    std::vector<int> members;
    std::optional<uint32_t> traced_as;  // its number in traces, if it has one already
  };
  explicit OneNode(Ranks of) : of_(std::move(of)) {}

  // Tells all ranks rank 0's grant, by a collective call. Returns false at all ranks if the host
  // fails.
  bool tell(AreaGrant* grant);
  // For rank 0: announces its grant under the key. The grant is postponed if the host refuses
  // rank 0's call, or if little memory is left.
  team::Announcements::Announced announce(const records::Key& key, bool refused);
  // For the others: waits for the announcement. It has no entry if rank 0 has ended before.
  team::Announcements::Announced await_rank_0(const records::Key& key);

  // Makes the service in the memory of the grant, which all ranks have; none: it is made.
  // `closed`: the announcement's word, by which ranks tell that they have touched their areas;
  // null: they tell by the host. May throw.
  Reason use(const AreaGrant& grant, shm::Word* closed);
  // The service that use has made.
  std::unique_ptr<Service> take_service() { return std::move(service_); }
  uint32_t traced_as() const { return of_.traced_as.value_or(0); }

 private:
  AreaGrant grant();
  void forgo(const AreaGrant& grant);
  bool take_over(const AreaGrant& grant);
  bool all_have_touched(shm::Word* closed) const;
  Code await(const std::vector<int>& awaited, const std::function<bool()>& is_here) const;

  Ranks of_;
  std::unique_ptr<Service> service_;
};

// Sets what is the same for all groups and lanes of this process. `of_world`: all ranks are of
// MPI_COMM_WORLD.
void complete(group::Group::Settings& settings, bool of_world);

// For the end of MPI: waits until nobody needs an announcement of this process, because all have
// read it, or because all processes of the team have ended or are in this function.
void settle_announcements();

}  // namespace tutti::mpi
