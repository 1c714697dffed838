/* The operations of a cell in its form: blocking, non-blocking or persistent (kinds.h).
 *
 * A cell in another form than blocking has one operation under way at most, in its `request`. One
 * thread uses it. A persistent operation is made when the form is opened, and it and the cell's
 * arrays live until the form is closed; cells on the same buffers may have one each, if they take
 * turns. */
#ifndef TUTTI_BENCH_FORMS_H
#define TUTTI_BENCH_FORMS_H

#include "collectives.h"

/* True if the MPI that the program runs with has the function for this form of the collective. */
bool form_exists(BenchCollective collective, BenchForm form);

/* All ranks of the cell's communicator call both. The form exists. */
void form_open(Cell* cell);
void form_close(Cell* cell);

/* Start and completion of one operation. The first does all of a blocking one. */
void form_start(Cell* cell);
void form_finish(Cell* cell);

#endif
