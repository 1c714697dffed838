/* Tutti's functions for one-sided transfers, in the library that tutti-run has preloaded: the
 * programs here are not linked to it. */
#ifndef TUTTI_BENCH_FUNCTIONS_H
#define TUTTI_BENCH_FUNCTIONS_H

#include "tutti/mpi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  tutti_status (*group_of_communicator)(uint64_t, tutti_group**);
  void (*group_free)(tutti_group*);
  void* (*alloc)(size_t);
  void (*free)(void*);
  tutti_status (*put)(tutti_group*, int, void*, const void*, size_t, tutti_handle*);
  tutti_status (*get)(tutti_group*, int, void*, const void*, size_t, tutti_handle*);
  tutti_status (*test)(tutti_group*, tutti_handle*, int*);
  tutti_status (*wait)(tutti_group*, tutti_handle*);
  tutti_status (*wait_all)(tutti_group*);
  tutti_status (*fence)(tutti_group*);
  tutti_team* (*node_team)(void);
  tutti_status (*servers_start)(tutti_team*, int, tutti_serve);
  tutti_status (*servers_stop)(tutti_team*);
  int (*servers_count)(const tutti_team*);
  tutti_status (*servers_enable)(tutti_team*);
  tutti_status (*servers_disable)(tutti_team*);
  tutti_status (*servers_wake)(tutti_team*);
  tutti_status (*servers_sleep)(tutti_team*);
  const char* (*error_message)(void);
} Tutti;

/* Ends the job with a line that says what to do if one is missing. */
Tutti tutti_functions(void);
/* Ends the job if a call of Tutti has failed. */
void require_ok(const Tutti* tutti, tutti_status status);

#ifdef __cplusplus
}
#endif

#endif
