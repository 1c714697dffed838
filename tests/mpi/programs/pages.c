// A rank whose first long calls only read touches the pages of its slots in a few large steps, not
// one page in each later call. The test counts the calls that touch any new page, because each such
// call takes microseconds longer.
#include <sys/resource.h>

#include "check.h"

static long faults(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_minflt;
}

int main(int argc, char** argv) {
  enum { doubles = 512, calls = 100 };
  static double in[doubles], out[doubles];
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  for (int i = 0; i < doubles; ++i) in[i] = out[i] = 1;
  for (int call = 0; call < 4; ++call) MPI_Bcast(out, doubles, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  for (int call = 0; call < 4; ++call)
    MPI_Allreduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  int slow = 0;
  for (int call = 0; call < calls; ++call) {
    const long before = faults();
    MPI_Allreduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    slow += faults() > before;
  }
  // Other ranks' slots are mapped when they are read, several pages with each fault.
  CHECK(slow < calls / 2, "%d of %d calls of 4 KiB had faults", slow, (int)calls);
  return finish();
}
