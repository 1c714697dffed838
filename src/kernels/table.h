// The tables of kernels, one for each instruction set, and the choice between them.
//
// Private to this room and its tests. A table is a constant in memory, filled by the compiler;
// every variant of an operation gives the same bits, so which table is in use changes speed and
// nothing else. Constant once the library is loaded, so any thread may read.
#pragma once

#include <cstddef>

#include "kernels/kernels.h"

namespace tutti::kernels {

inline constexpr size_t type_count = static_cast<size_t>(Type::count_);
inline constexpr size_t op_count = static_cast<size_t>(Op::count_);

// A null entry: the operation is not defined on the type.
struct Reductions {
  Reduce entry[type_count][op_count];
};

// The long copy: at least copy_stream_least bytes.
using Copy = void (*)(void* dst, const void* src, size_t bytes);
inline constexpr size_t copy_stream_least = 2048;
inline constexpr size_t quarters_least = 8192;

struct Table {
  Reductions reductions;
  Copy copy_stream;
  Copy copy_through;
  Copy copy_in_quarters;
};

struct Variant {
  const char* name;
  const Table* table;
};

// Each lives in its own file, compiled with its own flags.
extern const Table table_baseline;
extern const Table table_avx2;
extern const Table table_avx512;

// The variant of that name, or nullptr where it is not compiled in or this processor cannot run it.
const Variant* find_variant(const char* name);

// What `wish` (the value of TUTTI_ISA, or nullptr) leads to: the variant of that name where it can
// run, else the best that can.
const Variant& choose_variant(const char* wish);

}  // namespace tutti::kernels
