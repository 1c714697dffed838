// What a report is made of: the numbers of some ranks, added up, and the pages that show them.
// Internal to the report.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "mpi/report/report.h"
#include "plan/plan.h"

namespace tutti::mpi {

// Rows of sizes: up to each of these bytes, the last without bound.
inline constexpr std::array<uint64_t, 9> size_limits{0,     8,      64,      512,       4096,
                                                     32768, 262144, 2097152, UINT64_MAX};
inline constexpr size_t row_count = plan::collective_count * size_limits.size();
inline constexpr size_t reason_count = static_cast<size_t>(Reason::count_);

// Plain numbers, so that ranks can be added up by one reduction.
struct ReportRow {
  uint64_t calls = 0;
  uint64_t host_calls = 0;
  uint64_t bytes = 0;
  uint64_t nanoseconds = 0;
  uint64_t host_nanoseconds = 0;
};
struct ReportNumbers {
  std::array<ReportRow, row_count> rows{};
  std::array<uint64_t, reason_count> reasons{};
  Sent across, within;  // nodes; by Tutti's messages
  Sent led;             // the host's collectives among leaders: calls, and bytes of their vectors
};
inline constexpr int number_count = static_cast<int>(sizeof(ReportNumbers) / sizeof(uint64_t));

using AlgorithmNames = std::array<std::string, row_count>;  // in the order met, with commas

// What a report tells, for the time of its writing.
struct Report {
  const ReportNumbers& total;
  const AlgorithmNames& algorithms;
  const std::string& why_no_team;
  int ranks = 0;  // of the job
  int aborted_by =
      -1;  // the rank that ended the job by MPI_Abort, whose own numbers these are; -1: none did
};

// To stderr (1 or -) or into a file, as JSON where its name ends so. A file that cannot be written
// is said.
void write_pages(const std::string& destination, const Report& report);

}  // namespace tutti::mpi
