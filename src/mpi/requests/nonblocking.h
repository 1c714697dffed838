// A non-blocking collective is an operation that MPI_Ibcast or a similar function starts. A
// Nonblocking is one rank's part of a non-blocking collective that Tutti serves, by records
// (record_request.h), in the order of the communicator's non-blocking collectives. On communicators
// over several nodes they are LaneNonblockings (lane_nonblocking.h).
//
// The objects are never destroyed before MPI ends: a completed one serves another start, with its
// handle (request_pool.h). One thread at a time may use an object.
#pragma once

#include "mpi/requests/call_memo.h"
#include "mpi/requests/record_request.h"
#include "mpi/requests/request_pool.h"

namespace tutti::mpi {

// Starts a non-blocking collective, by Tutti or by the host, at all ranks alike. Returns an MPI
// error code.
int start_nonblocking(const Call& call, Comm comm, RequestPlace request);
// The same for a collective among neighbours.
int start_neighbours(const Call& call, Comm comm, Request* request);

class Nonblocking final : public RecordRequest {
 public:
  // An idle object with a handle, if possible one that has served a call like this; null, with an
  // MPI error code that was raised on the communicator, if there is none. Throws bad_alloc.
  static Nonblocking* take(const Call& call, Comm comm, int* code);
  // An idle object of this thread that has served a call like this on a communicator that still
  // lives, for start_again(); null if there is none. `call` is not one among neighbours.
  static Nonblocking* recall(const Call& call, Comm comm) noexcept;
  void give_back() noexcept;
  Request handle() const { return handle_; }

  // Starts the call on a communicator that serves it, and returns an MPI error code. Sets *reason,
  // and starts nothing, if the host must make the call. `form` is nonblocking; for a call among
  // neighbours it may be blocking.
  int start_call(Communicator& communicator, const Call& call, std::string_view form,
                 Reason* reason);

  // Starts a call for which recall() has returned this object, and returns an MPI error code.
  int start_again(const Call& call);

  bool tell() noexcept override;

 private:
  using Pool = RequestPool<Nonblocking>;
  friend Pool;
  friend void end_nonblocking() noexcept;
  Nonblocking() : RecordRequest(nonblocking) {}
  ~Nonblocking() = default;
  bool is_outdated() const { return ends_ != Pool::instance().ends(); }
  void ended() noexcept override { forget(); }
  uint64_t traced_number() const override;
  void describe_call(Communicator& communicator, const Call& call, uint64_t now, Reason* reason);

  Request handle_{};
  uint32_t kind_ = 0;  // the kind of the call that it serves, or has served
  uint64_t ends_ = 0;  // Pool::ends() when it was taken
  CallMemo memo_;
  Service* remembered_ = nullptr;  // the service of the memo's call
};

// Starts an operation by `start`, which returns an MPI error code. use(handle) gets its handle if
// it is under way then.
template <class Use, class Start>
[[gnu::always_inline]] inline int started(Nonblocking& operation, Use&& use, Start&& start) {
  int code = success;
  try {
    code = start();
  } catch (...) {
    operation.give_back();
    throw;
  }
  if (operation.state() == OwnRequest::State::pending)
    use(operation.handle());
  else
    operation.give_back();
  return code;
}

// Call it when MPI ends: destroys the objects that are not under way.
void end_nonblocking() noexcept;

}  // namespace tutti::mpi
