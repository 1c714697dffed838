#include "kernels/kernels.h"

#include <cstdlib>
#include <cstring>
#include <iterator>

#include "kernels/table.h"

namespace tutti::kernels {
namespace {

// The best comes first. The processor and the operating system must support each but the last.
constexpr Variant variants[] = {
#if defined(__x86_64__)
    {"avx512", &table_avx512},
    {"avx2", &table_avx2},
#endif
    {"baseline", &table_baseline},
};

bool runs_here(const Variant& variant) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (variant.table == &table_avx512)
    return __builtin_cpu_supports("f16c") && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
  if (variant.table == &table_avx2)
    return __builtin_cpu_supports("f16c") && __builtin_cpu_supports("avx2");
#endif
  return variant.table == &table_baseline;
}

// It is valid before any constructor runs, so that other files may look up kernels while they are
// initialised.
constinit const Variant* active = std::end(variants) - 1;

// It reads the environment itself, because base/options may throw for malformed values and loading
// a library must not.
[[gnu::constructor]] void choose_when_loaded() {
  active = &choose_variant(std::getenv("TUTTI_ISA"));
}

}  // namespace

const Variant* find_variant(const char* name) {
  for (const Variant& variant : variants)
    if (std::strcmp(variant.name, name) == 0 && runs_here(variant)) return &variant;
  return nullptr;
}

const Variant& choose_variant(const char* wish) {
  if (wish != nullptr)
    if (const Variant* wished = find_variant(wish)) return *wished;
  const Variant* best = std::begin(variants);
  while (!runs_here(*best)) ++best;
  return *best;
}

void copy_from_other(void* dst, const void* src, size_t bytes) {
  if (bytes < quarters_least) return copy(dst, src, bytes);
  active->table->copy_in_quarters(dst, src, bytes);
}

void copy_through(void* dst, const void* src, size_t bytes) {
  active->table->copy_through(dst, src, bytes);
}

size_t size(Type type) {
  struct Int16Int {
    int16_t value;
    int index;
  };
  struct Int32Int {
    int32_t value;
    int index;
  };
  struct Int64Int {
    int64_t value;
    int index;
  };
  struct Float32Int {
    float value;
    int index;
  };
  struct Float64Int {
    double value;
    int index;
  };
  struct Float80Int {
    long double value;
    int index;
  };
  switch (type) {
    case Type::int8:
    case Type::uint8:
    case Type::bool8:
    case Type::logical8:
    case Type::byte: return 1;
    case Type::int16:
    case Type::uint16:
    case Type::logical16: return 2;
    case Type::int32:
    case Type::uint32:
    case Type::logical32:
    case Type::float32: return 4;
    case Type::int64:
    case Type::uint64:
    case Type::logical64:
    case Type::float64: return 8;
    case Type::float80: return sizeof(long double);
    case Type::complex64: return 2 * sizeof(float);
    case Type::complex128: return 2 * sizeof(double);
    case Type::complex160: return 2 * sizeof(long double);
    case Type::int16_int: return sizeof(Int16Int);
    case Type::int32_int: return sizeof(Int32Int);
    case Type::int64_int: return sizeof(Int64Int);
    case Type::float32_int: return sizeof(Float32Int);
    case Type::float64_int: return sizeof(Float64Int);
    case Type::float80_int: return sizeof(Float80Int);
    case Type::float32_float32: return 2 * sizeof(float);
    case Type::float64_float64: return 2 * sizeof(double);
    case Type::count_: break;
  }
  return 0;
}

Reduce find_reduce(Type type, Op op) {
  if (type >= Type::count_ || op >= Op::count_) return nullptr;
  return active->table->reductions.entry[static_cast<size_t>(type)][static_cast<size_t>(op)];
}

ReduceAll find_reduce_all(WholeType type, Op op) {
  static_assert(static_cast<size_t>(Op::min) + 1 == whole_op_count);
  if (type >= WholeType::count_ || op > Op::min) return nullptr;
  return active->table->reductions_of_all.entry[static_cast<size_t>(type)][static_cast<size_t>(op)];
}

size_t size(WholeType type) {
  constexpr size_t sizes[whole_type_count] = {2, 2, 4, 8};
  return type < WholeType::count_ ? sizes[static_cast<size_t>(type)] : 0;
}

const char* isa() { return active->name; }

void copy_long(void* dst, const void* src, size_t bytes) {
  if (bytes < copy_stream_least)
    std::memmove(dst, src, bytes);  // as fast as memcpy, and dst may be src
  else
    active->table->copy_stream(dst, src, bytes);
}

}  // namespace tutti::kernels
