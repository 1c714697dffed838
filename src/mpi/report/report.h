// The report of a job: the tallies of all ranks (report/tally.h), added up and written at
// MPI_Finalize (TUTTI_REPORT, tutti-run --report), or the tally of a rank that calls MPI_Abort. A
// file that cannot be written is reported as an error and ends nothing.
#pragma once

#include <optional>
#include <string>

#include "exec/waiter.h"
#include "report/board.h"

namespace tutti::mpi {

// Collective over MPI_COMM_WORLD, after everything else was recorded. Never waits for a process of
// this node's board that has died. If all ranks share the board, the last one that comes writes,
// and `hook` drives the host while the others wait for it. Else rank 0 writes or, if a process of a
// board has died, one rank of its node, for those of the node that have come. False if the wait has
// taken as long as the watchdog allows and TUTTI_STALL=abort; what is known here is then written.
bool write_report(const std::string& destination, const std::string& why_no_team,
                  std::optional<report::Board> board, int ranks_of_board,
                  const exec::ProgressHook& hook);

// For processes that have sessions and no MPI_COMM_WORLD: the first session begins, and the last
// one has ended. Both wait for nobody. The process after which no other one of its node has
// sessions writes the report, of that node. `ranks`: of the job.
void enter_report_of_sessions(int ranks);
void write_report_of_sessions(const std::string& destination);
// The program calls MPI_Init after all, so there is no such report.
void leave_report_of_sessions();

// Not collective: writes this rank's numbers only. If several ranks of a node call it, the first
// one writes.
void write_own_report(const std::string& destination, const std::string& why_no_team);

}  // namespace tutti::mpi
