// The tables of kernels, one for each instruction set, and the choice between them. Internal to
// this room and its tests.
//
// A table is a constant that the compiler fills. Every variant of an operation gives the same bits,
// so the choice of the table changes speed and nothing else. The choice is constant once the
// library is loaded, so any thread may read it.
#pragma once

#include <cstddef>

#include "kernels/kernels.h"

namespace tutti::kernels {

inline constexpr size_t type_count = static_cast<size_t>(Type::count_);
inline constexpr size_t op_count = static_cast<size_t>(Op::count_);

// An entry is null if the operation is not defined on the type.
struct Reductions {
  Reduce entry[type_count][op_count];
};

inline constexpr size_t whole_type_count = static_cast<size_t>(WholeType::count_);
inline constexpr size_t whole_op_count = 4;  // sum, prod, max, min

struct ReductionsOfAll {
  ReduceAll entry[whole_type_count][whole_op_count];
};

// copy_stream needs at least copy_stream_least bytes, copy_in_quarters at least quarters_least.
using Copy = void (*)(void* dst, const void* src, size_t bytes);
inline constexpr size_t copy_stream_least = 2048;
inline constexpr size_t quarters_least = 8192;

struct KernelTable {
  Reductions reductions;
  ReductionsOfAll reductions_of_all;
  Copy copy_stream;
  Copy copy_through;
  Copy copy_in_quarters;
};

struct Variant {
  const char* name;
  const KernelTable* table;
};

// Each is defined in its own file, which is compiled with its own flags.
extern const KernelTable table_baseline;
extern const KernelTable table_avx2;
extern const KernelTable table_avx512;

// The variant of that name; nullptr if it is not compiled in or this processor cannot run it.
const Variant* find_variant(const char* name);

// The variant named `wish` (the value of TUTTI_ISA, or nullptr) if this processor can run it, else
// the best variant that it can run.
const Variant& choose_variant(const char* wish);

}  // namespace tutti::kernels
