#include "mpi/host/type_layout.h"

#include <utility>
#include <vector>

#include "mpi/abi/convert.h"
#include "mpi/host/types.h"

namespace tutti::mpi {
namespace {

using kernels::StridedLayout;
using Layout = std::optional<StridedLayout>;

struct Envelope {
  size_t integers = 0, addresses = 0, types = 0;
  int combiner = MPI_COMBINER_NAMED;
};

// Nothing if the type was built with large counts.
std::optional<Envelope> envelope_of(Datatype type) {
  int combiner = MPI_COMBINER_NAMED;
  // The plain function raises an error for a type that was built with large counts.
  if (host().Type_get_envelope_c != nullptr) {
    Count integers = 0, addresses = 0, large = 0, types = 0;
    if (host().Type_get_envelope_c(type, &integers, &addresses, &large, &types, &combiner) !=
            success ||
        large > 0)
      return std::nullopt;
    return Envelope{static_cast<size_t>(integers), static_cast<size_t>(addresses),
                    static_cast<size_t>(types), combiner};
  }
  int integers = 0, addresses = 0, types = 0;
  if (host().Type_get_envelope(type, &integers, &addresses, &types, &combiner) != success)
    return std::nullopt;
  return Envelope{static_cast<size_t>(integers), static_cast<size_t>(addresses),
                  static_cast<size_t>(types), combiner};
}

bool is_of_f90(int combiner) {
  return combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
         combiner == MPI_COMBINER_F90_INTEGER;
}

// True for the combiners of types that no program may free.
bool is_predefined(int combiner) {
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION > 0)
  if (combiner == MPI_COMBINER_VALUE_INDEX) return true;
#endif
  return combiner == MPI_COMBINER_NAMED || is_of_f90(combiner);
}

// The arguments with which a type was built. Frees the handles of inner types that the host gives
// with them.
class Contents {
 public:
  Contents(Datatype type, const Envelope& envelope)
      : integers_(envelope.integers), addresses_(envelope.addresses), types_(envelope.types) {
    // The host's arrays may not be null.
    integers_.reserve(1);
    addresses_.reserve(1);
    types_.reserve(1);
    if (host().Type_get_contents(type, static_cast<int>(envelope.integers),
                                 static_cast<int>(envelope.addresses),
                                 static_cast<int>(envelope.types), integers_.data(),
                                 addresses_.data(), types_.data()) != success)
      types_.clear();
  }
  ~Contents() {
    for (const MPI_Datatype handle : types_) {
      auto type = house<Datatype>(handle);
      if (named_type(type) != nullptr) continue;
      const auto envelope = envelope_of(type);
      if (!envelope || !is_predefined(envelope->combiner)) host().Type_free(&type);
    }
  }
  Contents(const Contents&) = delete;

  bool given() const { return !types_.empty(); }
  // The integer at a place, as a number of things and as a distance.
  size_t count(size_t at) const { return static_cast<size_t>(integers_[at]); }
  Aint distance(size_t at) const { return integers_[at]; }
  Aint address(size_t at) const { return addresses_[at]; }
  Datatype type(size_t at) const { return house<Datatype>(types_[at]); }
  size_t types() const { return types_.size(); }

 private:
  std::vector<int> integers_;
  std::vector<Aint> addresses_;
  std::vector<MPI_Datatype> types_;
};

// An inner type, from which the outer one is built.
struct Inner {
  StridedLayout layout;
  Aint extent = 0;
};

std::optional<Inner> inner_of(Datatype type) {
  Layout layout = layout_of(type);
  if (!layout) return std::nullopt;
  Aint lower = 0, extent = 0;
  host().Type_get_extent(type, &lower, &extent);
  return Inner{*std::move(layout), extent};
}

// A pair with gaps has the layout of the C struct { value; int index; }.
Layout named_layout(const NamedType& type) {
  if (type.dense) return StridedLayout(type.bytes);
  if (type.kind != TypeClass::pair || !type.kernel || type.bytes <= sizeof(int))
    return std::nullopt;
  const size_t value = type.bytes - sizeof(int);
  const size_t index = (value + alignof(int) - 1) / alignof(int) * alignof(int);
  StridedLayout layout(value);
  if (!layout.append(StridedLayout(sizeof(int)), static_cast<ptrdiff_t>(index)))
    return std::nullopt;
  return layout;
}

// `count` elements, one after another.
Layout run_of(Inner inner, size_t count) {
  if (!inner.layout.repeat(count, inner.extent)) return std::nullopt;
  return std::move(inner.layout);
}

// The constructors of equal blocks at a regular stride, in bytes.
Layout vector_layout(Inner inner, size_t count, size_t length, Aint stride) {
  Layout blocks = run_of(std::move(inner), length);
  if (!blocks || !blocks->repeat(count, stride)) return std::nullopt;
  return blocks;
}

// The constructors of blocks at displacements. length(i) is in elements, place(i) in bytes.
template <class Length, class Place>
Layout blocks_layout(const Inner& inner, size_t count, Length&& length, Place&& place) {
  StridedLayout layout, block;
  size_t repeated = 0;  // in `block`
  for (size_t i = 0; i < count; ++i) {
    if (length(i) == 0) continue;
    if (length(i) != repeated) {
      Layout next = run_of(inner, length(i));
      if (!next) return std::nullopt;
      block = *std::move(next);
      repeated = length(i);
    }
    if (!layout.append(block, place(i))) return std::nullopt;
  }
  return layout;
}

Layout struct_layout(const Contents& contents) {
  StridedLayout layout;
  for (size_t i = 0; i < contents.types(); ++i) {
    if (contents.count(1 + i) == 0) continue;
    const auto inner = inner_of(contents.type(i));
    const Layout block = inner ? run_of(*inner, contents.count(1 + i)) : std::nullopt;
    if (!block || !layout.append(*block, contents.address(i))) return std::nullopt;
  }
  return layout;
}

// The integers are the number of dimensions, then for each dimension the array's size, the part's
// size and the part's first index, then the order.
Layout subarray_layout(Inner inner, const Contents& contents) {
  const size_t dimensions = contents.count(0);
  const bool in_c_order = contents.distance(1 + 3 * dimensions) == MPI_ORDER_C;
  StridedLayout part = std::move(inner.layout);
  Aint stride = inner.extent, start = 0;
  for (size_t i = 0; i < dimensions; ++i) {  // from the dimension that is adjacent in memory
    const size_t dimension = in_c_order ? dimensions - 1 - i : i;
    if (!part.repeat(contents.count(1 + dimensions + dimension), stride)) return std::nullopt;
    start += contents.distance(1 + 2 * dimensions + dimension) * stride;
    stride *= contents.distance(1 + dimension);
  }
  StridedLayout layout;
  if (!layout.append(part, start)) return std::nullopt;
  return layout;
}

// Types with one inner type.
Layout built_layout(int combiner, const Contents& contents) {
  auto inner = inner_of(contents.type(0));
  if (!inner) return std::nullopt;
  const Aint extent = inner->extent;
  const size_t count = contents.count(0);
  switch (combiner) {
    case MPI_COMBINER_CONTIGUOUS: return run_of(*std::move(inner), count);
    case MPI_COMBINER_VECTOR:
      return vector_layout(*std::move(inner), count, contents.count(1),
                           contents.distance(2) * extent);
    case MPI_COMBINER_HVECTOR:
      return vector_layout(*std::move(inner), count, contents.count(1), contents.address(0));
    case MPI_COMBINER_INDEXED:
      return blocks_layout(
          *inner, count, [&](size_t i) { return contents.count(1 + i); },
          [&](size_t i) { return contents.distance(1 + count + i) * extent; });
    case MPI_COMBINER_HINDEXED:
      return blocks_layout(
          *inner, count, [&](size_t i) { return contents.count(1 + i); },
          [&](size_t i) { return contents.address(i); });
    case MPI_COMBINER_INDEXED_BLOCK:
      return blocks_layout(
          *inner, count, [&](size_t) { return contents.count(1); },
          [&](size_t i) { return contents.distance(2 + i) * extent; });
    case MPI_COMBINER_HINDEXED_BLOCK:
      return blocks_layout(
          *inner, count, [&](size_t) { return contents.count(1); },
          [&](size_t i) { return contents.address(i); });
    case MPI_COMBINER_SUBARRAY: return subarray_layout(*std::move(inner), contents);
    default: return std::nullopt;
  }
}

}  // namespace

Layout layout_of(Datatype type) {
  if (const NamedType* const named = named_type(type)) return named_layout(*named);
  const auto envelope = envelope_of(type);
  if (!envelope) return std::nullopt;
  if (is_of_f90(envelope->combiner)) {
    int bytes = 0;
    if (host().Type_size(type, &bytes) != success || bytes < 0) return std::nullopt;
    return StridedLayout(static_cast<size_t>(bytes));
  }
  if (is_predefined(envelope->combiner)) return std::nullopt;
  const Contents contents(type, *envelope);
  if (envelope->combiner == MPI_COMBINER_STRUCT) return struct_layout(contents);
  if (!contents.given()) return std::nullopt;
  if (envelope->combiner == MPI_COMBINER_DUP || envelope->combiner == MPI_COMBINER_RESIZED)
    return layout_of(contents.type(0));
  return built_layout(envelope->combiner, contents);
}

}  // namespace tutti::mpi
