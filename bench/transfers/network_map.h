/* Writes the saturation map of a network (rma/saturation.h), for programs in C. */
#ifndef TUTTI_BENCH_NETWORK_MAP_H
#define TUTTI_BENCH_NETWORK_MAP_H

#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { network_map_most = 32 }; /* numbers of an axis */

typedef struct {
  size_t count;
  size_t numbers[network_map_most]; /* in ascending order */
} NetworkMapAxis;

typedef struct {
  const char* mpi; /* the host, for people */
  NetworkMapAxis cores, messages, bytes;
  const double *puts, *gets; /* GB/s by cores, then messages, then bytes */
} NetworkMap;

/* One line of JSON, with what follows from the map as "under_way". */
void network_map_write(const NetworkMap* map, FILE* file);

#ifdef __cplusplus
}
#endif

#endif
