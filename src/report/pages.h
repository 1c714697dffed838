// The pages of a report: the numbers of some ranks, added up, as a table or as JSON.
//
// Functions of the numbers that they are given; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/tally.h"

namespace tutti::report {

// The contents of a report. It refers to the caller's objects and lives while the report is
// written.
struct Report {
  const Numbers& total;
  const AlgorithmNames& algorithms;
  const Most& most;
  std::string_view mpi;                           // the host MPI's ABI
  const std::string& why_no_team;                 // why Tutti is off on this node; empty: it is on
  const std::vector<std::string>& refused_plans;  // select::refusals()
  int ranks = 0;                                  // the ranks of the job
  // The rank that ended the job by MPI_Abort, whose own numbers these are; -1: none did.
  int aborted_by = -1;
  Found found{};  // the finds of the process that writes
  // The ranks whose numbers are not in it, because processes have ended before they left theirs.
  std::vector<int> missing{};
  // The ranks whose numbers it has, if they are those of one node of several; empty: all.
  std::vector<int> of_node{};
};

// Writes to stderr (destination 1 or -) or into a file, as JSON if its name ends in .json. Logs an
// error if the file cannot be written.
void write_pages(const std::string& destination, const Report& report);

}  // namespace tutti::report
