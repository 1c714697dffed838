// A reduction for which Tutti has no kernel: a user's operation, or a predefined one on a type that
// the kernels lack. The host's MPI_Reduce_local combines its elements.
//
// Slots hold packed elements. If the type has gaps, a few elements at a time are unpacked into
// memory of this object, combined there and packed again. The object does not use the
// communicator's scratch, which holds the call's packed buffers. It lives as long as its call or
// its persistent request. One thread at a time uses it.
#pragma once

#include <utility>
#include <vector>

#include "exec/executor.h"
#include "mpi/host/host.h"
#include "mpi/host/packing.h"

namespace tutti::mpi {

class HostReduction {
 public:
  // The facts about the elements, and the number of the reduction (host/reduced.h). `predefined`:
  // the operation is MPI's. Throws bad_alloc.
  struct Facts {
    TypeShape shape;
    uint32_t kind;
  };
  static Facts facts_of(Datatype type, Op op, bool predefined);
  // It packs over the communicator that `communicator` returns at that time.
  HostReduction(Datatype type, Op op, const Facts& facts, Comm (*communicator)());

  // The combination for a group. It refers to this object.
  exec::Combine combine();
  bool is_dense() const { return dense_; }
  Datatype type() const { return type_; }
  Op op() const { return op_; }
  // The first error code that the host has returned since this function was called last;
  // MPI_SUCCESS if none. After an error the results of that call are undefined.
  int take_error() { return std::exchange(error_, success); }

 private:
  static void apply(void* context, const void* in, void* inout, size_t count);
  void apply_dense(const std::byte* in, std::byte* inout, size_t count);
  void apply_with_gaps(const std::byte* in, std::byte* inout, size_t count);
  void note(int code) {
    if (error_ == success) error_ = code;
  }

  Datatype type_;
  Op op_;
  Comm (*communicator_)();
  size_t element_;
  bool dense_;
  bool commutative_;
  uint32_t kind_;
  int error_ = success;
  size_t at_once_ = 1;  // how many elements are unpacked together
  Span span_;
  std::vector<std::byte> left_, right_;
};

}  // namespace tutti::mpi
