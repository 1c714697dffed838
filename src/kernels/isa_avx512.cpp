#include "kernels/copy.inc.h"
#include "kernels/reduce.inc.h"
#include "kernels/reduce_all.inc.h"

namespace tutti::kernels {

constinit const KernelTable table_avx512 = {make_reductions(), make_reductions_of_all(),
                                            copy_stream, copy_lines_through, copy_in_quarters};

}  // namespace tutti::kernels
