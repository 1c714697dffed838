// Journeys: how a call travels on a communicator, found without running it. For `tutti explain`.
//
// A Traveller knows what all ranks of a communicator share. It asks the functions that a group and
// its channel ask (room.h, plan/geometry.h), so it reports what runs. A value; one thread at a
// time.
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

// One program of a call. A call has one, or two where the nodes' leaders exchange by the host MPI's
// own collective: one before that collective and one after it.
struct Leg {
  std::optional<algo::Phase> phase;              // nothing: the program is the whole call
  std::shared_ptr<const plan::Program> program;  // rank 0's
  plan::Travel travel;
};

struct Journey {
  std::string algorithm;  // that runs; another than was asked for where that one has no room
  bool by_host = false;   // leaders exchange by the host MPI's own collective
  std::vector<Leg> legs;  // in the order of time; none where only the host has something to do
};

class Traveller {
 public:
  struct Communicator {
    placement::Nodes nodes;     // who shares memory
    plan::Resources resources;  // of its ranks
    bool fixed_order = false;   // nothing is combined in the order of arrival
  };
  // `call` is what rules see of the call; its levels outlive this object.
  Traveller(const select::Call& call, const Communicator& communicator);

  // The parameters that selection gives besides the algorithm, and the bytes of an element (1 if
  // nothing is combined).
  struct Wanted {
    size_t segment_bytes = 0;
    ReachChoice reach = ReachChoice::automatic;
    size_t element = 1;
  };
  Journey built_in(std::string_view algorithm, const Wanted& wanted) const;
  // Nothing where the plan needs more shared memory than there is.
  std::optional<Journey> by_plan(const select::LoadedPlan& plan, const Wanted& wanted) const;

 private:
  std::shared_ptr<const plan::Program> program_of(std::string_view algorithm,
                                                  const select::LoadedPlan* plan,
                                                  plan::Carrier carrier,
                                                  std::optional<algo::Phase> phase) const;
  std::vector<Leg> legs_of(std::string_view algorithm, plan::Carrier carrier) const;
  bool fits(const std::vector<Leg>& legs, size_t element) const;
  bool goes_by_host(std::string_view algorithm) const;
  void travel(std::vector<Leg>& legs, const Wanted& wanted) const;

  select::Call call_;
  Communicator communicator_;
};

}  // namespace tutti::group
