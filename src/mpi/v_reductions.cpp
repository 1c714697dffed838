// MPI_Reduce_scatter: all ranks know the lengths of all parts of the result.
#include <algorithm>

#include "mpi/host_op.h"
#include "mpi/packing.h"
#include "mpi/v_collectives.h"
#include "mpi/part_table.h"
#include "mpi/route.h"
#include "mpi/types.h"

namespace tutti::mpi {
namespace {

// The counts as bytes of packed elements, side by side.
struct Vector {
  size_t count = 0;    // elements of all parts
  size_t longest = 0;  // bytes
  size_t own = 0;      // elements of this rank's part
};

// False where an argument is wrong.
bool measure(Communicator& communicator, const VReduction& reduction, Vector& vector) {
  if (!reduction.counts.given() || reduction.type == host().type_null ||
      reduction.op == host().op_null)
    return false;
  if (reduction.out == MPI_IN_PLACE) return false;
  const auto ranks = static_cast<size_t>(communicator.group()->ranks());
  const auto rank = static_cast<size_t>(communicator.group()->rank());
  PartTable& in = communicator.parts(0);
  in.hold(ranks);
  const size_t known = communicator.dense_bytes(reduction.type);
  const size_t element = known != 0 ? known : signature_bytes(reduction.type);
  size_t total = 0;
  for (size_t part = 0; part < ranks; ++part) {
    if (reduction.counts[part] < 0) return false;
    in.at[part] = static_cast<ptrdiff_t>(total);
    if (__builtin_mul_overflow(static_cast<size_t>(reduction.counts[part]), element,
                               &in.bytes[part]))
      return false;
    if (__builtin_add_overflow(total, in.bytes[part], &total) || total > most_bytes) return false;
    vector.longest = std::max(vector.longest, in.bytes[part]);
    vector.count += static_cast<size_t>(reduction.counts[part]);
  }
  vector.own = static_cast<size_t>(reduction.counts[rank]);
  PartTable& out = communicator.parts(1);
  out.hold(1);
  out.at[0] = 0;
  out.bytes[0] = in.bytes[rank];
  return !(reduction.in == reduction.out && vector.count > 0 &&
           host_judges_aliases(Collective::reduce_scatter));
}

const void* source(const VReduction& reduction) {
  return reduction.in == MPI_IN_PLACE ? reduction.out : reduction.in;
}

int run(Communicator& communicator, const void* in, void* out, const Vector& vector,
        const exec::Combine& combine) {
  const PartTable& of_in = communicator.parts(0);
  const PartTable& of_out = communicator.parts(1);
  const exec::VParts parts{{of_in.at.data(), of_in.bytes.data()},
                           {of_out.at.data(), of_out.bytes.data()}};
  return communicator.finish(
      communicator.group()->v_reduce_scatter(in, out, parts, vector.longest, combine));
}

Served by_host_op(Communicator& communicator, const VReduction& reduction, const Vector& vector) {
  if (signature_bytes(reduction.type) > communicator.largest_element())
    return Reason::large_element;
  HostReduction host_op(reduction.type, reduction.op, communicator.handle());
  const exec::Combine combine = host_op.combine();
  int code = MPI_SUCCESS, packing = MPI_SUCCESS;
  if (host_op.is_dense()) {
    code = run(communicator, source(reduction), reduction.out, vector, combine);
  } else {
    std::byte* const in = communicator.scratch(0, vector.count * combine.element);
    std::byte* const out = communicator.scratch(1, vector.own * combine.element);
    packing = pack(source(reduction), vector.count, reduction.type, communicator.handle(), in,
                   vector.count * combine.element);
    code = run(communicator, in, out, vector, combine);
    if (code == MPI_SUCCESS && vector.own > 0) {
      const int unpacking = unpack(out, reduction.out, vector.own, reduction.type,
                                   communicator.handle(), vector.own * combine.element);
      packing = first_error(packing, unpacking).code;
    }
    communicator.release_scratch();
  }
  return first_error(first_error(code, packing).code, host_op.error());
}

Served by_group(Communicator& communicator, const VReduction& reduction) {
  if (!communicator.group()->on_one_node()) return Reason::v_between_nodes;
  Vector vector;
  if (!measure(communicator, reduction, vector)) return Reason::wrong_arguments;
  const bool empty = vector.longest == 0;  // all ranks know, and nobody waits for anybody
  if (!predefined_op(reduction.op))
    return empty ? Served(MPI_SUCCESS) : by_host_op(communicator, reduction, vector);
  const exec::Combine* const combine = communicator.kernel(reduction.type, reduction.op);
  if (combine == nullptr && !communicator.host_combines(reduction.type, reduction.op))
    return Reason::wrong_arguments;
  if (empty) return MPI_SUCCESS;
  if (source(reduction) == nullptr || (vector.own > 0 && reduction.out == nullptr))
    return Reason::wrong_arguments;
  if (combine == nullptr) return by_host_op(communicator, reduction, vector);
  return run(communicator, source(reduction), reduction.out, vector, *combine);
}

}  // namespace

int v_reduce_scatter(const VReduction& reduction, MPI_Comm communicator, HostCall by_host) {
  const size_t bytes =
      reduction.counts.given() ? bytes_to_report(reduction.counts[0], reduction.type) : 0;
  return route(
      communicator, {Collective::reduce_scatter, bytes, 0, true},
      [&](Communicator& known) { return by_group(known, reduction); }, by_host,
      [&] {
        int rank = 0, ranks = 0;
        if (reduction.type == host().type_null || reduction.op == host().op_null ||
            !reduction.counts.given())
          return true;
        if (!ranks_of(communicator, &rank, &ranks)) return false;
        for (int part = 0; part < ranks; ++part)
          if (reduction.counts[static_cast<size_t>(part)] < 0) return true;
        return false;
      });
}

}  // namespace tutti::mpi
