// The job's table, if it was found and not named (select/found_table.h).
//
// Rank 0 of MPI_COMM_WORLD looks for it in MPI_Init and gives its text to all others. They read
// this text and no file, so all ranks of all nodes have the same rules. The table is set before the
// first communicator sets up. It is constant then and lives to the end of the process; any thread
// may read it. It serves communicators whose ranks are all of MPI_COMM_WORLD, because all of these
// ranks have it; sessions' other communicators, and those with spawned processes, have the default.
#pragma once

#include <cstdint>
#include <string>

#include "select/select.h"

namespace tutti::mpi {

// For rank 0: the table's file and its text, in one string for share_table; empty if none was
// found, or if TUTTI_TABLE names one, or none. Logs a line about each broken table.
std::string look_for_table();

// Collective over MPI_COMM_WORLD: sets the table that `found` holds at rank 0, and whose bytes all
// ranks know.
void share_table(std::string found, uint64_t bytes);

// The rules of a communicator. `of_world`: all of its ranks are of MPI_COMM_WORLD.
select::Overrides overrides_of_job(bool of_world);
// The table among them; null: none.
const select::Table* table_of_job(bool of_world);

}  // namespace tutti::mpi
