// A writer makes one rank's program, transfer by transfer in the order of a staged plan. Internal
// to src/plan.
//
// One lowering owns its writers and everything to which they refer. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "plan/blocks.h"
#include "plan/facts.h"
#include "plan/lower.h"

namespace tutti::plan {

// The contents of a block of tmp.
struct Held {
  int32_t extent = 0;  // the item whose length it has
  bool elidable = false;
  // The buffer of the copy that a reader may bypass, and which block of it.
  Buffer buffer = Buffer::in;
  int32_t block = 0;
};

class Writer {
 public:
  // `held` has the contents of every block of tmp at this point of the walk over the plan.
  Writer(const Plan& staged, const Dependences& dependences, int32_t rank, Carrier carrier,
         const Facts& facts, BlockTable<Held>& held, const Slice* slice);

  Step& step(StepKind kind, int32_t serves, int32_t target);
  // Writes one step where the regions are runs of blocks. Otherwise, and where blocks are parts,
  // which lie apart in slots, it writes one step for each block. Each of these steps has the
  // `arrivals` of a transfer in any order; when the first step has ended, all sources are there.
  void move(int32_t i, std::span<const int32_t> arrivals);
  // Writes a step of a message; the first of its two steps at this rank adds the Message itself.
  void message(int32_t i);
  // Writes the steps at the end of a program, which wait for reads by others.
  void wait_for_readers(const std::vector<int32_t>& readings);

  Program& program() { return program_; }

 private:
  // This rank's end of a message.
  Message end_of(const Transfer& transfer);
  // Adds a block to the message: to its last piece if the two are adjacent, which parts are not.
  void append_piece(Message& message, const Region& here, int32_t k, int32_t extent,
                    int32_t writer);

  int32_t number(int32_t transfer) const {
    return slice_ != nullptr ? slice_->numbers[transfer] : transfer + 1;
  }
  int32_t stage_of(int32_t transfer) const { return staged_.transfers[transfer].stage; }
  bool is_elidable(int32_t i) const { return !elidable_.copies.empty() && elidable_.copies[i]; }
  int32_t extent_of_piece(int32_t i, int32_t piece) const;
  Arrival arrival(int32_t earlier) const;
  bool reads_its_own(int32_t i, int32_t writer) const;
  Operand source(int32_t i, size_t k, int32_t piece) const;
  Operand operand(const Region& region, int32_t piece, int32_t writer) const;

  const Plan& staged_;
  const Slice* const slice_;  // null: the plan is a whole one
  const ElidableCopies& elidable_;
  Carrier carrier_;
  Program program_;
  // Maps a number in the plan to its index in Program::messages.
  std::map<int32_t, int32_t> message_of_;
  const Facts& facts_;
  BlockTable<Held>& held_;
};

}  // namespace tutti::plan
