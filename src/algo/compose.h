// Composing: plans over some of the ranks become parts of one plan over all ranks.
//
// A part is a plan as a generator writes it, over its own ranks 0 .. m - 1. The composer writes its
// transfers into the whole plan, between the ranks that stand for the part's ranks. A part moves
// items (collective.h: a block of a vector, or a rank's part). In the whole plan an item is a list
// of blocks: a piece of the vector, or the parts of all ranks of a node. Items may differ in
// length, and an item of no blocks is not moved. The caller says where the items of the part's `in`
// and `out` are. The blocks of the part's `tmp` become blocks of the whole plan's `tmp` that no
// other part uses.
//
// A transfer whose blocks are not one region in the whole plan becomes several, as few as possible.
// Between nodes each would be a message, so there (`one_message`) a list of several regions is
// packed before it is sent and unpacked after it is received.
//
// Source: MPICH2, section 3 (the parts of a hierarchical collective are collectives that do not
// know of it). A Composer belongs to the function that writes one plan; it is used by one thread,
// and the plan that it refers to outlives it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algo/regions.h"
#include "plan/plan.h"

namespace tutti::algo {

// One part and its place in the whole plan. `part` and `ranks` must live until embed() returns.
struct Embedding {
  const plan::Plan& part;
  std::span<const int32_t> ranks;  // maps a rank of the part to its rank of the whole plan
  // If an item of `out` is in `tmp`, it may be written there before the part writes its `out`.
  Locate in, out;
  // The memory of `in` is not written while the part runs, so that a copy from `in` to the part's
  // own `tmp` is left out and `in` is read instead. For items that are in `tmp` this always holds.
  bool in_stays = false;
  // The part's ranks are on different nodes: data that one reads from another is sent in one
  // message, and only once.
  bool one_message = false;
};

class Composer {
 public:
  explicit Composer(plan::Plan& whole)
      : whole_(whole), next_(static_cast<size_t>(whole.ranks), 0) {}

  // Takes the next unused blocks of the rank's `tmp`.
  plan::Region scratch(int32_t rank, int32_t count);
  void copy(const Regions& dst, const Regions& src);
  void embed(const Embedding& embedding);

  // Writes a transfer of the kind of `like` between lists of equally many blocks: as few transfers
  // as possible, none if nothing moves.
  void add(const plan::Transfer& like, const Regions& dst, std::vector<Regions>& src);
  // The same, but every source on another rank is packed into one region.
  void add_in_one_message(const plan::Transfer& like, const Regions& dst,
                          std::vector<Regions>& src);

 private:
  plan::Plan& whole_;
  std::vector<int32_t> next_;  // indexed by rank: the first unused block of its `tmp`
};

}  // namespace tutti::algo
