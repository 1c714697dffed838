// HOST(Allreduce) is the host MPI's own PMPI_Allreduce. Under Tutti the name PMPI_Allreduce is
// Tutti's, too, so the function comes from the host's library. check.h comes first.
#pragma once

#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static inline void* function_of_host(const char* name) {
  static void* library;
  Dl_info of_host;
  if (library == NULL) {
    // Tutti does not define this one.
    void* const any = dlsym(RTLD_DEFAULT, "PMPI_Get_version");
    if (any != NULL && dladdr(any, &of_host) != 0)
      library = dlopen(of_host.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }
  void* const function = library == NULL ? NULL : dlsym(library, name);
  if (function == NULL) {
    fprintf(stderr, "the host MPI has no %s\n", name);
    abort();
  }
  return function;
}

#define HOST(name) ((__typeof__(&PMPI_##name))function_of_host("PMPI_" #name))
