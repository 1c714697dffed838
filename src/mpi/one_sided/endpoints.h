// The endpoints of this process's servers: for each a communicator, on which it meets the servers
// with its number in the domains of other nodes.
//
// They are made once in a job, inside the first call that makes a group of all ranks of
// MPI_COMM_WORLD on several nodes, if servers are asked for as threads and the host permits calls
// by several threads at once. Server n of a domain is in the process that TUTTI_SERVERS gives it
// to (server_of). All ranks compute from the same table who answers for whom. While a server does
// not run, the thread of its process that drives collectives (mpi/job/servers.h) has its endpoint.
//
// They end inside MPI_Finalize, when all ranks have ended their transfers.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "exec/lane.h"
#include "mpi/host/host.h"
#include "mpi/host/private_communicator.h"
#include "mpi/one_sided/host_wire.h"
#include "rma/endpoint.h"

namespace tutti::mpi {

// A domain's servers are spread over its processes in their order: server n of `count` is in this
// one.
constexpr int server_of(int server, int processes) { return server % processes; }

class Endpoints {
 public:
  // Where a rank is, by which the others find who answers for it.
  struct Place {
    int32_t node = 0;    // the first rank of MPI_COMM_WORLD on the rank's node
    int32_t member = 0;  // its number among the node's processes
    int32_t domain = 0;  // its domain there
  };
  using FindPlace = std::function<void(Place*, rma::Endpoint::Memory*)>;
  // Collective over a communicator of all ranks of MPI_COMM_WORLD, of which this is `rank` there.
  // `servers`: of each domain. `find_place` says where this rank is, and the memory that it
  // reaches. Null at all ranks if the host does not permit it, or has no communicators left. Throws
  // at all ranks if memory runs out at one.
  static std::unique_ptr<Endpoints> make(Comm over, int rank, int ranks, int servers,
                                         const FindPlace& find_place);
  ~Endpoints();
  Endpoints(const Endpoints&) = delete;

  // Those of this process's servers, in the order of their numbers.
  std::vector<rma::Endpoint*> all() const;
  // Call it when servers have been started or have ended.
  void hand_over_idle_ones();
  // Returns when all ranks have called it. The servers may then end.
  void leave();

 private:
  class Held {
   public:
    Held(PrivateCommunicator communicator, std::vector<rma::Endpoint::Way> ways,
         const rma::Endpoint::Memory& memory);
    rma::Endpoint& endpoint() { return endpoint_; }
    void abandon() { communicator_.abandon(); }

    // For the thread that drives it while no server does.
    exec::Lane::Turn drive_for_others();
    bool is_idle() const { return false; }  // it keeps its place in the thread's list
    exec::Lane::Clock::time_point next_look() const;

   private:
    PrivateCommunicator communicator_;
    HostWire wire_;
    rma::Endpoint endpoint_;
    std::atomic<exec::Lane::Clock::time_point> last_moved_;
  };
  Endpoints() = default;

  PrivateCommunicator leaving_;  // has all ranks
  std::vector<std::unique_ptr<Held>> held_;
  int64_t made_by_ = 0;  // the process; a forked child must not call MPI
};

}  // namespace tutti::mpi
