// Finds an algorithm and a carrier for which a group has enough shared memory, if the chosen ones
// need more. A group calls find_room when it makes an entry, and journey.h calls it for `tutti
// explain`. Pure, so all ranks find the same; any thread.
#pragma once

#include <string_view>

#include "plan/collective.h"
#include "plan/lower.h"

namespace tutti::group {

// An algorithm and how its data goes from rank to rank.
struct Served {
  std::string_view algorithm;
  plan::Carrier carrier = plan::Carrier::slot;
};

// Returns `wanted` if it fits, else the first alternative that fits, else the last alternative.
// `fits(served, element)` returns whether the group's memory has room for the programs of the
// algorithm with that carrier. Not for users' plans, which are refused if they do not fit.
template <class Fits>
Served find_room(plan::Collective collective, Served wanted, size_t element, Fits fits) {
  using plan::Carrier;
  // The parts of many ranks may need more lines than there are.
  if (wanted.carrier == Carrier::line && plan::parted(collective) && !fits(wanted, 1))
    wanted.carrier = Carrier::slot;
  if (fits(wanted, element)) return wanted;
  // On one node one of these always fits: flat, or direct with the parts of as many ranks at a time
  // as the slots can hold.
  if (!plan::parted(collective)) return {"flat", wanted.carrier};
  for (const char* algorithm : {"direct:16", "direct:8", "direct:4"})
    if (const Served served{algorithm, wanted.carrier}; fits(served, element)) return served;
  return {"direct:2", wanted.carrier};
}

}  // namespace tutti::group
