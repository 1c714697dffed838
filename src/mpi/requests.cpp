#include "mpi/requests.h"

#include <mutex>
#include <unordered_map>
#include <utility>

namespace tutti::mpi {
namespace {

struct Table {
  std::mutex mutex;
  std::unordered_map<uint64_t, std::unique_ptr<Persistent>> requests;  // by the program's handle
  std::unordered_map<uint64_t, Record> by_host;  // made by the host, while calls are recorded
};

// Never destroyed: exit handlers may still call MPI.
Table& table() {
  static Table& made = *new Table;
  return made;
}

uint64_t key_of(MPI_Request request) { return (uint64_t)request; }

template <class Do>
void for_own(int count, const MPI_Request* requests, Do what) {
  for (int i = 0; i < count && requests != nullptr; ++i)
    if (Persistent* const own = own_request(requests[i])) what(*own, requests[i]);
}

using State = Persistent::State;

}  // namespace

int note_request(std::unique_ptr<Persistent> persistent, MPI_Request* request) {
  static char nothing = 0;
  const int code =
      host().Send_init(&nothing, 0, host().type_byte, 0, 0, persistent->loopback(), request);
  if (code != MPI_SUCCESS) return code;
  const std::lock_guard<std::mutex> lock(table().mutex);
  table().requests[key_of(*request)] = std::move(persistent);
  shm::store_relaxed(own_requests, table().requests.size());
  return MPI_SUCCESS;
}

std::unique_ptr<Persistent> forget_request(MPI_Request request) {
  const std::lock_guard<std::mutex> lock(table().mutex);
  const auto found = table().requests.find(key_of(request));
  if (found == table().requests.end()) return nullptr;
  std::unique_ptr<Persistent> forgotten = std::move(found->second);
  table().requests.erase(found);
  shm::store_relaxed(own_requests, table().requests.size());
  return forgotten;
}

Persistent* own_request(MPI_Request request) {
  const std::lock_guard<std::mutex> lock(table().mutex);
  const auto found = table().requests.find(key_of(request));
  return found == table().requests.end() ? nullptr : found->second.get();
}

void note_hosts_request(MPI_Request request, const Record& call) noexcept {
  try {
    const std::lock_guard<std::mutex> lock(table().mutex);
    table().by_host[key_of(request)] = call;
    shm::store_relaxed(hosts_requests, table().by_host.size());
  } catch (...) {  // memory ran out; the report then lacks its starts
  }
}

void forget_hosts_request(MPI_Request request) {
  const std::lock_guard<std::mutex> lock(table().mutex);
  table().by_host.erase(key_of(request));
  shm::store_relaxed(hosts_requests, table().by_host.size());
}

void record_hosts_start(MPI_Request request, std::chrono::nanoseconds time) {
  Record call;
  {
    const std::lock_guard<std::mutex> lock(table().mutex);
    const auto found = table().by_host.find(key_of(request));
    if (found == table().by_host.end()) return;
    call = found->second;
  }
  call.time = time;
  record(call);
}

MPI_Request no_request() {
  static const MPI_Request null = MPI_REQUEST_NULL;
  return null;
}

int start(MPI_Request* request) {
  Persistent* const own = has_own_requests() ? own_request(*request) : nullptr;
  return own != nullptr ? own->start()
                        : start_by_host(*request, [&] { return host().Start(request); });
}

int start_all(int count, MPI_Request* requests) {
  if ((!has_own_requests() && !records_starts()) || requests == nullptr)
    return host().Startall(count, requests);
  for (int i = 0; i < count; ++i)
    if (const int code = start(&requests[i]); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}

int free_request(MPI_Request* request) {
  const std::unique_ptr<Persistent> ended = has_own_requests() ? forget_request(*request) : nullptr;
  if (records_starts()) forget_hosts_request(*request);
  return host().Request_free(request);
}

int complete_own(int count, const MPI_Request* requests) {
  int code = MPI_SUCCESS;
  for_own(count, requests, [&](Persistent& own, MPI_Request) {
    if (code == MPI_SUCCESS && own.state() == State::pending) code = own.complete();
    if (own.state() == State::taken) own.set_idle();
  });
  return code;
}

Left take_own(int count, const MPI_Request* requests) {
  Left left;
  Persistent* late = nullptr;
  for_own(count, requests, [&](Persistent& own, MPI_Request) {
    if (left.code != MPI_SUCCESS || own.state() != State::pending) return;
    if (own.all_started()) {
      left.code = own.complete();
    } else {
      late = &own;
      ++left.count;
    }
  });
  if (late != nullptr) late->drive_host();
  return left;
}

Left show_own(int count, const MPI_Request* requests) {
  Left left = take_own(count, requests);
  for_own(count, requests, [&](Persistent& own, MPI_Request request) {
    if (left.code == MPI_SUCCESS && own.state() == State::taken) left.code = own.show(request);
  });
  return left;
}

void note_told(int count, const MPI_Request* requests) {
  for_own(count, requests, [](Persistent& own, MPI_Request) {
    if (own.state() == State::taken) own.set_idle();
  });
}

}  // namespace tutti::mpi
