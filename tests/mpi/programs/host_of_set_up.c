// A library that is preloaded and names each blocking collective of the host that set-up may call.
// It is named like an MPI's library and defines PMPI_Init, so Tutti takes it and what it needs for
// the host. If REFUSE_RANK is the number of this process, other processes' descriptors cannot be
// opened.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

#include "host.h"

int PMPI_Init(int* argc, char*** argv) { return HOST(Init)(argc, argv); }

#define NAMED(name, parameters, arguments)                                \
  int name parameters {                                                   \
    int(*next) parameters;                                                \
    *(void**)&next = function_of_host(#name);                             \
    int ranks;                                                            \
    PMPI_Comm_size(comm, &ranks);                                         \
    if (ranks > 1) fprintf(stderr, "the host was asked for %s\n", #name); \
    return next arguments;                                                \
  }

NAMED(PMPI_Barrier, (MPI_Comm comm), (comm))
NAMED(PMPI_Bcast, (void* data, int n, MPI_Datatype type, int root, MPI_Comm comm),
      (data, n, type, root, comm))
NAMED(PMPI_Allreduce,
      (const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      (in, out, n, type, op, comm))
NAMED(PMPI_Allgather,
      (const void* in, int n, MPI_Datatype type, void* out, int out_n, MPI_Datatype out_type,
       MPI_Comm comm),
      (in, n, type, out, out_n, out_type, comm))
NAMED(PMPI_Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made),
      (comm, type, key, info, made))

int open(const char* path, int flags, ...) {
  static int (*next)(const char*, int, ...);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "open");
  va_list rest;
  va_start(rest, flags);
  const unsigned mode = flags & O_CREAT ? va_arg(rest, unsigned) : 0;
  va_end(rest);
  const char* const refused = getenv("REFUSE_RANK");
  const char* own = getenv("PMI_RANK");
  if (own == NULL) own = getenv("OMPI_COMM_WORLD_RANK");
  if (refused != NULL && own != NULL && strcmp(refused, own) == 0 &&
      strncmp(path, "/proc/", 6) == 0 && strstr(path, "/fd/") != NULL) {
    errno = EACCES;
    return -1;
  }
  return next(path, flags, mode);
}
