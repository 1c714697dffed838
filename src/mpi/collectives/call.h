// An mpi::Call is a call of a collective as the program made it: MPI's arguments in one form for
// all languages, count types and collectives. (A group::Call is what a group gets: packed data.)
//
// A Call is a plain value on the stack of the calling thread. It points to the program's memory and
// is valid until the call returns. The path of known calls makes none (serve.h), because writing it
// to memory would cost time in every call.
#pragma once

#include "mpi/host/host.h"
#include "mpi/collectives/functions.h"
#include "plan/collective.h"

namespace tutti::mpi {

using plan::Collective;

// An argument array. Its elements are of int or of the large-count type, depending on which form of
// the function the program has called.
template <class Large>
class Numbers {
 public:
  Numbers() = default;
  Numbers(const int* plain) : plain_(plain) {}
  Numbers(const Large* large) : large_(large) {}

  bool given() const { return plain_ != nullptr || large_ != nullptr; }
  const int* plain() const { return plain_; }    // null if they are large
  const Large* large() const { return large_; }  // null if they are plain
  // The array as bytes; null: none.
  const void* data() const { return plain_ != nullptr ? static_cast<const void*>(plain_) : large_; }
  size_t bytes_of(size_t count) const {
    return count * (plain_ != nullptr ? sizeof(int) : sizeof(Large));
  }
  // True if both are the same array.
  bool is(const Numbers& other) const { return plain_ == other.plain_ && large_ == other.large_; }
  Large operator[](size_t i) const { return plain_ != nullptr ? plain_[i] : large_[i]; }

 private:
  const int* plain_ = nullptr;
  const Large* large_ = nullptr;
};

// An array of datatypes, as the program gave it: its elements are the host's handles.
class Datatypes {
 public:
  Datatypes() = default;
  Datatypes(const void* of_host) : of_host_(of_host) {}

  bool given() const { return of_host_ != nullptr; }
  const void* of_host() const { return of_host_; }
  // The bytes of an array of so many.
  static size_t bytes_of(size_t count) { return count * abi.datatype_bytes; }
  Datatype operator[](size_t i) const { return datatype_in(of_host_, i); }

 private:
  const void* of_host_ = nullptr;
};

// A buffer of equal parts, or of one part.
struct Buffer {
  void* data;   // never written on the send side
  Count count;  // elements of one part
  Datatype type;
};

// The arguments of one side of a call: those of a Buffer, or arrays that have an entry for each
// part.
struct Side {
  void* data = nullptr;  // never written on the send side
  Count count = 0;       // unused if there are counts
  Numbers<Count> counts{};
  Numbers<Aint> displacements{};  // in elements; where there are types, in bytes
  Datatype type{};
  Datatypes types{};  // for the alltoallw functions, instead of `type`

  Datatype type_of(size_t part) const { return types.given() ? types[part] : type; }
  // The number of elements in a part. All parts of a side without counts have the same.
  Count count_of(size_t part) const { return counts.given() ? counts[part] : count; }
};
inline Side side_of(const Buffer& buffer) {
  return {.data = buffer.data, .count = buffer.count, .type = buffer.type};
}

// How a call's arguments are read.
enum class Shape : uint8_t {
  barrier,       // no arguments
  vector,        // one vector, which the root has and all get
  parts,         // a part for each rank, all of one length
  reduction,     // vectors that are combined
  neighbours,    // a part for each edge to a neighbour, all of one length
  v_parts,       // a part for each rank, each of its own length
  v_reduction,   // vectors that are combined and cut into parts, each of its own length
  v_neighbours,  // a part for each edge to a neighbour, each of its own length
};

struct Call {
  Function function;
  Shape shape;
  Collective collective;  // among neighbours: an allgather or alltoall, whose buffers are alike
  // In a bcast both are the same; in a reduction they have the same counts and type.
  Side in{}, out{};
  int root = 0;  // 0 for a collective without a root
  Op op{};       // only for a reduction

  bool v_form() const { return shape >= Shape::v_parts; }
  bool on_neighbourhood() const {
    return shape == Shape::neighbours || shape == Shape::v_neighbours;
  }
};

// Makes the call by the host's function and returns its error code (host_calls.cpp). If the host
// lacks a large-count function without arrays of counts, the plain function makes the call,
// provided that its counts fit an int. Any other call that the host cannot make is an error, which
// is raised on the communicator.
int call_host(const Call& call, Comm comm);
// Starts the non-blocking collective by the host's function and returns its error code. A
// large-count function that the host lacks is replaced as above.
int call_host(const Call& call, Comm comm, Request* request);
// Makes a persistent request by the host's function and returns its error code. A function that the
// host lacks is an error, which is raised on the communicator.
int call_host(const Call& call, Comm comm, Info info, Request* request);

}  // namespace tutti::mpi
