// A client: starts transfers for one rank, and learns of their completion. It executes a transfer
// itself, or hands it to a server of its domain.
//
// One thread at a time uses it. No call fails because servers are missing, busy, disabled or dead:
// the client then executes the transfer itself. It takes a transfer back that no server has begun
// when it waits for it, so that it never waits for a server that another rank keeps busy or that
// sleeps without a core. It takes a transfer over that a server had begun that has died.
//
// A server's process that is stopped by a signal might go on at any time, so a client cannot take
// over what it has begun. The client waits as long as the watchdog allows (TUTTI_STALL_SECONDS),
// says so, kills the process and then takes over. A rank that is stopped is waited for.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "exec/waiter.h"
#include "rma/domain.h"
#include "rma/policy.h"
#include "rma/queue.h"
#include "rma/transfer.h"

namespace tutti::rma {

// Names a transfer from its start to its completion. A plain value.
struct Handle {
  int32_t server = -1;    // -1: the transfer was executed when it started
  uint64_t position = 0;  // in the queue of the client and the server
  Code code = Code::ok;   // how it ended, if it was executed when it started
};

class Client {
 public:
  // The client with this place in the domain, alone or after one that has ended. The domain's
  // memory and the mover outlive it.
  Client(const Domain& domain, int32_t place, Mover& mover, exec::WaitStyle style)
      : Client(domain, place, mover, style, {0, domain.shape().servers}) {}
  // It hands transfers to these servers only.
  Client(const Domain& domain, int32_t place, Mover& mover, exec::WaitStyle style,
         const ServerRange& servers);
  // Waits for all that is outstanding.
  ~Client();
  Client(const Client&) = delete;

  void set_policy(const Policy& policy) { policy_ = policy; }

  // Starts a transfer. Transfers are not ordered among themselves. Throws bad_alloc, and has then
  // started nothing.
  Handle start(const Transfer& transfer);
  // The same, done by this thread, and complete when it returns.
  Code execute(const Transfer& transfer) { return mover_.move(transfer, place_); }

  // True if the handle is of a transfer whose completion was not told yet.
  bool is_outstanding(const Handle& handle) const;
  // True if the transfer is complete; *code is then how it ended, and the handle is no longer
  // valid. It must be outstanding.
  bool test(const Handle& handle, Code* code = nullptr);
  // Waits for it, and returns how it ended. The handle must be outstanding.
  Code wait(const Handle& handle);
  // Returns how the first one ended that failed; Code::ok if none did.
  Code wait_for_all();

  int32_t running_servers() const;  // the running ones of the servers that it hands transfers to
  size_t outstanding() const { return outstanding_; }
  // So many transfers may be outstanding at each server; further ones are executed at once.
  size_t most_outstanding() const { return domain_.shape().entries; }

  struct Counts {
    uint64_t own = 0;         // transfers that this thread has executed at once
    uint64_t handed = 0;      // transfers that it has handed to servers
    uint64_t taken_back = 0;  // those of them that it has executed after all
  };
  const Counts& counts() const { return counts_; }

 private:
  bool hand_over(const Transfer& transfer, const Situation& now, Handle* handle);
  bool take_back(const Handle& handle, Code* code);
  bool server_is_gone(int32_t server) const;
  bool complete_without_server(const Handle& handle, bool looks_closely, Code* code);
  void say_stall(const Handle& handle) const;
  void kill_if_stopped(int32_t server) const;
  bool test_looks_closely();
  void look_at_late(const Handle& handle);
  Code execute_posted(const Handle& handle);
  Code result(const Handle& handle);
  void end(const Handle& handle);
  Producer& queue(const Handle& handle) {
    return queues_[static_cast<size_t>(handle.server - first_server_)];
  }

  const Domain domain_;
  const int32_t place_;
  Mover& mover_;
  const exec::WaitStyle style_;
  const int32_t first_server_;
  const uint64_t made_by_;  // this process, unless it was forked since then
  Policy policy_;
  Phases phases_;
  Turn turn_;
  std::vector<Producer> queues_;  // indexed by server, from first_server_ on
  std::deque<Handle> started_;    // handed over, the oldest first; some may be complete
  size_t outstanding_ = 0;
  uint64_t late_tests_ = 0;                                 // the tests that found nothing complete
  exec::WatchedTime::Clock::time_point next_close_look_{};  // the time of test()'s next close look
  uint64_t taken_in_row_ = 0;  // transfers that were taken back with no other completion between
  // The time for which tests have found nothing complete, if a close look found so.
  std::optional<exec::WatchedTime> late_;
  Counts counts_;
};

}  // namespace tutti::rma
