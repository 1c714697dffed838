// The collectives whose parts differ in length: gatherv, scatterv, allgatherv, alltoallv, alltoallw
// and reduce_scatter.
//
// A rank sees its own counts only, but for allgatherv and reduce_scatter, whose counts all ranks
// have. So nothing of the path is decided by counts: the group finds the longest part of all ranks
// first where they cannot know it (group/group.h). Types may differ between sides and, in an
// alltoallw, between parts.
#pragma once

#include "mpi/host.h"
#include "plan/collective.h"

namespace tutti::mpi {

// An argument array, in the form that the program called.
template <class Large>
class Numbers {
 public:
  Numbers() = default;
  Numbers(const int* plain) : plain_(plain) {}
  Numbers(const Large* large) : large_(large) {}

  bool given() const { return plain_ != nullptr || large_ != nullptr; }
  const int* plain() const { return plain_; }  // null where they are large
  bool is(const Numbers& other) const {
    return plain_ == other.plain_ && large_ == other.large_;
  }  // the same array
  Large operator[](size_t i) const { return plain_ != nullptr ? plain_[i] : large_[i]; }

 private:
  const int* plain_ = nullptr;
  const Large* large_ = nullptr;
};

// One side's arguments: of one part, or of one for each rank.
struct VSide {
  void* data = nullptr;  // of the send side, never written
  MPI_Count count = 0;   // of a side of one part
  Numbers<MPI_Count> counts;
  Numbers<MPI_Aint> displacements;  // in elements; of an alltoallw, in bytes
  MPI_Datatype type{};
  const MPI_Datatype* types = nullptr;  // of an alltoallw

  MPI_Datatype type_of(size_t part) const { return types != nullptr ? types[part] : type; }
};

struct VMove {
  plan::Collective collective;
  VSide in, out;
  int root = 0;
};

// The counts are those of the parts of the result.
struct VReduction {
  const void* in;
  void* out;
  Numbers<MPI_Count> counts;
  MPI_Datatype type;
  MPI_Op op;
};

// The host's own call with the program's arguments. Refers to the callable, which outlives it.
class HostCall {
 public:
  template <class Call>
  HostCall(const Call& call)
      : call_(&call), run_([](const void* it) { return (*static_cast<const Call*>(it))(); }) {}
  int operator()() const { return run_(call_); }

 private:
  const void* call_;
  int (*run_)(const void*);
};

int v_move(const VMove& move, MPI_Comm communicator, HostCall by_host);
int v_reduce_scatter(const VReduction& reduction, MPI_Comm communicator, HostCall by_host);

}  // namespace tutti::mpi
