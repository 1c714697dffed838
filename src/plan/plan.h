// A plan: one collective written as transfers between the ranks' buffers. Plain data, no behaviour,
// no MPI.
//
// Words (the project's glossary; every room uses these and no synonyms):
//   rank, root     as in MPI
//   buffer         `in` and `out` (the user's) or `tmp` (Tutti's); one of each a rank
//   block          the unit in which a plan counts a buffer. A vector of n elements is cut into
//   `Plan::blocks`
//                  blocks; the blocks of `tmp` are as large as those of the vector. Of a collective
//                  with a part for each rank (collective.h) the parts are the blocks
//   region         a run of blocks (first, count, stride) of one buffer of one rank
//   transfer       `dst <- src` (copy) or `dst <- a, b, ...` (reduce, in that order, or in any
//   order: as the sources
//                  arrive), or a token; the atom of a plan
//   token          a hand-over without data: a rank goes on only when others have done what stands
//   before shape          the machine a plan was written for: level:count words from the outside in
//   (`node:4 numa:2 core:8`) node           ranks that share memory (nodes.h); between nodes data
//   goes by messages segment        a piece of a long message: the vector is sliced into segments,
//   each is cut into blocks (parts are
//                  sliced each by itself), and the plan runs once a segment
//   stage          a transfer's place in the pipeline: segment s of stage t runs at tick s + t
//   plan           the transfers of all ranks, in an order that means: as if executed one after
//   another program, step  what one rank executes for a plan (plan/program.h)
//
// Order is meaning: nobody writes flags, sends or receives; lowering finds them. A transfer is
// executed by the rank that owns `dst` (pull), or, where `push` is set, by the rank that owns its
// sources.
//
// What the buffers hold, and what check.h proves of them: collective.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/collective.h"
#include "placement/nodes.h"

namespace tutti::plan {

enum class Buffer : uint8_t { in, out, tmp };

struct Region {
  int32_t rank = 0;
  Buffer buffer = Buffer::in;
  int32_t first = 0;
  int32_t count = 1;
  int32_t stride = 1;  // between consecutive blocks; at least 1

  bool operator==(const Region&) const = default;
  int32_t last() const { return first + (count - 1) * stride; }
};

// Stands for a rank in a token: a region of no blocks.
inline Region nothing_of(int32_t rank) { return {rank, Buffer::tmp, 0, 0, 1}; }

// True where two regions share a block of one buffer.
bool overlap(const Region& one, const Region& other);

// The last four stand for a copy between nodes in staged plans (lower.h) and nowhere else: its two
// ends, each at its beginning and its end. The rank of `dst` executes post and receive, the rank of
// `src` send and sent.
enum class TransferKind : uint8_t { copy, reduce, token, post, send, receive, sent };

inline bool is_message(TransferKind kind) { return kind >= TransferKind::post; }

inline constexpr int32_t stage_automatic = -1;

struct Transfer {
  TransferKind kind = TransferKind::copy;
  bool push = false;
  int32_t stage =
      stage_automatic;  // automatic: the longest chain of hand-overs that leads here (lower.h)
  int32_t line = 0;  // of the text or program it was written in, for messages; 0 where it has none
  Region dst;
  std::vector<Region> src;  // one for a copy, two or more for a reduce; each as many blocks as dst
                            // of a token, the ranks waited for: one or more, of no blocks
  int32_t file = 0;         // which of Plan::files the line is in, for messages
  bool any_order = false;   // of a reduce: takes its sources as they arrive
  int32_t message = -1;     // of a message's four: its number in the staged plan

  // The rank that moves the bytes.
  int32_t executor() const { return push ? src.front().rank : dst.rank; }
  // Whether it touches the memory of its destination, and of its sources.
  bool writes() const { return kind != TransferKind::send && kind != TransferKind::sent; }
  bool reads() const { return kind != TransferKind::post && kind != TransferKind::receive; }
};

struct Plan {
  Collective collective = Collective::barrier;
  std::string algorithm;  // a label for people; never a key
  int32_t ranks = 1;
  int32_t root = 0;          // 0 where the collective has none
  bool commutative = false;  // relies on the operation to commute
  int32_t blocks =
      1;  // of every vector; for a barrier, of no bytes; of a parted collective, one a rank
  std::string shape;       // the machine it was written for; empty: any
  placement::Nodes nodes;  // of a staged plan: who shares memory
  std::vector<std::string>
      files;  // where its transfers were written, for messages; empty where that has no name
  std::vector<Transfer> transfers;

  Definition definition() const { return {collective, ranks, root, blocks}; }

  // Blocks of the `tmp` of a rank: one more than the largest that a transfer names, 0 where none
  // does.
  int32_t tmp_blocks(int32_t rank) const;
  int32_t largest_tmp() const;

  // `rank` goes on only when `after` has done what stands before for it. Where nothing does, what
  // it does of the segment before is waited for. A token orders; no result hangs on it.
  void token(int32_t rank, int32_t after) {
    transfers.push_back(
        {TransferKind::token, false, stage_automatic, 0, nothing_of(rank), {nothing_of(after)}});
  }

  // For generators: `tmp[rank].block <- sources` and the like, in plan order.
  void copy(Region dst, Region src) {
    transfers.push_back({TransferKind::copy, false, stage_automatic, 0, dst, {src}});
  }
  void reduce(Region dst, std::vector<Region> src) {
    if (src.size() == 1) return copy(dst, src.front());
    transfers.push_back({TransferKind::reduce, false, stage_automatic, 0, dst, std::move(src)});
  }
  // Takes its sources as they arrive.
  void reduce_any(Region dst, std::vector<Region> src) {
    reduce(dst, std::move(src));
    transfers.back().any_order = transfers.back().kind == TransferKind::reduce;
  }
};

// Blocks read and written by the whole plan.
int64_t moves(const Plan& plan);

// The plan with every reduce taking its sources as they are written: for the same bits on every
// run.
Plan in_fixed_order(Plan plan);

// Whole vectors and single blocks, for generators.
inline Region in(int32_t rank, int32_t first = 0, int32_t count = 1) {
  return {rank, Buffer::in, first, count, 1};
}
inline Region out(int32_t rank, int32_t first = 0, int32_t count = 1) {
  return {rank, Buffer::out, first, count, 1};
}
inline Region tmp(int32_t rank, int32_t first = 0, int32_t count = 1) {
  return {rank, Buffer::tmp, first, count, 1};
}

// Throws Error(invalid_plan) naming the transfer (its line, or its number where it has none) where
// the plan is not well formed: a rank, block or root out of range, region counts that differ, a
// reduce of fewer than two sources, a copy of more than one, a pushed transfer whose sources belong
// to several ranks, a transfer that writes `in`, a destination that overlaps a source other than at
// its own place, a token of a rank to itself, a reduce in any order that is pushed or in a plan
// that is not `commutative`, explicit stages on some transfers only, stages that decrease along the
// plan, the bounds below exceeded. Every other function of this room expects a well-formed plan.
void validate(const Plan& plan);

inline constexpr int32_t max_ranks = 1 << 20;
inline constexpr int32_t max_blocks = 1 << 20;
inline constexpr size_t max_transfers = size_t{1} << 24;
inline constexpr size_t max_files = 1 << 16;

}  // namespace tutti::plan
