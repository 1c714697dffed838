/* Calls of Tutti's API by the programs that measure. */
#ifndef TUTTI_BENCH_REQUIRE_H
#define TUTTI_BENCH_REQUIRE_H

#include "tutti/tutti.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ends the program, as it ends with any error, if a call has failed. Each program defines it. */
void require_ok(tutti_status status);

#ifdef __cplusplus
}
#endif

#endif
