// Reductions that the loop over steps does not do inline: of more than two sources, or by MPI's own
// function.
#pragma once

#include <cstddef>

#include "exec/executor.h"

namespace tutti::exec {

// dst = sources[0] op sources[1] op ... over `bytes`, in this order. dst may be any of the sources.
// Kernels fold from the left, strip by strip, so that partial results stay in the first-level
// cache; `apply` folds from the right, because MPI's functions accumulate into their right operand.
// Either way all ranks evaluate the same expression.
void combine(const Combine& how, void* dst, const void* const* sources, int count, size_t bytes);

}  // namespace tutti::exec
