// Datatypes with gaps or in another order: between the user's layout and the packed bytes of the
// type's signature, which is all that groups see. What a rank's layout is like is its own
// knowledge; the packed bytes are the same for all.
//
// Pure functions on the host's datatypes; any thread.
#pragma once

#include <cstddef>

#include "mpi/abi/host.h"

namespace tutti::mpi {

// Bytes of the type's signature; 0 for a handle that is no type (the host then says what is wrong).
size_t signature_bytes(MPI_Datatype type);

// What a call asks of a type, found at once: types may be made for one call and freed, so nothing
// is remembered by a handle that no name stands for.
struct TypeShape {
  size_t bytes = 0;    // of its signature, as above
  bool dense = false;  // a vector of it is its signature in memory: no gaps, in order
  bool named = false;  // predefined, so that MPI_BOTTOM is no buffer of it
};
TypeShape shape_of(MPI_Datatype type);

// Memory for so many elements, of which the first's origin lies at `before`.
struct Span {
  size_t bytes = 0;
  size_t before = 0;
};
Span span_of(MPI_Datatype type, size_t count);

// The address of a vector's element, by the type's extent; the vector may be relative to
// MPI_BOTTOM.
void* element(void* vector, size_t index, MPI_Datatype type);

// Both return the host's error code. `bytes` are those of all that is packed: the signature's,
// `count` times.
int pack(const void* buffer, size_t count, MPI_Datatype type, MPI_Comm communicator,
         std::byte* packed, size_t bytes);
int unpack(const std::byte* packed, void* buffer, size_t count, MPI_Datatype type,
           MPI_Comm communicator, size_t bytes);

}  // namespace tutti::mpi
