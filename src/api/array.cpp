// The C API of reductions of a shared array: all its elements become one ("Scalable PGAS
// collectives", NUMACol, section 3.1). Each rank folds its own part, and one element of each rank
// travels.
//
// A user's operation that does not commute keeps the order of the array. In a block-cyclic array
// that is row by row, where row k has the k-th block of every rank, in the order of ranks. Each
// rank folds its blocks, a reduction in the order of ranks combines the rows, and the receivers
// fold those. The ranks first agree on the number of rows, because a rank knows only its own part.
// Long columns of blocks are reduced in several pieces, so that memory is bounded.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "kernels/fold.h"
#include "api/arguments.h"
#include "api/collective_call.h"
#include "api/guard.h"
#include "api/records.h"
#include "api/team.h"
#include "tutti/tutti.h"

namespace {

using tutti::Code;
using tutti::Error;
using tutti::api::bytes_of;
using tutti::api::combine_of;
using tutti::api::guarded;
using tutti::api::kernel_op;
using tutti::api::kernel_type;
using tutti::api::outcome;
using tutti::api::ready;
using tutti::api::Records;
using tutti::api::require;
using tutti::api::require_collectives;
using tutti::api::require_group;
using tutti::api::require_root;
using tutti::api::Scratch;
using tutti::group::Call;
using tutti::plan::Collective;

// The records of a rank in one piece of a column of blocks.
constexpr size_t piece_bytes = 64 * 1024;

// Two long doubles are the largest element of a built-in type.
struct alignas(16) Element {
  std::byte bytes[32];
};

bool receives(const tutti_group* group, int root) {
  return root == TUTTI_ALL || root == group->rank;
}

void require_array(const tutti_group* group, const void* local, size_t count, size_t element,
                   int root, const void* out) {
  if (root != TUTTI_ALL) require_root(group, root);
  bytes_of(count, element, 1);
  require(local != nullptr || count == 0,
          "local is null while count is not 0; pass the address of this rank's part");
  require(out != nullptr || !receives(group, root),
          "out is null at a rank that gets the result; pass the address of one element");
}

void require_op(const tutti_group* group, const tutti_user_op* op) {
  require(op != nullptr, "op is null; pass the address of a tutti_user_op");
  require(op->fold != nullptr, "op->fold is null; it is the function that combines elements");
  require(op->element_bytes > 0, "op->element_bytes is 0; it is the size of an element");
  const size_t most = group->group->max_element();
  if (op->element_bytes <= most && Records::bytes_for(*op) <= most) return;
  throw Error(Code::invalid_argument,
              "op->element_bytes is " + std::to_string(op->element_bytes) +
                  "; elements and what travels with them have at most " + std::to_string(most) +
                  " bytes here, or more with a larger TUTTI_SHM_BYTES_PER_RANK");
}

// One vector of all ranks to the receivers.
Code reduce(tutti_group* group, const void* in, void* out, size_t count, int root,
            const tutti::exec::Combine& combine) {
  const bool all = root == TUTTI_ALL;
  return ready(group).run({all ? Collective::allreduce : Collective::reduce, in,
                           receives(group, root) ? out : nullptr, count, all ? 0 : root, &combine});
}

// The largest number of rows of all ranks. Throws Error(mismatch), at all ranks alike, if the ranks
// have different blocks.
Code agree_on_rows(tutti_group* group, size_t block, size_t& rows) {
  const tutti::exec::Combine largest = combine_of(TUTTI_UINT64, TUTTI_MAX);
  const uint64_t mine[3] = {rows, block, ~uint64_t{block}};
  uint64_t all[3] = {};
  const Code code = reduce(group, mine, all, 3, TUTTI_ALL, largest);
  if (code != Code::ok) return code;
  rows = all[0];
  if (all[1] == ~all[2]) return Code::ok;
  throw Error(Code::mismatch, "ranks gave blocks of " + std::to_string(~all[2]) + " to " +
                                  std::to_string(all[1]) +
                                  " elements; all ranks pass the same block");
}

struct Part {
  const std::byte* elements;
  size_t count, block;
};

// Records of the rows from `first` on.
void fold_blocks(Records& records, const Part& part, size_t element, size_t first, size_t rows,
                 std::byte* to) {
  for (size_t row = first; row < first + rows; ++row, to += records.bytes()) {
    // Rows that this rank does not have are empty; their place would be out of range.
    const size_t before = row <= part.count / part.block ? row * part.block : part.count;
    const size_t here = std::min(part.block, part.count - before);
    records.fold(to, part.elements + (here > 0 ? before * element : 0), here);
  }
}

tutti_status reduce_array_by(tutti_group* group, Part part, const tutti_user_op& op, int root,
                             void* out) {
  const bool by_blocks = op.commutes == 0 && part.block > 0 && group->ranks > 1;
  if (!by_blocks) part.block = std::max<size_t>(part.count, 1);
  size_t rows = part.count / part.block + (part.count % part.block > 0);
  if (by_blocks) {
    const Code code = agree_on_rows(group, part.block, rows);
    if (code != Code::ok) return outcome(group, code);
  }
  rows = std::max<size_t>(rows, 1);
  const size_t record = Records::bytes_for(op);
  const size_t most_rows = std::min(rows, std::max<size_t>(piece_bytes / record, 1));
  const size_t aside = Records::aside_for(op);
  std::byte* const memory = group->scratch.take(aside + 2 * most_rows * record);
  std::byte* const mine = memory + aside;
  std::byte* const combined = mine + most_rows * record;
  Records records(op, memory);
  const tutti::exec::Combine combine = records.combine();
  for (size_t first = 0; first < rows; first += most_rows) {
    const size_t here = std::min(most_rows, rows - first);
    fold_blocks(records, part, op.element_bytes, first, here, mine);
    const Code code = reduce(group, mine, combined, here, root, combine);
    if (code != Code::ok) return outcome(group, code);
    if (!receives(group, root)) continue;
    for (size_t i = 0; i < here; ++i) records.append(combined + i * record);
  }
  if (!receives(group, root)) return TUTTI_OK;
  if (records.total() == nullptr) {
    tutti::api::last_error = "no rank has elements, and the operation has no neutral element";
    return TUTTI_EMPTY;
  }
  std::memcpy(out, records.total(), op.element_bytes);
  return TUTTI_OK;
}

}  // namespace

extern "C" {

tutti_status tutti_fold(const void* in, size_t count, tutti_type type, tutti_op op, void* out) {
  return guarded([&] {
    bytes_of(count, combine_of(type, op).element, 1);
    require(in != nullptr || count == 0, "in is null while count is not 0; pass its address");
    require(out != nullptr, "out is null; pass the address of one element");
    tutti::kernels::find_fold(kernel_type(type), kernel_op(op))(out, in, count);
    return TUTTI_OK;
  });
}

tutti_status tutti_reduce_array(tutti_group* group, const void* local, size_t count, size_t block,
                                tutti_type type, tutti_op op, int root, void* out) {
  return guarded([&] {
    require_group(group);
    const tutti::exec::Combine combine = combine_of(type, op);
    require_array(group, local, count, combine.element, root, out);
    static_cast<void>(block);  // the operation commutes
    Element mine{};
    tutti::kernels::find_fold(kernel_type(type), kernel_op(op))(mine.bytes, local, count);
    return outcome(group, reduce(group, mine.bytes, out, 1, root, combine));
  });
}

tutti_status tutti_reduce_array_by(tutti_group* group, const void* local, size_t count,
                                   size_t block, const tutti_user_op* op, int root, void* out) {
  return guarded([&] {
    require_group(group);
    require_collectives(group);
    require_op(group, op);
    require_array(group, local, count, op->element_bytes, root, out);
    return reduce_array_by(group, {static_cast<const std::byte*>(local), count, block}, *op, root,
                           out);
  });
}

}  // extern "C"
