#include "mpi/abi/packing.h"

#include <algorithm>
#include <climits>
#include <vector>

#include "mpi/abi/types.h"

namespace tutti::mpi {
namespace {

// Bytes. MPI_Pack counts in int.
constexpr size_t most_packed_at_once = size_t{1} << 30;

// Cuts `count` elements, which take `bytes` when packed, into pieces that one call can pack. Calls
// packs(index of the first element, elements, offset of their packed bytes, packed bytes) for each
// piece until one fails. Returns that piece's error code, or MPI_SUCCESS.
template <class Packs>
int in_pieces(size_t count, size_t bytes, Packs&& packs) {
  if (bytes <= most_packed_at_once && count <= INT_MAX)
    return count == 0 ? MPI_SUCCESS : packs(size_t{0}, count, size_t{0}, bytes);
  const size_t element = bytes / count,
               at_once = std::max<size_t>(1, most_packed_at_once / std::max<size_t>(element, 1));
  for (size_t done = 0; done < count; done += at_once) {
    const size_t part = std::min(at_once, count - done);
    if (const int code = packs(done, part, done * element, part * element); code != MPI_SUCCESS)
      return code;
  }
  return MPI_SUCCESS;
}

MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;
  host().Type_get_extent(type, &lower, &extent);
  return extent;
}

size_t unnamed_bytes(MPI_Datatype type) {
  int bytes = 0;
  if (type == host().type_null || host().Type_size(type, &bytes) != MPI_SUCCESS || bytes < 0)
    return 0;
  return static_cast<size_t>(bytes);
}

// True for a Fortran number, and for a contiguous run or a copy of a dense type. Other constructors
// may leave gaps or change the order.
bool built_dense(MPI_Datatype type) {
  const Host& mpi = host();
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  if (mpi.Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS)
    return false;
  if (combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
      combiner == MPI_COMBINER_F90_INTEGER)
    return true;
  if (combiner != MPI_COMBINER_DUP && combiner != MPI_COMBINER_CONTIGUOUS) return false;
  std::vector<int> integer(static_cast<size_t>(integers) + 1);
  std::vector<MPI_Aint> address(static_cast<size_t>(addresses) + 1);
  MPI_Datatype inner = mpi.type_null;
  if (types != 1 || mpi.Type_get_contents(type, integers, addresses, 1, integer.data(),
                                          address.data(), &inner) != MPI_SUCCESS)
    return false;
  const bool result = shape_of(inner).dense;
  if (named_type(inner) == nullptr) {
    mpi.Type_get_envelope(inner, &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED) mpi.Type_free(&inner);
  }
  return result;
}

}  // namespace

size_t signature_bytes(MPI_Datatype type) {
  const NamedType* const named = named_type(type);
  return named != nullptr ? named->bytes : unnamed_bytes(type);
}

TypeShape shape_of(MPI_Datatype type) {
  if (const NamedType* named = named_type(type)) return {named->bytes, named->dense, true};
  const size_t size = unnamed_bytes(type);
  if (size == 0) return {};
  const auto bytes = static_cast<MPI_Aint>(size);
  MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  host().Type_get_true_extent(type, &true_lower, &true_extent);
  if (true_lower != 0 || true_extent != bytes) return {size};
  host().Type_get_extent(type, &lower, &extent);
  return {size, lower == 0 && extent == bytes && built_dense(type)};
}

Span span_of(MPI_Datatype type, size_t count) {
  MPI_Aint true_lower = 0, true_extent = 0;
  host().Type_get_true_extent(type, &true_lower, &true_extent);
  // Negative if the extent is.
  const MPI_Aint last = static_cast<MPI_Aint>(count - 1) * extent_of(type);
  const MPI_Aint low = std::min<MPI_Aint>(0, std::min<MPI_Aint>(0, last) + true_lower);
  const MPI_Aint high = std::max<MPI_Aint>(0, last) + true_lower + true_extent;
  constexpr MPI_Aint unit = 64;  // so that the origin is aligned like the memory itself
  const MPI_Aint before = (-low + unit - 1) / unit * unit;
  return {static_cast<size_t>(before + std::max<MPI_Aint>(high, 0)), static_cast<size_t>(before)};
}

void* element(void* vector, size_t index, MPI_Datatype type) {
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(vector) +
                                 index * static_cast<uintptr_t>(extent_of(type)));
}

int pack(const void* buffer, size_t count, MPI_Datatype type, MPI_Comm communicator,
         std::byte* packed, size_t bytes) {
  return in_pieces(count, bytes, [&](size_t first, size_t elements, size_t at, size_t piece) {
    const void* const from = first == 0 ? buffer : element(const_cast<void*>(buffer), first, type);
    int position = 0;
    return host().Pack(from, static_cast<int>(elements), type, packed + at, static_cast<int>(piece),
                       &position, communicator);
  });
}

int unpack(const std::byte* packed, void* buffer, size_t count, MPI_Datatype type,
           MPI_Comm communicator, size_t bytes) {
  return in_pieces(count, bytes, [&](size_t first, size_t elements, size_t at, size_t piece) {
    void* const to = first == 0 ? buffer : element(buffer, first, type);
    int position = 0;
    return host().Unpack(packed + at, static_cast<int>(piece), &position, to,
                         static_cast<int>(elements), type, communicator);
  });
}

}  // namespace tutti::mpi
