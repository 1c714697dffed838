// A server: takes transfers from the clients of its domain, executes them and reports them done. It
// sleeps while there is nothing to do.
//
// One thread runs it. It makes no MPI call, allocates nothing, and runs none of the program's code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rma/domain.h"
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
  Server(const Domain& domain, int32_t place, Mover& mover, int polls);

  // Serves until stop() has been called, and all that was posted before is done. Whoever starts the
  // server announces it before (announce), so that clients hand transfers over from then on.
  void run();
  // One round over all clients' queues, with at most `most` transfers of each. Returns how many
  // transfers it has executed. For run() and tests.
  size_t serve(size_t most);

 private:
  size_t clients() const;
  bool is_asked_to_stop() const;
  bool is_kept_awake() const;
  bool has_work() const;
  void sleep();

  const Domain domain_;
  ServerState& state_;
  Mover& mover_;
  const int polls_;
  std::vector<Consumer> queues_;  // indexed by client
};

// For any thread. Asks the server to end, and wakes it. Has no effect if it has died and another
// server has its place.
void stop(const Domain& domain, const Started& server);
// Has the domain's servers poll while they are idle, so that they begin at once; or sleep again.
void keep_awake(const Domain& domain, bool awake);

}  // namespace tutti::rma
