// Finds an algorithm and a carrier for which a group has enough shared memory, if the chosen ones
// need more. A group calls find_room when it makes an entry, and journey.h calls it for `tutti
// explain`. The result depends only on the arguments and on what `fits` returns, so all ranks find
// the same. A group's `fits` makes programs, so one thread at a time calls it for one group.
#pragma once

#include <string_view>

#include "plan/collective.h"
#include "plan/lower.h"

namespace tutti::group {

// A candidate for serving a call: an algorithm, and the carrier that moves its data from rank to
// rank.
struct Candidate {
  std::string_view algorithm;
  plan::Carrier carrier = plan::Carrier::slot;
};

// Returns `wanted` if it fits, else the first alternative that fits, else the last alternative.
// `fits(candidate, element)` returns whether the group's memory has room for the programs of the
// algorithm with that carrier. Not for users' plans, which are refused if they do not fit.
template <class Fits>
Candidate find_room(plan::Collective collective, Candidate wanted, size_t element, Fits fits) {
  using plan::Carrier;
  // Beside the lines of its parts, which program_for counts, a plan with tokens needs some for
  // them.
  if (wanted.carrier == Carrier::line && plan::parted(collective) && !fits(wanted, 1))
    wanted.carrier = Carrier::slot;
  if (fits(wanted, element)) return wanted;
  // On one node one of these always fits: flat, or direct with the parts of as many ranks at a time
  // as the slots can hold.
  if (!plan::parted(collective)) return {"flat", wanted.carrier};
  for (const char* algorithm : {"direct:16", "direct:8", "direct:4"})
    if (const Candidate candidate{algorithm, wanted.carrier}; fits(candidate, element))
      return candidate;
  return {"direct:2", wanted.carrier};
}

}  // namespace tutti::group
