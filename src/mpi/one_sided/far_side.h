// The side of a process that faces other nodes: the endpoints of its servers (endpoints.h), and the
// queues by which its groups hand transfers to servers that have some (rma/handing.h). A part of
// the process's Node, whose lock guards all but leave().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "mpi/one_sided/endpoints.h"
#include "mpi/one_sided/free_places.h"
#include "report/tally.h"
#include "rma/domain.h"
#include "rma/handing.h"
#include "rma/policy.h"

namespace tutti::mpi {

class FarSide {
 public:
  explicit FarSide(int members) : members_(members) {}

  // So many groups of each process may hand transfers over at once. Each thread of a program may
  // have a group, so there are more of them where processes are few.
  static int most_groups(int members);
  // The groups get places from now on.
  void open() { free_.add(most_groups(members_)); }
  // Null: the servers of this process have no endpoints. Once.
  void face(std::unique_ptr<Endpoints> endpoints) { endpoints_ = std::move(endpoints); }

  // The endpoints of this process's servers, in the order of their numbers.
  std::vector<rma::Endpoint*> endpoints() const;
  void hand_over_idle_ones();

  // The way by which a group hands transfers over; null if there is none for it. *place is then its
  // place, for leave_handing(). `first_client`: the process's first place for such groups in the
  // domain, which has further ones `members` apart.
  std::unique_ptr<rma::Handing> handing(const rma::Domain& domain, int first_client,
                                        const rma::ServerRange& servers, int* place);
  void leave_handing(int place) { free_.give(place); }

  // Adds the transfers that others have asked of the endpoints, and tells the report the
  // interfaces.
  void record(report::TransfersBetweenNodes& far) const;
  // Returns when all ranks have ended their transfers.
  void leave();
  void end() { endpoints_.reset(); }

 private:
  const int members_;
  std::unique_ptr<Endpoints> endpoints_;
  FreePlaces free_;
  std::optional<rma::Policy> policy_;  // follows from a map; none: groups learn
};

}  // namespace tutti::mpi
