#include "mpi/requests/hosts_requests.h"

#include <mutex>
#include <unordered_map>

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

}  // namespace

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
