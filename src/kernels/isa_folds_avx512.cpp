#include "kernels/fold.inc.h"

namespace tutti::kernels {

constinit const Folds folds_avx512 = make_folds();

}  // namespace tutti::kernels
