#include "kernels/fold.inc.h"

namespace tutti::kernels {

constinit const Folds folds_avx2 = make_folds();

}  // namespace tutti::kernels
