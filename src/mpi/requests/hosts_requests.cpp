#include "mpi/requests/hosts_requests.h"

#include <mutex>
#include <unordered_map>

#include "mpi/collectives/general.h"
#include "mpi/communicators/topology.h"
#include "mpi/host/inside.h"

namespace tutti::mpi {
namespace {

// Persistent requests of the host, while calls are recorded.
struct Table {
  std::mutex mutex;
  std::unordered_map<uint64_t, report::Record> by_host;  // indexed by the program's handle
};

// Never destroyed: exit handlers may still call MPI.
Table& table() {
  static Table& made = *new Table;
  return made;
}

uint64_t key_of(Request request) { return (uint64_t)request; }

// The bytes of this rank's first block that has data, to or from a neighbour. Counts and types of
// blocks beyond the rank's edges do not exist.
size_t bytes_of_first_block(const Call& call, Comm comm) {
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

}  // namespace

int by_host(const Call& call, Comm comm, Reason reason, const std::function<int()>& make,
            const std::function<void(const report::Record&)>& note) {
  const Stopwatch stopwatch(report::recording());
  const uint64_t entry = tracer() != nullptr ? trace::ticks() : 0;
  int code = success;
  {
    const Inside inside;  // some hosts call MPI_* themselves
    code = make();
  }
  const bool among_neighbours = call.on_neighbourhood();
  if ((!report::recording() && tracer() == nullptr) || (among_neighbours && code != success))
    return code;
  report::Record record{.collective = call.collective, .reason = reason};
  if (report::recording()) record.time = stopwatch.read();
  record.neighbourhood = among_neighbours;
  record.bytes = among_neighbours ? bytes_of_first_block(call, comm) : bytes_to_report(call);
  if (among_neighbours && has_one_rank(comm)) record.reason = Reason::one_rank;
  if (tracer() != nullptr)
    trace_host_call(entry, call.collective, record.reason, record.bytes, call.root);
  if (report::recording() && code == success) note(record);
  return code;
}

void note_hosts_request(Request request, const report::Record& call) noexcept {
  try {
    const std::lock_guard<std::mutex> lock(table().mutex);
    table().by_host[key_of(request)] = call;
    shm::store_relaxed(hosts_requests, table().by_host.size());
  } catch (...) {  // memory ran out; the report then lacks its starts
  }
}

void forget_hosts_request(Request request) {
  const std::lock_guard<std::mutex> lock(table().mutex);
  table().by_host.erase(key_of(request));
  shm::store_relaxed(hosts_requests, table().by_host.size());
}

void record_hosts_start(Request request, const TimeSpent& time) {
  report::Record call;
  {
    const std::lock_guard<std::mutex> lock(table().mutex);
    const auto found = table().by_host.find(key_of(request));
    if (found == table().by_host.end()) return;
    call = found->second;
  }
  call.time = time;
  report::record(call);
}

}  // namespace tutti::mpi
