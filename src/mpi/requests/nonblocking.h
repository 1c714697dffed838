// A non-blocking collective is an operation that MPI_Ibcast or a similar function starts. A
// Nonblocking is one rank's part of a non-blocking collective that Tutti serves.
//
// The start publishes a record of what this rank gives, and waits for nothing. The completion waits
// until the other ranks whose data is needed have started, and takes the results from their
// records. So no order of other calls between the two can hang a program that is correct by MPI's
// rules (docs/decisions/eager-records.md). A completion that needs no data of others, as at the
// root of a bcast, waits as well if other ranks lag far behind, so that a root cannot fill the
// memory.
//
// The objects are never destroyed before MPI ends: a completed one serves another start, with its
// handle. One thread at a time may use an object.
#pragma once

#include <chrono>
#include <string_view>
#include <vector>

#include "eager/operation.h"
#include "mpi/communicators/service.h"
#include "mpi/requests/call_buffers.h"
#include "mpi/requests/own_request.h"

namespace tutti::mpi {

// Starts a non-blocking collective, by Tutti or by the host, at all ranks alike. Returns an MPI
// error code.
int start_nonblocking(const Call& call, MPI_Comm comm, MPI_Request* request);

class Nonblocking final : public OwnRequest {
 public:
  // The name of these operations in reports, in the place of an algorithm.
  static constexpr std::string_view records_name = "records";

  // An idle object with a handle; null, with an MPI error code that was raised on the communicator,
  // if there is none. Throws bad_alloc.
  static Nonblocking* take(MPI_Comm comm, int* code);
  void give_back() noexcept;
  MPI_Request handle() const { return handle_; }

  // Starts the call on a communicator that serves it, and returns an MPI error code. Sets *reason,
  // and starts nothing, if the host must make the call.
  int begin(Communicator& communicator, const Call& call, Reason* reason);

  int start() override;
  bool is_ready() override;
  int complete() override;
  bool tell() noexcept override;
  int raise_error(const char* what, int code) override;
  void drive_host() override;

 private:
  friend void end_nonblocking() noexcept;
  Nonblocking() = default;
  ~Nonblocking() = default;
  eager::Outcome take_results();
  int wait(int late);
  bool is_far_ahead() const;
  int late_rank();
  void say_late(int64_t seconds, int rank) const;
  int finish(const eager::Outcome& outcome);
  MPI_Comm communicator() const;

  MPI_Request handle_{};
  Service* service_ = nullptr;  // of the operation under way
  Records* records_ = nullptr;
  CallBuffers buffers_;
  eager::Operation operation_;
  plan::Collective collective_{};
  std::vector<std::byte> scratch_;
  size_t bytes_ = 0;                   // of one part, for the report
  std::chrono::nanoseconds spent_{0};  // on the start, for the report
};

// To be called when MPI ends: destroys the objects that are not under way.
void end_nonblocking() noexcept;

}  // namespace tutti::mpi
