// The datatypes that calls have used several times, by handle: their sizes, extents and layouts, so
// that a call with such a type asks the host nothing, and kernels pack it instead of the host.
//
// Many types are made for one or two calls and freed, and reading a layout takes as long as some
// packings of a short type. So a type becomes known at its third use. Until then the host packs it,
// which also finds types that were not committed.
//
// An entry ends before the host frees the handle, because another type may get it. Tutti interposes
// MPI_Type_free and PMPI_Type_free, which the routines in Fortran call. So it also sees the types
// that libraries and tools free in this process. Only a program
// that looks up MPI_Type_free in the host library itself (dlsym with that library's handle) is not
// seen; it must look up the collectives there, too, as such programs do. A type that an operation
// under way uses lives until the operation releases it (held.h), and its entry with it. All entries
// end with MPI. Simulated ranks (SMPI) free types by MPI_Type_free only.
//
// Each process has one table, which is never destroyed. Any thread may call; searches take no lock,
// and changes take the table's. A type is freed after all blocking calls that use it, so no thread
// reads an entry that ends.
#pragma once

#include <optional>

#include "kernels/strided.h"
#include "mpi/host/host.h"
#include "shm/order.h"

namespace tutti::mpi {

// The properties of a type that a call needs.
struct TypeShape {
  size_t bytes = 0;    // bytes of the type's signature; 0 for a handle that is no type
  bool dense = false;  // a vector of it has no gaps and is in order: memory equals packed bytes
  bool named = false;  // a named type, for which MPI_BOTTOM is no valid buffer
};

// A known type. Constant.
struct KnownType {
  TypeShape shape;
  Aint extent = 0;
  Aint true_lower = 0;
  Aint true_extent = 0;
  std::optional<kernels::StridedLayout> layout{};  // nothing: the host must pack
};

// Returns the host's facts about a type, without the layout. Zeros for a handle that is no type.
// Throws bad_alloc.
KnownType facts_of(Datatype type);
// Parts of it, for a type that has no name (types.h).
size_t bytes_of_unnamed(Datatype type);
TypeShape shape_of_unnamed(Datatype type);

// Null if the type is not known.
const KnownType* find_known(Datatype type) noexcept;
// The same, but the type becomes known if note_use() was called for it twice. (Types may share the
// count, so it may also become known earlier.)
const KnownType* known_by_uses(Datatype type) noexcept;
// The same, but the type becomes known in any case. Null only if memory runs out.
const KnownType* known_at_once(Datatype type) noexcept;
void note_use(Datatype type) noexcept;

// Grows whenever a type is freed. While it stays, a handle has its type.
inline constinit shm::Word types_generation{0};
// Call it before the host frees the handle.
void forget_type(Datatype type) noexcept;
// Call it when MPI ends.
void forget_types() noexcept;

}  // namespace tutti::mpi
