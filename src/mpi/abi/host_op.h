// A reduction that our kernels do not know: a user's operation, or a predefined one on a type that
// they lack, combined by the host's MPI_Reduce_local.
//
// Slots hold packed elements. Where the type has gaps, a few elements at a time are unpacked into
// memory of the user's layout, combined there and packed again. One object lives for one call on
// one thread; it uses the communicator's scratch for nothing, so that buffers packed there stay.
#pragma once

#include <vector>

#include "exec/executor.h"
#include "mpi/abi/host.h"
#include "mpi/abi/packing.h"

namespace tutti::mpi {

class HostReduction {
 public:
  HostReduction(MPI_Datatype type, MPI_Op op, MPI_Comm communicator);

  // Refers to this object.
  exec::Combine combine();
  bool is_dense() const { return dense_; }
  MPI_Datatype type() const { return type_; }
  MPI_Op op() const { return op_; }
  // The first error that the host raised meanwhile; the elements then hold anything.
  int error() const { return error_; }

 private:
  static void apply(void* context, const void* in, void* inout, size_t count);
  void apply_dense(const std::byte* in, std::byte* inout, size_t count);
  void apply_with_gaps(const std::byte* in, std::byte* inout, size_t count);
  void note(int code) {
    if (error_ == MPI_SUCCESS) error_ = code;
  }

  MPI_Datatype type_;
  MPI_Op op_;
  MPI_Comm communicator_;
  size_t element_;
  bool dense_;
  bool commutative_;
  int error_ = MPI_SUCCESS;
  size_t at_once_ = 1;  // elements unpacked together
  Span span_;
  std::vector<std::byte> left_, right_;
};

}  // namespace tutti::mpi
