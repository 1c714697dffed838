#include "kernels/fold.inc.h"

namespace tutti::kernels {

constinit const Folds folds_baseline = make_folds();

}  // namespace tutti::kernels
