#include "mpi/host/host_op.h"

#include <algorithm>
#include <climits>

#include "mpi/host/inside.h"
#include "mpi/host/reduced.h"

namespace tutti::mpi {
namespace {

// Bytes of elements that are unpacked together.
constexpr size_t unpacked_at_once = 32 * 1024;

}  // namespace

HostReduction::Facts HostReduction::facts_of(Datatype type, Op op, bool predefined) {
  const NamedType* const named = named_type(type);
  const TypeShape shape =
      named != nullptr ? TypeShape{named->bytes, named->dense, true} : shape_of(type);
  return {shape,
          number_of(reduced_of(named, shape.bytes, predefined ? named_op(op) : std::nullopt))};
}

HostReduction::HostReduction(Datatype type, Op op, const Facts& facts, Comm (*communicator)())
    : type_(type),
      op_(op),
      communicator_(communicator),
      element_(facts.shape.bytes),
      dense_(facts.shape.dense),
      kind_(facts.kind) {
  int commutative = 0;
  host().Op_commutative(op, &commutative);
  commutative_ = commutative != 0;
  if (dense_) return;
  at_once_ = std::max<size_t>(1, unpacked_at_once / std::max<size_t>(1, span_of(type, 1).bytes));
  span_ = span_of(type, at_once_);
  left_.resize(span_.bytes);
  right_.resize(span_.bytes);
}

exec::Combine HostReduction::combine() {
  const exec::Needs needs{.same_expression = true, .rank_order = !commutative_};
  return {nullptr, apply, this, element_, commutative_, needs, kind_};
}

void HostReduction::apply(void* context, const void* in, void* inout, size_t count) {
  HostReduction& self = *static_cast<HostReduction*>(context);
  const Inside inside;  // a user's function may call MPI
  if (self.dense_)
    self.apply_dense(static_cast<const std::byte*>(in), static_cast<std::byte*>(inout), count);
  else
    self.apply_with_gaps(static_cast<const std::byte*>(in), static_cast<std::byte*>(inout), count);
}

void HostReduction::apply_dense(const std::byte* in, std::byte* inout, size_t count) {
  for (size_t done = 0; done < count; done += INT_MAX) {
    const int part = static_cast<int>(std::min<size_t>(INT_MAX, count - done));
    note(host().Reduce_local(in + done * element_, inout + done * element_, part, type_, op_));
  }
}

void HostReduction::apply_with_gaps(const std::byte* in, std::byte* inout, size_t count) {
  const Comm communicator = communicator_();
  std::byte* const left = left_.data() + span_.before;
  std::byte* const right = right_.data() + span_.before;
  for (size_t done = 0; done < count; done += at_once_) {
    const size_t part = std::min(at_once_, count - done);
    note(unpack(in + done * element_, left, part, type_, communicator, part * element_));
    note(unpack(inout + done * element_, right, part, type_, communicator, part * element_));
    note(host().Reduce_local(left, right, static_cast<int>(part), type_, op_));
    note(pack(right, part, type_, communicator, inout + done * element_, part * element_));
  }
}

}  // namespace tutti::mpi
