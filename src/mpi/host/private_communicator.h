// A PrivateCommunicator owns a communicator of the host's that Tutti has made for itself, and frees
// it at its own end.
//
// Every communicator that Tutti makes has such an owner from its making on, so that no early return
// forgets it. The host's supply of communicators is small (MPICH has about 2,000), and the program
// takes its own from the same supply. Nothing is freed once Tutti has ended its use of the host.
// One thread at a time uses an owner.
#pragma once

#include <cstdint>
#include <utility>

#include "mpi/host/host.h"

namespace tutti::mpi {

// Permits to free the host's handles: from the begin of MPI or of a session (`may`) until Tutti has
// ended its use of the host, before MPI_Finalize or the end of the last session.
void may_free_handles(bool may);
bool may_free_handles();

class PrivateCommunicator {
 public:
  // Owns nothing.
  PrivateCommunicator() = default;
  // Takes a communicator that was just made; MPI_COMM_NULL: nothing.
  explicit PrivateCommunicator(Comm made);
  ~PrivateCommunicator() { reset(); }
  PrivateCommunicator(PrivateCommunicator&& other) noexcept
      : handle_(std::exchange(other.handle_, host().comm_null)) {}
  PrivateCommunicator& operator=(PrivateCommunicator&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  // Collective over `from`; as MPI_Comm_split. It owns nothing if the host fails, or if this rank
  // passes MPI_UNDEFINED. *code, if given, is the host's error code.
  static PrivateCommunicator split(Comm from, int color, int key, int* code = nullptr);
  // A copy of MPI_COMM_SELF.
  static PrivateCommunicator copy_of_self();
  // Does the same as split, for the ranks of one node.
  static PrivateCommunicator split_by_node(Comm from, int key);

  // MPI_COMM_NULL if it owns nothing.
  Comm get() const { return handle_; }
  explicit operator bool() const { return handle_ != host().comm_null; }
  void reset() noexcept;
  // Forgets it without freeing it, because the other ranks may not free it.
  void abandon() noexcept;
  // An error handler that takes the place of MPI_ERRORS_RETURN (probe.cpp says why).
  static void ignore_error(void*, int*, ...) {}
  // Its errors are returned as codes from now on: the rank that waits for a message reports them.
  void return_errors(ErrorHandler* handler = ignore_error);

  // How many of them this process has. Any thread. Tutti makes no further ones for communicators
  // between nodes where a rank has `most`.
  static uint64_t living();
  static constexpr uint64_t most = 256;

 private:
  Comm handle_ = host().comm_null;
};

}  // namespace tutti::mpi
