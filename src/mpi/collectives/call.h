// A call of a collective as the program made it: MPI's arguments in one form for all languages,
// count types and collectives.
//
// Plain values that point to the program's memory for as long as the call lasts; one thread. It is
// made where a call takes more than running a program that is known (serve.h), because its memory
// would be written in every call.
#pragma once

#include "mpi/abi/host.h"
#include "mpi/collectives/functions.h"
#include "plan/collective.h"

namespace tutti::mpi {

using plan::Collective;

// An argument array in the form that the program called: of int, or of the large-count type.
template <class Large>
class Numbers {
 public:
  Numbers() = default;
  Numbers(const int* plain) : plain_(plain) {}
  Numbers(const Large* large) : large_(large) {}

  bool given() const { return plain_ != nullptr || large_ != nullptr; }
  const int* plain() const { return plain_; }    // null where they are large
  const Large* large() const { return large_; }  // null where they are plain
  // Whether both are the same array.
  bool is(const Numbers& other) const { return plain_ == other.plain_ && large_ == other.large_; }
  Large operator[](size_t i) const { return plain_ != nullptr ? plain_[i] : large_[i]; }

 private:
  const int* plain_ = nullptr;
  const Large* large_ = nullptr;
};

// A buffer of equal parts, or of one part.
struct Buffer {
  void* data;       // of the send side, never written
  MPI_Count count;  // elements of one part
  MPI_Datatype type;
};

// One side's arguments: those of a Buffer, or arrays with an entry for each rank's part.
struct Side {
  void* data = nullptr;  // of the send side, never written
  MPI_Count count = 0;   // unused where there are counts
  Numbers<MPI_Count> counts{};
  Numbers<MPI_Aint> displacements{};  // in elements; of an alltoallw, in bytes
  MPI_Datatype type{};
  const MPI_Datatype* types = nullptr;  // an alltoallw's, instead of `type`

  MPI_Datatype type_of(size_t part) const { return types != nullptr ? types[part] : type; }
  // Elements of a part; of the only one, where the side has no counts.
  MPI_Count count_of(size_t part) const { return counts.given() ? counts[part] : count; }
};
inline Side side_of(const Buffer& buffer) {
  return {.data = buffer.data, .count = buffer.count, .type = buffer.type};
}

// How a call's arguments are read.
enum class Shape : uint8_t {
  barrier,      // none
  vector,       // one vector, which the root has and all get
  parts,        // a part for each rank, all of one length
  reduction,    // vectors that are combined
  v_parts,      // parts with lengths of their own
  v_reduction,  // vectors that are combined, and cut into parts with lengths of their own
};

struct Call {
  Function function;
  Shape shape;
  Collective collective;
  Side in{}, out{};  // a bcast's are the same; a reduction's have the same counts and type
  int root = 0;      // 0 where there is none
  MPI_Op op{};       // a reduction's

  bool v_form() const { return shape >= Shape::v_parts; }
};

// The same call by the host's function. Defined by host_calls.cpp.
int call_host(const Call& call, MPI_Comm comm);
// The same call of a function that makes a persistent request.
int call_host(const Call& call, MPI_Comm comm, MPI_Info info, MPI_Request* request);

}  // namespace tutti::mpi
