// One call of a collective as the executor gets it: its data, how elements are combined, where
// parts lie, and what all ranks' calls must have in common. Values that point to the caller's
// memory, for as long as the call lasts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/kernels.h"
#include "plan/program.h"

namespace tutti::exec {

// The properties of a plan that an operation needs. Integers need none, because every correct plan
// gives the same bits.
struct Needs {
  bool same_expression = false;  // all ranks evaluate one expression (floating point, users'
                                 // operations)
  bool rank_order = false;       // operands are combined in the order of ranks (operations that do
                                 // not commute)
};
inline constexpr Needs needs_nothing{}, needs_same_expression{.same_expression = true},
    needs_rank_order{.same_expression = true, .rank_order = true};

// How elements are combined. `kernel` serves built-in operations; where it is null, `apply` does
// (inout[i] = in[i] op inout[i] for count elements, as MPI_Reduce_local).
struct Combine {
  kernels::Reduce kernel = nullptr;
  void (*apply)(void* context, const void* in, void* inout, size_t count) = nullptr;
  void* context = nullptr;
  size_t element = 1;  // bytes of one element
  bool commutative = true;
  Needs needs = needs_same_expression;
  // Numbers the type and the operation for messages about ranks that wait; 0: unknown.
  uint32_t kind = 0;
};

// The parts of one of a rank's buffers, by block: bytes from the buffer's start, and length. The
// arrays are the caller's; null for a buffer that the rank does not have.
struct Parts {
  const ptrdiff_t* at = nullptr;
  const size_t* bytes = nullptr;
};
// The state of an operation in which ranks find out how long the parts are (record.h). The parts of
// owners whose parts all have room move with it. The collective's plan decides which rank learns of
// which.
struct Agreement {
  uint64_t own = 0;      // the longest of this rank's parts, which it tells the others
  size_t room = 0;       // bytes for a part in a record, the same at all ranks
  uint64_t longest = 0;  // given back: the longest of those that this rank was told, 0 if none
};
inline constexpr size_t record_header =
    sizeof(uint64_t);  // before the part; Operation::bytes is both

// The parts of a rank's two buffers, for operations whose parts differ in length.
struct VParts {
  Parts in, out;
  Agreement* agreement = nullptr;  // null where all ranks know the longest part
  // The bytes of every item (plan::Definition), for programs that move parts between two places of
  // Tutti's memory, as they do between nodes. Null: every movement has a user's part at one end,
  // and that part has the length.
  const size_t* by_item = nullptr;
};

// One call's data. `in` and `out` may be the same address.
struct Operation {
  const void* in = nullptr;
  void* out = nullptr;
  // Bytes of the vector; where buffers have parts, of a part (the longest, if they differ).
  size_t bytes = 0;
  size_t count = 0;                  // its elements
  const Combine* combine = nullptr;  // null for barrier and bcast
  // A multiple of the element and of line_size, or >= bytes for one segment.
  size_t segment_bytes = 0;
  uint64_t call = 0;                // call_signature
  const VParts* v_parts = nullptr;  // where the parts differ in length

  // Elements in a part of the vector; the whole is the usual case, and division is slow.
  size_t count_of(size_t part) const { return part == bytes ? count : part / combine->element; }
};

// Stands for a call's bytes while its ranks agree on the longest part.
inline constexpr size_t bytes_not_agreed = (size_t{1} << 40) - 1;
// Stands for the bytes of a call among neighbours, whose blocks only the ends of an edge know.
inline constexpr size_t bytes_among_neighbours = bytes_not_agreed - 1;

// A number that all ranks of a matching call have in common; never 0.
static_assert(plan::collective_count < 16 && plan::max_ranks <= 1 << 20,
              "a signature has 4 bits for 1 + the collective, 20 for the root");
inline uint64_t call_signature(plan::Collective collective, size_t bytes, int root) {
  return (static_cast<uint64_t>(collective) + 1) << 60 | static_cast<uint64_t>(root) << 40 |
         (bytes & ((uint64_t{1} << 40) - 1));
}
inline plan::Collective call_collective(uint64_t call) {
  return static_cast<plan::Collective>((call >> 60) - 1);
}
inline int call_root(uint64_t call) { return static_cast<int>(call >> 40 & ((1u << 20) - 1)); }
// The same signature with a number of 20 bits, which the calls of all ranks must have in common,
// too. A collective without a root has room for it.
inline uint64_t with_number(uint64_t call, uint32_t number) {
  return call | static_cast<uint64_t>(number) << 40;
}
// In a group of at most most_ranks_with_kinds ranks, a signature may also have a kind, a number
// from 1 to most_kinds that calls of all ranks must have in common, such as the type of a
// reduction. It takes bits of the root, so a caller of call_root removes it first.
inline constexpr uint64_t most_kinds = 255;
inline constexpr int most_ranks_with_kinds = 1 << 12;
inline constexpr int kind_shift = 52;
using NameOfKind = std::string (*)(uint64_t kind);
inline uint64_t call_kind(uint64_t call) { return call >> kind_shift & most_kinds; }
inline uint64_t without_kind(uint64_t call) { return call & ~(most_kinds << kind_shift); }

// For messages: "allreduce of 8 bytes", "bcast of 64 bytes, root 2"; without bytes "bcast, root 2".
// `name_of_kind`: calls may have kinds, and it names them.
std::string describe_call(uint64_t call, bool with_bytes = true, NameOfKind name_of_kind = nullptr);

}  // namespace tutti::exec
