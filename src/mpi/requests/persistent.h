// A persistent collective is an operation that MPI_Bcast_init or a similar function makes. A
// Persistent is one rank's part of a persistent collective that Tutti serves, by records
// (record_request.h).
//
// MPI lets ranks start their persistent collectives in different orders. So each has a private
// sequence (records/private_sequence.h), which the collective call that makes the request opens,
// and whose operations are the rounds. No rank waits for another in that call or in a start.
//
// The object lives from that call until the program frees the request, or, if it does not, for
// ever. One thread at a time may use it, as MPI requires for a request. On communicators over
// several nodes they are LanePersistents (lane_persistent.h).
#pragma once

#include <memory>

#include "mpi/requests/record_request.h"

namespace tutti::mpi {

// Makes a persistent request, of a collective among all ranks or among neighbours, by Tutti or by
// the host, at all ranks alike. Collective; returns an MPI error code.
int persistent_init(const Call& call, Comm comm, Info info, Request* request);

class Persistent final : public RecordRequest {
 public:
  // Collective. Null with *reason if the host must make the request, or with the error in *code,
  // which has been raised, if memory lacks. May throw.
  static std::unique_ptr<Persistent> make(Communicator& communicator, const Call& call,
                                          Reason* reason, int* code);
  // The same for a call among neighbours.
  static std::unique_ptr<Persistent> make_of_neighbours(Communicator& communicator,
                                                        const Call& call, Reason* reason,
                                                        int* code);
  // No round may be pending.
  ~Persistent();
  // Gives the object a handle, by which the program then knows it, and destroys it if there is
  // none. Returns an MPI error code. The object otherwise lives until it is destroyed by the
  // program's MPI_Request_free (requests.h).
  static int hand_over(std::unique_ptr<Persistent> made, Request* request);

  bool is_persistent() const override { return true; }
  void discard() noexcept override { delete this; }

 private:
  Persistent() : RecordRequest(persistent), stores_(group::store_policy(options().stores)) {}
  int start_round() override { return begin(stores_); }
  void ended() noexcept override {}
  uint64_t traced_number() const override;

  records::PrivateSequence* opened_ = nullptr;  // the service's records own it
  bool closes_ = false;      // this object closes it; else the records of the neighbourhood do
  exec::SlotStores stores_;  // for long copies into records
};

}  // namespace tutti::mpi
