// A request of the program that Tutti serves: a non-blocking collective (nonblocking.h), or a
// persistent one (persistent.h); between nodes, those of lane_request.h.
//
// The program's handle is a persistent request of the host that is never started: a send of no data
// to nobody. So it works in arrays, and the host skips it wherever it waits or tests. The handles
// of requests that have ended are used again, and are freed only when MPI ends, so that a handle is
// looked up without a lock. A communicator of this process alone (job/self.h)
// carries them.
//
// One thread at a time may use a request, as MPI requires; any thread may look one up.
#pragma once

#include <cstdint>

#include "mpi/host/host.h"
#include "shm/order.h"

namespace tutti::mpi {

class OwnRequest {
 public:
  // How far the operation is. Taken: this rank has its results, and the program does not know it
  // yet.
  enum class State : uint8_t { idle, pending, taken };
  State state() const { return state_; }
  // True if other ranks read the program's buffers, so that complete() may wait for them.
  // is_ready() then takes the results, so that this rank needs nothing more of the others.
  bool lends() const { return lends_; }

  // MPI_Start. Returns an MPI error code, which has been raised.
  int start();
  // For a pending operation: true if complete() would not wait.
  virtual bool is_ready() = 0;
  // Waits until other ranks have started the pending operation, then takes the results; it is then
  // taken, also after an error. Returns an MPI error code, which has been raised.
  virtual int complete() = 0;
  // The same, and the request keeps the code until the program learns of it.
  int complete_and_keep() { return code_ = complete(); }
  // The code of a taken operation that was completed so.
  int code() const { return code_; }
  // The program learns that the taken operation is complete. Returns true if the handle is thereby
  // given up, and becomes MPI_REQUEST_NULL.
  virtual bool tell() noexcept {
    state_ = State::idle;
    return false;
  }
  // The communicator on which errors are raised.
  virtual Comm communicator() const = 0;
  // Logs an error of this request, raises it, and returns the code.
  int raise_error(const char* what, int code);
  // A test has found that is_ready() is false. Now and then looks whether the rank that is late
  // still lives, and says so once if it is late for long; is_ready() is true after its end.
  virtual void note_late() {}
  // Lets the host's messages progress. Call it now and then while other ranks are late.
  virtual void drive_host() = 0;
  // True if the program frees the request, by MPI_Request_free. discard() then destroys it. It must
  // not be pending, and its handle has been given back.
  virtual bool is_persistent() const { return false; }
  virtual void discard() noexcept {}

 protected:
  ~OwnRequest() = default;
  // Starts an idle persistent operation, and returns an MPI error code, which has been raised.
  virtual int start_round() { return success; }
  State state_ = State::idle;
  bool lends_ = false;

 private:
  int code_ = success;
};

// Takes a handle for an OwnRequest, which own_request then finds. Returns an MPI error code. Throws
// bad_alloc.
int take_handle(OwnRequest* request, Request* handle);
// own_request no longer finds it, and it may be taken again.
void give_back_handle(Request handle) noexcept;
// Frees the handles, when MPI ends. No OwnRequest may be used afterwards.
void free_handles() noexcept;

// True once this process has had such a request, or if messages are watched. Until then each call
// that completes requests costs one load more.
inline constinit shm::Word own_handles{0};
inline bool has_own_requests() { return shm::load_relaxed(own_handles) != 0; }
// From now on messages are watched, because ranks that wait for them sleep (exec/idle.h) or because
// a report tells of them. Inside MPI_Init.
void watch_messages() noexcept;
// The OwnRequest of a handle; null if the request is the host's.
OwnRequest* own_request(Request handle);

}  // namespace tutti::mpi
