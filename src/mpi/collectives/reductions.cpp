// The collectives that combine vectors. Their result is a vector, or parts of it, whose lengths may
// differ: in MPI_Reduce_scatter all ranks know the lengths of all parts.
#include <algorithm>

#include "mpi/host/host_op.h"
#include "mpi/host/packing.h"
#include "mpi/host/types.h"
#include "mpi/collectives/general.h"
#include "mpi/job/self.h"

namespace tutti::mpi {
namespace {

// The elements that this rank gives and gets, and the bytes of the longest part. These are 0 if
// there is nothing to combine, which all ranks know.
struct Lengths {
  size_t in = 0, out = 0;
  size_t longest = 0;
};

bool receives(const group::Group& group, const Call& call) {
  return plan::Definition{call.collective, group.ranks(), call.root}.has_out(group.rank());
}

// Returns false if an argument is wrong.
bool measure_vector(const group::Group& group, const Call& call, Lengths& lengths) {
  const auto ranks = static_cast<size_t>(group.ranks());
  const size_t parts = plan::parted_in(call.collective) ? ranks : 1;
  if (call.in.count < 0) return false;
  lengths.longest = bytes_of(call.in.count, call.in.type);
  lengths.in = static_cast<size_t>(call.in.count) * parts;
  lengths.out = receives(group, call) ? static_cast<size_t>(call.in.count) : 0;
  return lengths.longest <= most_bytes / parts;
}

// The bytes of an element as it is combined: as it lies in memory for a kernel, else packed.
size_t element_bytes(Communicator& communicator, const Call& call, const exec::Combine* kernel) {
  if (kernel != nullptr) return kernel->element;
  const size_t known = communicator.memory().dense_bytes(call.in.type);
  return known != 0 ? known : signature_bytes(call.in.type);
}

// The same for parts that have their own lengths. Also fills the communicator's part tables: the
// parts are adjacent, and have elements of so many bytes.
bool measure_parts(Communicator& communicator, const Call& call, size_t element, Lengths& lengths) {
  if (!call.in.counts.given()) return false;
  const auto ranks = static_cast<size_t>(communicator.group()->ranks());
  const auto rank = static_cast<size_t>(communicator.group()->rank());
  PartTable& in = communicator.memory().parts(0);
  in.hold(ranks);
  size_t total = 0, longest = 0, elements = 0;
  for (size_t part = 0; part < ranks; ++part) {
    const Count count = call.in.counts[part];
    if (count < 0) return false;
    in.at[part] = static_cast<ptrdiff_t>(total);
    if (__builtin_mul_overflow(static_cast<size_t>(count), element, &in.bytes[part])) return false;
    if (__builtin_add_overflow(total, in.bytes[part], &total) || total > most_bytes) return false;
    longest = std::max(longest, in.bytes[part]);
    elements += static_cast<size_t>(count);
  }
  lengths = {elements, static_cast<size_t>(call.in.counts[rank]), longest};
  PartTable& out = communicator.memory().parts(1);
  out.hold(1);
  out.at[0] = 0;
  out.bytes[0] = in.bytes[rank];
  return true;
}

bool measure(Communicator& communicator, const Call& call, const exec::Combine* kernel,
             Lengths& lengths) {
  const group::Group& group = *communicator.group();
  if (call.v_form()) {
    const size_t element = element_bytes(communicator, call, kernel);
    if (!measure_parts(communicator, call, element, lengths)) return false;
  } else {
    const bool rooted = plan::rooted(call.collective);
    if (rooted && (call.root < 0 || call.root >= group.ranks())) return false;
    if (!measure_vector(group, call, lengths)) return false;
    if (rooted && group.rank() != call.root) return call.in.data != abi.in_place;
  }
  if (call.out.data == abi.in_place) return false;
  return call.in.data != call.out.data || lengths.in == 0 || !host_judges_aliases(call.collective);
}

// The vector that this rank gives, in place or not.
const void* source(const Call& call) {
  return call.in.data == abi.in_place ? call.out.data : call.in.data;
}

[[gnu::always_inline]] inline int run(Communicator& communicator, const Call& call, const void* in,
                                      void* out, const Lengths& lengths,
                                      const exec::Combine& combine) {
  const auto count = static_cast<size_t>(call.in.count);
  if (!call.v_form())
    return communicator.finish(
        communicator.group()->run({call.collective, in, out, count, call.root, &combine}));
  const exec::VParts parts{communicator.memory().parts(0).parts(),
                           communicator.memory().parts(1).parts()};
  return communicator.finish(communicator.group()->run(
      {call.collective, in, out, 0, 0, &combine, &parts, lengths.longest}));
}

// For a type with gaps, whose elements are packed into the communicator's scratch.
Served run_packed(Communicator& communicator, const Call& call, const Lengths& lengths,
                  const exec::Combine& combine) {
  const size_t bytes_in = lengths.in * combine.element, bytes_out = lengths.out * combine.element;
  std::byte* const in = communicator.memory().scratch(0, bytes_in);
  std::byte* const out = lengths.out > 0 ? communicator.memory().scratch(1, bytes_out) : nullptr;
  const Comm handle = communicator.handle();
  int packing = pack(source(call), lengths.in, call.in.type, handle, in, bytes_in);
  const int code = run(communicator, call, in, out, lengths, combine);
  if (code == success && lengths.out > 0) {
    const int unpacking = unpack(out, call.out.data, lengths.out, call.in.type, handle, bytes_out);
    packing = first_error(packing, unpacking).code;
  }
  communicator.memory().release_scratch();
  return first_error(code, packing);
}

void* destination(const Call& call, const Lengths& lengths) {
  return lengths.out > 0 || call.v_form() ? call.out.data : nullptr;
}

Served by_host_op(Communicator& communicator, const Call& call, bool predefined,
                  const Lengths& lengths) {
  const auto facts = HostReduction::facts_of(call.in.type, call.op, predefined);
  if (facts.shape.bytes > communicator.largest_element()) return Reason::large_element;
  HostReduction host_op(call.in.type, call.op, facts, self_communicator);
  const exec::Combine combine = host_op.combine();
  const Served served = host_op.is_dense()
                            ? Served(run(communicator, call, source(call),
                                         destination(call, lengths), lengths, combine))
                            : run_packed(communicator, call, lengths, combine);
  return first_error(served.code, host_op.take_error());
}

}  // namespace

Served reduction_by_group(Communicator& communicator, const Call& call) {
  if (call.in.type == host().type_null || call.op == host().op_null) return Reason::wrong_arguments;
  const bool predefined = predefined_op(call.op);
  const exec::Combine* const combine =
      predefined ? communicator.kernel(call.in.type, call.op) : nullptr;
  Lengths lengths;
  if (!measure(communicator, call, combine, lengths)) return Reason::wrong_arguments;
  const bool empty = lengths.longest == 0;  // all ranks know it, so no rank waits
  if (!predefined) return empty ? Served(success) : by_host_op(communicator, call, false, lengths);
  // The host may know an operation that MPI does not define for this type; else it raises its
  // error.
  if (combine == nullptr && !communicator.host_combines(call.in.type, call.op))
    return Reason::wrong_arguments;
  if (empty) return success;
  const void* const from = source(call);
  if (from == nullptr || (lengths.out > 0 && call.out.data == nullptr))
    return Reason::wrong_arguments;
  if (combine == nullptr) return by_host_op(communicator, call, true, lengths);
  return run(communicator, call, from, destination(call, lengths), lengths, *combine);
}

// A count that is 0 or larger than an int is for the general path.
std::optional<group::Call> plain_reduction(Communicator& communicator, const Call& call) {
  const exec::Combine* const combine = communicator.kernel(call.in.type, call.op);
  if (combine == nullptr) return {};
  const group::Group& group = *communicator.group();
  const void* const in = call.in.data;
  void* const out = call.out.data;
  if (call.in.count <= 0 || call.in.count > INT_MAX || in == nullptr) return {};
  const bool rooted = plan::rooted(call.collective);
  if (rooted && (call.root < 0 || call.root >= group.ranks())) return {};
  const bool receiving = !rooted || group.rank() == call.root;
  if (receiving && (out == nullptr || in == out || out == abi.in_place)) return {};
  if (!receiving && in == abi.in_place) return {};
  return group::Call{
      call.collective, source(call), receiving ? out : nullptr, static_cast<size_t>(call.in.count),
      call.root,       combine};
}

}  // namespace tutti::mpi
