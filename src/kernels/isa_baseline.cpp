#include "kernels/copy.inc.h"
#include "kernels/reduce.inc.h"

namespace tutti::kernels {

constinit const KernelTable table_baseline = {make_reductions(), copy_stream, copy_lines_through,
                                              copy_in_quarters};

}  // namespace tutti::kernels
