// The tables of folds, one for each instruction set. Internal to this room and its tests.
// Constants, for any thread.
#pragma once

#include <cstddef>

#include "kernels/fold.h"
#include "kernels/table.h"

namespace tutti::kernels {

// Folds serve the first types, up to complex160.
inline constexpr size_t fold_types = static_cast<size_t>(Type::complex160) + 1;

// An entry is null if the operation is not defined on the type.
struct Folds {
  Fold entry[fold_types][op_count];
};

// The bytes of a row, which has an element for each lane, and the numbers in a row of long doubles.
inline constexpr size_t fold_row_bytes = 256;
inline constexpr size_t fold_long_numbers = 4;

// Each is defined in its own file, which is compiled with its own flags.
extern const Folds folds_baseline;
extern const Folds folds_avx2;
extern const Folds folds_avx512;

// The folds of the variant of that name (table.h); nullptr if it is not compiled in or this
// processor cannot run it.
const Folds* find_folds(const char* name);

}  // namespace tutti::kernels
