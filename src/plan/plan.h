// A plan: one collective, written as transfers between the ranks' buffers. Plans are plain data:
// they have no behaviour and know nothing of MPI.
//
// Glossary of the project. Every room uses these words, and no synonyms for them.
//
// Plans
//   rank, root   A rank and a root are what they are in MPI.
//   buffer       A buffer is a rank's `in` or `out` (the user's memory) or its `tmp` (Tutti's).
//   block        A block is the unit in which a plan counts a buffer: a vector of n elements is cut
//                into Plan::blocks blocks, and the blocks of `tmp` are as large as the vector's.
//                Where a buffer has a part for each rank (collective.h), the parts are the blocks.
//   region       A region is a run of blocks (first, count, stride) of one buffer of one rank.
//   transfer     A transfer is the atom of a plan: `dst <- src` (copy), `dst <- a, b, ...` (reduce,
//                in the order written or, with `any`, in the order of arrival), or a token.
//   token        A token is a hand-over without data: its rank goes on only when other ranks have
//                executed their transfers before the token.
//   plan         A plan is the transfers of all ranks in one order; its meaning is the result of
//                executing them one after another.
//   pattern      A pattern is a transfer of a symmetric plan that is written for one place and
//                stands for one at every place (symmetric.h).
//   shape        A shape is the machine that a plan was written for, as level:count words from the
//                outside in (`node:4 numa:2 core:8`).
//   level        A level is one kind of part of a machine that ranks share: cluster, node, socket,
//                numa, cache, core.
//
// Programs
//   segment      A segment is a piece of a long message; the plan runs once for each segment. A
//                vector is sliced first and then cut into blocks; of parts, each is sliced.
//   stage        A stage is a transfer's place in the pipeline: segment s of a transfer at stage t
//                runs at tick s + t.
//   program      A program is what one rank executes for a plan (program.h).
//   step         A step is one action of a program: it waits, moves data, or notifies other ranks.
//   number       The number of a transfer in a segment orders all work of an operation: every rank
//                executes in the order of numbers, and they are the same at all ranks (program.h).
//   base         The base is the value of all words at which an operation begins; a word that shows
//                base + n means that its rank has done all transfers with numbers up to n that
//                another rank waits for.
//   elidable     A copy of a user's blocks into a slot is elidable if its owner may leave it out
//                because readers bypass the slot (elidable_copies.h).
//
// Memory and ranks
//   node         A node is a set of ranks that share memory; data goes between nodes by messages.
//   team         A team is a set of ranks, processes of one node or threads of one process, that
//                have mapped one piece of shared memory; groups take their memory from it.
//   group        A group is a communicator, or a team of threads, as Tutti sees it.
//   area         An area is the shared memory of one rank in one group: its words, lines and slot.
//   word         A rank's word is a counter in shared memory that only this rank writes. It shows
//                the other ranks how far this rank has come.
//   line         A line is a cache line with a stamp and up to 48 bytes of data, which only its
//                owner writes; the stamp is the number of the transfer whose data the line holds.
//   slot         A rank's slot is shared memory that holds its `tmp`, used as a ring of positions,
//                one for each segment under way.
//   lane         A lane is a sequence of a group's operations with words, lines and slots of its
//                own, in which each operation begins where the one before ended. A group has one
//                for its blocking calls and a few for long non-blocking ones (group/lanes.h).
//   reach        The reach of a rank is how it accesses another rank's buffer: through a slot
//                (staged), by loads and stores (direct), or by a system call (cma).
//
// A plan contains no flags, sends or receives; lowering (lower.h) adds them. The rank that owns
// `dst` executes a transfer (pull), or, if `push` is set, the rank that owns its sources.
//
// collective.h defines what the buffers hold at the start and at the end; check.h proves the end.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/large_vector.h"
#include "base/short_vector.h"
#include "plan/collective.h"
#include "placement/nodes.h"

namespace tutti::plan {

enum class Buffer : uint8_t { in, out, tmp };

struct Region {
  constexpr Region() = default;
  constexpr Region(int32_t of_rank, Buffer which, int32_t first_block, int32_t blocks = 1,
                   int32_t step = 1)
      : rank(of_rank), buffer(which), first(first_block), count(blocks), stride(step) {}

  // They share a word, because the plan of many ranks has hundreds of thousands of regions.
  int32_t rank : 30 = 0;
  Buffer buffer : 2 = Buffer::in;
  int32_t first = 0;
  int32_t count = 1;
  int32_t stride = 1;  // between consecutive blocks; at least 1

  bool operator==(const Region&) const = default;
  int32_t last() const { return first + (count - 1) * stride; }
};

// A region of no blocks, which names a rank in a token.
inline Region nothing_of(int32_t rank) { return {rank, Buffer::tmp, 0, 0, 1}; }

// True if the regions share a block of one buffer.
bool overlap(const Region& one, const Region& other);

// The last four kinds occur in staged plans only (lower.h). Together they are one copy between
// nodes: the rank of `dst` executes post and receive, the rank of `src` executes send and sent.
enum class TransferKind : uint8_t { copy, reduce, token, post, send, receive, sent };
// Those of a plan as it is written, up to `token`, are the words of its text.
inline constexpr auto transfer_kind_names =
    std::to_array<std::string_view>({"copy", "reduce", "token", "post", "send", "receive", "sent"});
constexpr std::string_view name(TransferKind kind) {
  return transfer_kind_names[static_cast<size_t>(kind)];
}

inline bool is_message(TransferKind kind) { return kind >= TransferKind::post; }

inline constexpr int32_t stage_automatic = -1;

using Sources = ShortVector<Region, 2>;

struct Transfer {
  TransferKind kind = TransferKind::copy;
  bool push = false;
  // Automatic: the longest chain of hand-overs that leads here (lower.h).
  int32_t stage = stage_automatic;
  // The line of the text or program in which it was written, for messages; 0: none.
  int32_t line = 0;
  Region dst;
  // One region for a copy, two or more for a reduce, each of as many blocks as `dst`. For a token,
  // the ranks that it waits for: one or more regions of no blocks.
  Sources src;
  int32_t file = 0;        // the index in Plan::files of the file that has the line, for messages
  bool any_order = false;  // a reduce that takes its sources as they arrive
  int32_t message = -1;    // the number of the message in a staged plan; -1: no message

  // The rank that moves the bytes.
  int32_t executor() const { return push ? src.front().rank : dst.rank; }
  // True if it writes its destination; true if it reads its sources.
  bool writes() const { return kind != TransferKind::send && kind != TransferKind::sent; }
  bool reads() const { return kind != TransferKind::post && kind != TransferKind::receive; }
};

struct Plan {
  Collective collective{};
  std::string algorithm;  // a label for people; never a key
  int32_t ranks = 1;
  int32_t root = 0;          // 0 if the collective has none
  bool commutative = false;  // relies on the operation to commute
  int32_t blocks = 1;  // 1 (of no bytes) for a barrier; one for each rank if buffers have parts
  std::string shape;   // the machine that it was written for; empty: any
  // A longer message is cut in two segments, of which the last has so many bytes; 0: geometry
  // chooses.
  int32_t last_segment = 0;
  placement::Nodes nodes;  // in a staged plan: which ranks share memory
  // The files in which its transfers were written, for messages; empty if they have no name.
  std::vector<std::string> files;
  LargeVector<Transfer> transfers;

  Definition definition() const { return {collective, ranks, root, blocks}; }

  // For generators of many transfers, which say about how many: takes memory for them and for the
  // copies that staging adds (lower.h), because to move a large plan costs more than to write it.
  // Still larger plans grow as they are written.
  void expect(int64_t count) {
    constexpr int64_t most = int64_t{1} << 20;
    transfers.reserve(static_cast<size_t>(std::min(2 * count, most)));
  }

  // How many blocks the `tmp` of a rank has: one more than the largest that a transfer names, or 0.
  int32_t tmp_blocks(int32_t rank) const;
  int32_t largest_tmp() const;

  // Rank `rank` goes on only when rank `after` has executed its transfers before the token. If it
  // has none, the token waits for those of the segment before. A token only orders execution; no
  // result depends on it.
  void token(int32_t rank, int32_t after) {
    transfers.push_back(
        {TransferKind::token, false, stage_automatic, 0, nothing_of(rank), {nothing_of(after)}});
  }

  // For generators: `tmp[rank].block <- sources` and the like, in plan order.
  void copy(const Region& dst, const Region& src) {
    Transfer& transfer = transfers.emplace_back();
    transfer.dst = dst;
    transfer.src.push_back(src);
  }
  void reduce(const Region& dst, Sources src) {
    if (src.size() == 1) return copy(dst, src.front());
    Transfer& transfer = transfers.emplace_back();
    transfer.kind = TransferKind::reduce;
    transfer.dst = dst;
    transfer.src = std::move(src);
  }
  // A reduce that takes its sources as they arrive.
  void reduce_any(const Region& dst, Sources src) {
    reduce(dst, std::move(src));
    transfers.back().any_order = transfers.back().kind == TransferKind::reduce;
  }
};

// Everything else that a plan says.
Plan without_transfers(const Plan& plan);

// Blocks read and written by the whole plan.
int64_t moves(const Plan& plan);

// The same plan, except that each of its reductions takes its sources in the order written. It
// gives the same bits in every run.
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

// Throws Error(invalid_plan) naming the transfer (its line, or its number if it has none) if the
// plan is not well formed: a rank, block or root out of range, region counts that differ, a
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
