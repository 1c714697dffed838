// The programs of the collectives that run by records (plan/record_program.h), for all
// communicators and teams of the process. To make one takes longer than all else that a
// communicator of a few calls needs of its records, so they stay for good. Any thread.
#pragma once

#include "plan/record_program.h"

namespace tutti::records {

// Every rank reads what it needs from the ranks that have it. Throws bad_alloc.
const plan::RecordProgram& program_of(plan::Collective collective, int ranks, int rank, int root);

}  // namespace tutti::records
