#include "mpi/requests/neighbours.h"

#include <chrono>

#include "mpi/collectives/general.h"
#include "mpi/communicators/topology.h"
#include "mpi/requests/requests.h"
#include "report/tally.h"

namespace tutti::mpi {
namespace {

using Clock = std::chrono::steady_clock;

// For the report and traces: the bytes of this rank's first block that has data, to or from a
// neighbour. Counts and types of blocks beyond the rank's edges do not exist.
size_t bytes_of_first_block(const Call& call, MPI_Comm comm) {
  const auto neighbourhood = neighbourhood_of(comm);
  if (!neighbourhood) return 0;
  const auto first_of = [](const Side& side, size_t blocks) -> size_t {
    for (size_t i = 0; i < blocks; ++i)
      if (side.count_of(i) > 0 && side.type_of(i) != host().type_null)
        return bytes_of(side.count_of(i), side.type_of(i));
    return 0;
  };
  const size_t sent =
      first_of(call.in, plan::parted_in(call.collective) ? neighbourhood->destinations.size() : 1);
  return sent != 0 ? sent : first_of(call.out, neighbourhood->sources.size());
}

// Makes a call by the host's function `make` and returns its code. If it has succeeded, calls
// note(RECORD) with what the report says about it, provided that there is a report.
template <class Make, class Note>
int by_host(const Call& call, MPI_Comm comm, Make&& make, Note&& note) {
  const auto begin = report::recording() ? Clock::now() : Clock::time_point{};
  const uint64_t entry = tracer() != nullptr ? trace::ticks() : 0;
  int code = MPI_SUCCESS;
  {
    const Inside inside;  // some hosts call MPI_* themselves
    code = make();
  }
  if (code != MPI_SUCCESS || (!report::recording() && tracer() == nullptr)) return code;
  report::Record record;
  record.collective = call.collective;
  record.neighbourhood = true;
  if (report::recording()) record.time = Clock::now() - begin;
  record.reason = has_one_rank(comm) ? Reason::one_rank : Reason::neighbourhood;
  record.bytes = bytes_of_first_block(call, comm);
  if (tracer() != nullptr)
    trace_host_call(entry, call.collective, record.reason, record.bytes, call.root);
  if (report::recording()) note(record);
  return code;
}

// Counts a call of the host's among the first calls of a communicator.
int counted_unless_refused(Communicator& communicator, const Call& call, MPI_Comm comm, int code) {
  if (communicator.is_decided() || (code == MPI_SUCCESS && host_refuses(comm, call))) return code;
  return counted(communicator, code);
}

}  // namespace

int serve_neighbours(const Call& call, MPI_Comm comm) {
  const Found found = find(comm);
  if (found.code != MPI_SUCCESS) return found.code;
  if (found.communicator == nullptr) return call_host(call, comm);
  return guarded(comm, [&] {
    const int code = by_host(call, comm, [&] { return call_host(call, comm); }, report::record);
    return counted_unless_refused(*found.communicator, call, comm, code);
  });
}

int start_neighbours(const Call& call, MPI_Comm comm, MPI_Request* request) {
  if (host().foreign || Inside::depth != 0) return call_host(call, comm, request);
  return guarded(comm, [&] {
    return by_host(call, comm, [&] { return call_host(call, comm, request); }, report::record);
  });
}

int neighbours_init(const Call& call, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const Found found = find(comm);
  if (found.code != MPI_SUCCESS) return found.code;
  if (found.communicator == nullptr) return call_host(call, comm, info, request);
  return guarded(comm, [&] {
    const int code = by_host(
        call, comm, [&] { return call_host(call, comm, info, request); },
        [&](const report::Record& record) { note_hosts_request(*request, record); });
    return counted_unless_refused(*found.communicator, call, comm, code);
  });
}

}  // namespace tutti::mpi
