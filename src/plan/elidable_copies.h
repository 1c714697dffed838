// Elidable copies: copies of a user's blocks into their owner's slot that the owner may leave out,
// because readers that reach the blocks bypass the slot. Internal to src/plan.
//
// A staged plan leads every read of another rank's `in` or `out` through a slot. If the reader can
// map or copy the owner's memory, the slot is a detour: the owner leaves the copy out, and the
// reader reads the blocks in the user's buffer. This is right if nothing overwrites the blocks
// before they have been read, and if the owner does not return before that. Both are derived here
// from the waits that the plan has anyway. Source: one-copy reads of HMPI's shared heap (HMPI 2.1).
#pragma once

#include <cstdint>
#include <vector>

#include "plan/blocks.h"
#include "plan/lists.h"
#include "plan/lower.h"
#include "plan/slice.h"
#include "plan/vector_clocks.h"

namespace tutti::plan {

// True for a copy that a rank makes of its own user's blocks into its own slot.
bool could_offer(const Plan& staged, const Transfer& transfer);

// Takes part in the walk that finds the dependences of a scheduled plan over slots. The result is
// the same at all ranks.
class ElidableCopyFinder {
 public:
  // `pairs`: as in VectorClocks. `slice`: the plan is that of this slice; null: it is a whole one.
  ElidableCopyFinder(const Plan& staged, bool pairs, const Slice* slice);

  // For each transfer in order, when its executor has waited for all that it waits for.
  void visit(int32_t i, const VectorClocks& known);
  // After the walk.
  ElidableCopies take(const VectorClocks& known, const Dependences& dependences);

 private:
  struct Held {
    int32_t copy = -1;  // the copy that wrote the block; -1: another transfer did
    int32_t block = 0;  // the block of the user's buffer that it copied
  };

  void find_readers();
  bool read_by_several(int32_t copy) const;
  void note_read(BlockTable<Held>& table, const Region& src, int32_t reader);
  void check_overwriting(const VectorClocks& known, int32_t writer, int32_t copy);
  std::vector<std::vector<int32_t>> last_readings(const VectorClocks& known);
  void leave_out_implied(const Dependences& dependences);
  int32_t count() const { return static_cast<int32_t>(staged_.transfers.size()); }

  const Plan& staged_;
  const bool pairs_;
  const Slice* const slice_;
  Chains chains_;
  LargeVector<Chains::Head> readers_;  // indexed by copy; heads of lists in chains_
  // Indexed by copy: a rank that knows, from some transfer on, that all have read it; -1: none yet.
  LargeVector<int32_t> read_before_;
  // Indexed by a user buffer's block: the copies through which others may read it, in chains_. `in`
  // and `out` share their entries, because they may be one buffer.
  BlockTable<Chains::Head> read_;
  ElidableCopies found_;
};

}  // namespace tutti::plan
