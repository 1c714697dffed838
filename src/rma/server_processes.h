// Servers as processes of their own.
//
// The process that starts them, their owner, tells each in shared memory where the domain and the
// memory of the ranks are (rma/server_order.h). The program tutti-server maps both, and uses the
// system's copies for all other memory. It is no child of the owner (base/detached.h), inherits
// none of its descriptors, has all signals blocked, and ends when the owner ends, however that
// happens. So neither the program nor its launcher notices it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "rma/domain.h"
#include "rma/server_settings.h"
#include "shm/heap.h"
#include "shm/segment.h"

namespace tutti::rma {

// How servers reach the memory of one rank.
struct RankMemory {
  shm::Heap::Location heap{};  // its `bytes` is 0: servers do not map a heap
  uint64_t heap_base = 0;      // where the heap is in the rank's process
  int64_t process = 0;         // for the system's copies; 0: these are not used
};

// The files that servers need.
struct ServerHome {
  std::string program;             // the path of tutti-server
  shm::Segment::Location segment;  // with the domain's memory,
  uint64_t offset = 0;             // from so many bytes after its start on
  // Indexed by rank; client c of the domain belongs to rank c % ranks.
  std::vector<RankMemory> ranks{};
  int owner = 0;  // the rank that starts the servers
};

// Runs servers of a domain from its construction to its destruction.
class ServerProcesses {
 public:
  // Returns when all servers run. Throws Error(unavailable), with the reason, if one of them cannot
  // be started or cannot reach the memory; none runs then, and the places stay claimed if the
  // caller has claimed them. The domain's memory outlives the servers.
  ServerProcesses(const Domain& domain, const ServerHome& home, const ServerSettings& settings);
  // Stops them. All that was handed over before is done then, unless a server is stopped by a
  // signal: it is killed, and its clients do the rest.
  ~ServerProcesses();
  ServerProcesses(const ServerProcesses&) = delete;

  int32_t count() const { return static_cast<int32_t>(started_.size()); }

 private:
  void stop_all();

  const Domain domain_;
  const pid_t made_by_;
  std::vector<Started> started_;
};

// For tutti-server: the server that the order in this descriptor describes. Returns the exit code
// when the server was asked to stop; ends the process when the owner ends.
int run_ordered_server(int descriptor);

}  // namespace tutti::rma
