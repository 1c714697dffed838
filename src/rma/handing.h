// The transfers with other nodes that a rank's servers have. Each server of the rank's domain that
// has an endpoint gets some consecutive ones, and then the next server's turn comes.
//
// A server reaches the caller's side of a transfer if it lies in the heap, or if the server is a
// thread of the same process. The data of at most 8 bytes travels in the request. Other data goes
// through one of the client's slots (domain.h), in which the client packs a put's and from which it
// takes a get's when it learns of the completion. A transfer for which there is no slot, no room in
// a queue or no server is the caller's own.
//
// A client takes back what no server has begun, if the server has ended or died, or begins nothing
// for long. A server that has died may have given a message to the network, which stores a put's
// data perhaps much later. So such a put is lost: its caller cannot know what the target's memory
// holds, or will hold. Gets are executed again. So are puts of a wire that has failed, apart from
// those that signal, which could signal twice.
//
// One thread at a time. No function waits.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "rma/domain.h"
#include "rma/learning.h"
#include "rma/policy.h"
#include "rma/process_mover.h"
#include "rma/queue.h"
#include "rma/transfer.h"

namespace tutti::rma {

class Handing {
 public:
  struct Settings {
    ServerRange servers;  // those of the domain that it may hand transfers to
    Extent heap;          // the heap of this process, which all servers reach
    // For ServeFar::selective: the transfers that gain. Null: they are learned. Batches always are.
    const Policy* policy = nullptr;
  };
  // The client with this place in the domain, which has slots. The domain's memory outlives it.
  Handing(const Domain& domain, int32_t place, const Settings& settings);
  Handing(const Handing&) = delete;

  // Hands a transfer with another node over. Returns its number, or 0 if no server got it. Throws
  // bad_alloc, and no server has got it then.
  uint64_t start(const Transfer& transfer);
  // A number of this object's, and no other one of the rank's.
  static bool is_number(uint64_t number) { return (number >> number_shift) != 0; }
  bool is_outstanding(uint64_t number) const;

  enum class State {
    under_way,
    done,
    own,   // no server executes it, and its caller must
    lost,  // it was a put that had begun, and its server has died or, if it signals, its wire
  };
  // `closely`: also by calls of the system; to be done now and then in a wait.
  State look(uint64_t number, bool closely);
  // The transfer as it was started, until it is over.
  const Transfer& transfer(uint64_t number) const { return started_at(number).transfer; }
  // The transfer is over; `done`: by the server.
  void end(uint64_t number, bool done);
  // The oldest outstanding one; 0: there is none.
  uint64_t oldest() const { return order_.empty() ? 0 : order_.front(); }
  size_t outstanding() const { return outstanding_; }
  // Names the server of a transfer, in one line.
  std::string describe(uint64_t number) const;
  struct Counts {
    uint64_t handed = 0, taken_back = 0, lost = 0;
  };
  const Counts& counts() const { return counts_; }

  // A transfer that start() has left to the caller is complete: what gains is learned from it, too.
  void note_end();

 private:
  static constexpr int number_shift = 48;
  static constexpr size_t no_slot = SIZE_MAX;
  // A transfer as the caller has started it, by server and entry.
  struct Started {
    Transfer transfer{};
    size_t slot = no_slot;
  };
  size_t nth_of(uint64_t number) const { return (number >> number_shift) - 1; }
  static uint64_t position_of(uint64_t number) {
    return number & ((uint64_t{1} << number_shift) - 1);
  }
  const Started& started_at(uint64_t number) const;
  Started& started_at(uint64_t number) {
    return const_cast<Started&>(static_cast<const Handing*>(this)->started_at(number));
  }
  ServerState& server(size_t nth) const {
    return domain_.server(servers_.first + static_cast<int32_t>(nth));
  }
  bool prepare(const Transfer& transfer, bool reaches_all, Transfer* handed, size_t* slot);
  void unpack(uint64_t number);
  bool server_is_gone(size_t nth) const;

  const Domain domain_;
  const int32_t place_;
  const ServerRange servers_;
  const Extent heap_;
  const Policy* const policy_;
  const uint64_t made_by_;  // this process
  Learning learning_;
  Phases phases_;
  Turn turn_;
  std::vector<Producer> queues_;               // indexed by server of the range
  std::vector<std::vector<Started>> started_;  // the same, then by entry
  std::vector<size_t> free_slots_;
  std::deque<uint64_t> order_;  // the oldest first; some may be over, but not the oldest
  size_t outstanding_ = 0;
  Counts counts_;
};

}  // namespace tutti::rma
