// The algorithm and the carrier that serve if the chosen ones need more shared memory than a group
// has. Pure; the same at all ranks. A group asks when it makes an entry, and journey.h asks for
// `tutti explain`.
#pragma once

#include <string_view>

#include "plan/collective.h"
#include "plan/lower.h"

namespace tutti::group {

struct Served {
  std::string_view algorithm;
  plan::Carrier carrier = plan::Carrier::slot;
};

// `fits(served, element)` tells whether the programs of an algorithm by a carrier have room; the
// last answer of this function may have none. Not for users' plans, which are refused instead.
template <class Fits>
Served find_room(plan::Collective collective, Served wanted, size_t element, Fits fits) {
  using plan::Carrier;
  // Many ranks' parts may be more lines than there are.
  if (wanted.carrier == Carrier::line && plan::parted(collective) && !fits(wanted, 1))
    wanted.carrier = Carrier::slot;
  if (fits(wanted, element)) return wanted;
  // These always fit on one node: flat, or the parts of as many ranks at a time as the slots can
  // hold.
  if (!plan::parted(collective)) return {"flat", wanted.carrier};
  for (const char* algorithm : {"direct:16", "direct:8", "direct:4"})
    if (const Served served{algorithm, wanted.carrier}; fits(served, element)) return served;
  return {"direct:2", wanted.carrier};
}

}  // namespace tutti::group
