// Journeys: how a call travels on a communicator, found without running it. For `tutti explain`.
//
// A Traveller finds the journeys of a communicator's calls from facts that all its ranks share. It
// calls the same functions as a group and its channel (room.h, plan/geometry.h), so it reports what
// a group would run for elements of at most 64 bytes. It is a value; one thread at a time may use
// it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algo/by_host.h"
#include "plan/geometry.h"
#include "plan/lower.h"
#include "placement/nodes.h"
#include "select/call.h"
#include "select/library.h"

namespace tutti::group {

// One program of a call. A call has one leg. If the nodes' leaders use the host MPI's own
// collective, it has a leg before that collective and a leg after it, without those that do
// nothing.
struct Leg {
  std::optional<algo::Phase> phase;              // nothing: the program is the whole call
  std::shared_ptr<const plan::Program> program;  // rank 0's
  plan::Travel travel;
};

// The algorithm and the programs that run for one call.
struct Journey {
  // The algorithm that runs; not the requested one if that needs more shared memory than there is.
  std::string algorithm;
  bool by_host = false;   // the nodes' leaders use the host MPI's own collective
  std::vector<Leg> legs;  // in the order in which they run; none if only the host's collective does
};

class Traveller {
 public:
  struct Communicator {
    placement::Nodes nodes;     // the nodes of the ranks, which share memory within each
    plan::Resources resources;  // the resources of its ranks
    bool fixed_order = false;   // nothing is combined in the order of arrival
  };
  // `call` has the facts that rules use; the levels to which it points outlive this object.
  Traveller(const select::Call& call, const Communicator& communicator);

  // The parameters that selection chooses besides the algorithm, and the bytes of an element (1 if
  // nothing is combined).
  struct Wanted {
    size_t segment_bytes = 0;
    ReachChoice reach = ReachChoice::automatic;
    size_t element = 1;
    bool by_default_table = false;  // the algorithm was chosen by the compiled table
  };
  Journey built_in(std::string_view algorithm, const Wanted& wanted) const;
  // Nothing if the plan needs more shared memory than there is.
  std::optional<Journey> by_plan(const select::LoadedPlan& plan, const Wanted& wanted) const;

 private:
  std::shared_ptr<const plan::Program> program_of(std::string_view algorithm,
                                                  const select::LoadedPlan* plan,
                                                  plan::Carrier carrier,
                                                  std::optional<algo::Phase> phase) const;
  std::vector<Leg> legs_of(std::string_view algorithm, plan::Carrier carrier) const;
  bool fits(const std::vector<Leg>& legs, size_t element) const;
  bool pipelines(std::string_view algorithm, const Wanted& wanted) const;
  bool goes_by_host(std::string_view algorithm) const;
  void travel(std::vector<Leg>& legs, const Wanted& wanted) const;

  select::Call call_;
  Communicator communicator_;
};

}  // namespace tutti::group
