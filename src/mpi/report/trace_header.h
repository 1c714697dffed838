// The header of a trace file (docs/tracing.md): what a reader needs besides the records, as JSON.
//
// Pure but for what it asks of the system about this process. Used inside MPI_Finalize.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mpi/report/clocks.h"
#include "trace/tracer.h"

namespace tutti::mpi {

// One rank: where it ran, its programs and communicators, how much its rings hold. A JSON object.
std::string describe_rank(int rank, std::string_view clock, const trace::Tracer& tracer);

// The whole header, from the descriptions of all ranks in their order. After both readings of the
// clocks, at rank 0.
std::string describe_job(const std::vector<std::string>& ranks, const Clocks& clocks);

}  // namespace tutti::mpi
