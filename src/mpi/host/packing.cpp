#include "mpi/host/packing.h"

#include <algorithm>
#include <climits>

#include "mpi/host/known_types.h"
#include "mpi/host/types.h"

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
    return packs(size_t{0}, count, size_t{0}, bytes);
  const size_t element = bytes / count,
               at_once = std::max<size_t>(1, most_packed_at_once / std::max<size_t>(element, 1));
  for (size_t done = 0; done < count; done += at_once) {
    const size_t part = std::min(at_once, count - done);
    if (const int code = packs(done, part, done * element, part * element); code != success)
      return code;
  }
  return success;
}

Aint extent_of(Datatype type) {
  const NamedType* const named = named_type(type);
  if (named != nullptr && named->dense) return static_cast<Aint>(named->bytes);
  if (const KnownType* const known = find_known(type)) return known->extent;
  Aint lower = 0, extent = 0;
  host().Type_get_extent(type, &lower, &extent);
  return extent;
}

// The host raises its error if a buffer is null and the type has no absolute addresses.
bool is_missing(const void* buffer, const KnownType& known) {
  return buffer == nullptr && known.true_lower == 0;
}

// Calls kernel(layout, extent) if the type is known and has a layout, else host_packs(), which
// returns the host's error code. The host also judges a wrong number of bytes.
template <class Kernel, class HostPacks>
int move(const void* buffer, size_t count, Datatype type, size_t bytes, Kernel&& kernel,
         HostPacks&& host_packs) {
  const KnownType* known = known_by_uses(type);
  // MPICH 4.0 does not pack from MPI_BOTTOM, which is null, so it must not be asked to.
  if (known == nullptr && buffer == nullptr) known = known_at_once(type);
  if (known != nullptr && known->layout && count * known->shape.bytes == bytes &&
      !is_missing(buffer, *known)) {
    kernel(*known->layout, known->extent);
    return success;
  }
  const int code = host_packs();
  if (known == nullptr && code == success) note_use(type);
  return code;
}

}  // namespace

size_t signature_bytes(Datatype type) {
  if (const NamedType* const named = named_type(type)) return named->bytes;
  if (const KnownType* const known = find_known(type)) return known->shape.bytes;
  return bytes_of_unnamed(type);
}

TypeShape shape_of(Datatype type) {
  if (const NamedType* const named = named_type(type)) return {named->bytes, named->dense, true};
  // No call packs a dense type, so its uses are counted here.
  if (const KnownType* const known = known_by_uses(type)) return known->shape;
  const TypeShape shape = shape_of_unnamed(type);
  if (shape.dense) note_use(type);
  return shape;
}

Span span_of(Datatype type, size_t count) {
  const KnownType* const known = find_known(type);
  const KnownType asked = known != nullptr ? KnownType{} : facts_of(type);
  const KnownType& facts = known != nullptr ? *known : asked;
  // Negative if the extent is.
  const Aint last = static_cast<Aint>(count - 1) * facts.extent;
  const Aint low = std::min<Aint>(0, std::min<Aint>(0, last) + facts.true_lower);
  const Aint high = std::max<Aint>(0, last) + facts.true_lower + facts.true_extent;
  constexpr Aint unit = 64;  // so that the origin is aligned like the memory itself
  const Aint before = (-low + unit - 1) / unit * unit;
  return {static_cast<size_t>(before + std::max<Aint>(high, 0)), static_cast<size_t>(before)};
}

void* element(void* vector, size_t index, Datatype type) {
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(vector) +
                                 index * static_cast<uintptr_t>(extent_of(type)));
}

int pack(const void* buffer, size_t count, Datatype type, Comm communicator, std::byte* packed,
         size_t bytes) {
  if (count == 0) return success;
  const auto host_packs = [&](size_t first, size_t elements, size_t at, size_t piece) {
    const void* const from = first == 0 ? buffer : element(const_cast<void*>(buffer), first, type);
    int position = 0;
    return host().Pack(from, static_cast<int>(elements), type, packed + at, static_cast<int>(piece),
                       &position, communicator);
  };
  return move(
      buffer, count, type, bytes,
      [&](const auto& layout, Aint extent) { layout.gather(packed, buffer, count, extent); },
      [&] { return in_pieces(count, bytes, host_packs); });
}

int unpack(const std::byte* packed, void* buffer, size_t count, Datatype type, Comm communicator,
           size_t bytes) {
  if (count == 0) return success;
  const auto host_unpacks = [&](size_t first, size_t elements, size_t at, size_t piece) {
    void* const to = first == 0 ? buffer : element(buffer, first, type);
    int position = 0;
    return host().Unpack(packed + at, static_cast<int>(piece), &position, to,
                         static_cast<int>(elements), type, communicator);
  };
  return move(
      buffer, count, type, bytes,
      [&](const auto& layout, Aint extent) { layout.scatter(packed, buffer, count, extent); },
      [&] { return in_pieces(count, bytes, host_unpacks); });
}

}  // namespace tutti::mpi
