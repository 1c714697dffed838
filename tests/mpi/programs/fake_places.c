// A library that comes before the system's: ranks may run on eight processors, and each seems to
// run on the one of its rank in PLACES, such as 0,4,1,5.
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <string.h>

int sched_getcpu(void) {
  const char* rank = getenv("PMI_RANK");
  if (rank == NULL) rank = getenv("OMPI_COMM_WORLD_RANK");
  const char* place = getenv("PLACES");
  if (rank == NULL || place == NULL) return -1;
  for (int before = atoi(rank); before > 0 && place != NULL; --before) {
    place = strchr(place, ',');
    if (place != NULL) ++place;
  }
  return place == NULL ? -1 : atoi(place);
}

int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t* set) {
  (void)process;
  memset(set, 0, bytes);
  memset(set, 0xff, 1);
  return 0;
}
