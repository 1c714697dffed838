// Composing: plans over some of the ranks as parts of one over all of them.
//
// A part is a plan as a generator writes it, over its own ranks 0 .. m - 1. The composer writes its
// transfers into the whole, between the ranks that the part's stand for. What a part moves are
// items (collective.h: a block of a vector, or somebody's part); in the whole an item is a list of
// blocks: a piece of the vector, or the parts of all ranks of a node. Items need not be of one
// length, and one of no blocks is not moved. Whoever embeds says where items lie in the part's `in`
// and `out`; its `tmp` gets blocks of the whole's that nobody else has, so that parts never share
// one.
//
// A transfer whose blocks are no runs in the whole becomes several, as few as can be. Between nodes
// each would be a message, so there (`one_message`) what is not a run is packed before it goes, and
// unpacked where it comes.
//
// Source: MPICH2, section 3 (the parts of a hierarchical collective are collectives that do not
// know of it). One thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algo/regions.h"
#include "plan/plan.h"

namespace tutti::algo {

struct Embedding {
  const plan::Plan& part;
  std::span<const int32_t> ranks;  // which of the whole's each of the part's ranks is
  // Where `out` lies in `tmp`, results may come there before the part writes them.
  Lies in, out;
  // Nobody writes where `in` lies while the part runs: what it copies from there into its own `tmp`
  // is read where it lies. Of what lies in `tmp` this is so in any case.
  bool in_stays = false;
  // Its ranks are on different nodes: what one takes from another comes in one piece, and once.
  bool one_message = false;
};

class Composer {
 public:
  explicit Composer(plan::Plan& whole)
      : whole_(whole), next_(static_cast<size_t>(whole.ranks), 0) {}

  // Blocks of the rank's `tmp` that nobody has yet.
  plan::Region scratch(int32_t rank, int32_t count);
  void copy(const Regions& dst, const Regions& src);
  void embed(const Embedding& embedding);

  // A transfer between lists of equally many blocks; `like` says what it is. In as few as can be,
  // none where nothing moves.
  void add(const plan::Transfer& like, const Regions& dst, std::vector<Regions>& src);
  // The same with each source on another rank in one piece.
  void add_in_one_message(const plan::Transfer& like, const Regions& dst,
                          std::vector<Regions>& src);

 private:
  plan::Plan& whole_;
  std::vector<int32_t> next_;  // by rank: the first block of its `tmp` that nobody has
};

}  // namespace tutti::algo
