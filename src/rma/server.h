// A server: takes transfers from the clients of its domain, executes them and reports them done. It
// sleeps while there is nothing to do.
//
// A server with an endpoint also exchanges its clients' transfers with other nodes: it gives each
// to the endpoint, goes on with the next one, and reports it done when the reply has come. It
// answers other nodes' servers meanwhile, and looks for their requests at times while it is idle.
//
// One thread runs it, which runs none of the program's code. Without an endpoint it makes no MPI
// call and allocates nothing.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rma/domain.h"
#include "rma/endpoint.h"
#include "rma/queue.h"
#include "rma/transfer.h"

namespace tutti::rma {

// For a server that has a core: some microseconds, about what falling asleep and waking up cost.
inline constexpr int polls_of_own_core = 256;
inline constexpr int polls_of_shared_core = 4;

class Server {
 public:
  // The server with this place in the domain, which was claimed for it; what a server had begun
  // that died in this place is begun again. The domain's memory and the mover outlive it. It polls
  // so many times before it sleeps; others may need its core meanwhile.
  // `endpoint` may be null, and outlives it.
  Server(const Domain& domain, int32_t place, Mover& mover, int polls,
         Endpoint* endpoint = nullptr);
  ~Server();
  Server(const Server&) = delete;

  // Serves until stop() has been called, and all that was posted before is done. Whoever starts the
  // server announces it before (announce), so that clients hand transfers over from then on.
  void run();
  // One round over all clients' queues, with at most `most` transfers of each, and over the
  // endpoint. Returns how much it has found to do; 0: nothing. For run() and tests.
  size_t serve(size_t most);

 private:
  using Clock = std::chrono::steady_clock;
  bool send_away(size_t client, Transfer& transfer);
  bool exchange();
  std::chrono::nanoseconds longest_sleep() const;
  size_t clients() const;
  bool is_asked_to_stop() const;
  bool is_kept_awake() const;
  bool has_work() const;
  void sleep();

  const Domain domain_;
  ServerState& state_;
  Mover& mover_;
  const int polls_;
  Endpoint* const endpoint_;
  size_t away_ = 0;  // transfers that the endpoint has
  Clock::time_point last_moved_;
  std::vector<Consumer> queues_;  // indexed by client
};

// For any thread. Asks the server to end, and wakes it. Has no effect if it has died and another
// server has its place.
void stop(const Domain& domain, const Started& server);
// Has the domain's servers poll while they are idle, so that they begin at once; or sleep again.
void keep_awake(const Domain& domain, bool awake);

}  // namespace tutti::rma
