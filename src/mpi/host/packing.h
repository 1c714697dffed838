// Packing of datatypes with gaps or in another order: from the user's layout to the packed bytes of
// the type's signature, and back.
//
// Groups see packed bytes alone. Each rank may have another layout, but the signature's bytes are
// the same at all ranks. The layouts of known types are packed by Tutti's kernels (known_types.h),
// and all others by the host. The functions keep no state beside those types; any thread may call
// them.
#pragma once

#include <cstddef>

#include "mpi/host/host.h"
#include "mpi/host/known_types.h"

namespace tutti::mpi {

// Bytes of the type's signature; 0 for a handle that is no type (the host then raises its error).
size_t signature_bytes(Datatype type);

// Throws bad_alloc.
TypeShape shape_of(Datatype type);

// The memory of `count` elements, gaps included: its size, and the offset of the first element's
// origin in it.
struct Span {
  size_t bytes = 0;
  size_t before = 0;
};
Span span_of(Datatype type, size_t count);

// The address of an element of a vector, which follows from the type's extent. The vector may be
// MPI_BOTTOM.
void* element(void* vector, size_t index, Datatype type);

// Pack and unpack `count` elements, and return the host's error code. `bytes` is the size of all
// packed elements: `count` times signature_bytes(type). The host, if it packs, reports errors at
// the communicator.
int pack(const void* buffer, size_t count, Datatype type, Comm communicator, std::byte* packed,
         size_t bytes);
int unpack(const std::byte* packed, void* buffer, size_t count, Datatype type, Comm communicator,
           size_t bytes);

}  // namespace tutti::mpi
