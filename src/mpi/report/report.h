// The report of a job: the tallies of all ranks (report/tally.h), added up and written at
// MPI_Finalize (TUTTI_REPORT, tutti-run --report), or the tally of a rank that calls MPI_Abort. A
// file that cannot be written is reported as an error and ends nothing.
#pragma once

#include <string>

namespace tutti::mpi {

// Collective over MPI_COMM_WORLD, after everything else was recorded; rank 0 writes.
void write_report(const std::string& destination, const std::string& why_no_team);

// Not collective: writes this rank's numbers only. Of several ranks of a node that call it, the
// first one writes.
void write_own_report(const std::string& destination, const std::string& why_no_team);

}  // namespace tutti::mpi
