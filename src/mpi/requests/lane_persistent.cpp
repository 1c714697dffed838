#include "mpi/requests/lane_persistent.h"

#include "base/error.h"
#include "base/options.h"
#include "mpi/collectives/general.h"

namespace tutti::mpi {

// Finds out what every start needs. The areas of lanes may differ in size from others of the
// communicator, so a program is bound to those that it runs in.
Reason LanePersistent::prepare(Communicator& communicator) {
  try {
    use(lease_.lanes());
    prepared_ = prepared_call();
  } catch (const Error& error) {  // at all ranks alike
    return refused(communicator, error).reason;
  }
  if (prepared_.operation.combine != nullptr) {
    combine_ = *prepared_.operation.combine;
    prepared_.operation.combine = &combine_;
  }
  return Reason::none;
}

// A rank that cannot serve the call takes part in the agreement all the same, so no rank waits for
// it.
Reason LanePersistent::make(Communicator& communicator, const Call& call, Request* request) {
  std::unique_ptr<LanePersistent> made;
  Request handle{};
  Reason reason = Reason::no_lane;
  try {
    made.reset(new LanePersistent);
    reason = made->describe(communicator, call);
    if (reason == Reason::none && take_handle(made.get(), &handle) != success)
      reason = Reason::no_lane;
  } catch (const Error& error) {
    reason = refused(communicator, error).reason;
  } catch (const std::bad_alloc&) {
    reason = Reason::no_lane;
  }
  const bool serves = reason == Reason::none;
  const Inside inside;
  PersistentLanes::Lease lease = communicator.several_nodes()->take_persistent_lane(serves);
  if (!serves) return reason;
  if (lease.lanes() == nullptr) {
    reason = Reason::no_lane;
  } else {
    made->lease_ = std::move(lease);
    try {
      reason = made->prepare(communicator);
    } catch (...) {
      give_back_handle(handle);
      throw;
    }
  }
  if (reason != Reason::none) {
    give_back_handle(handle);
    return reason;
  }
  (void)made.release();  // the handle's table finds it
  *request = handle;
  return Reason::none;
}

int LanePersistent::start_round() {
  // The others wait for this rank's part even if its data could not be packed.
  const int packing = fill();
  begin([&](group::Lanes& lanes) { return lanes.issue(lease_.index(), prepared_); });
  return packing == success ? success : raise(communicator(), packing);
}

int find_for_request(Communicator& communicator, const Call& call, Reason between_nodes,
                     Reason* reason) {
  *reason = communicator.find_records(between_nodes);
  const Comm comm = communicator.handle();
  if (*reason != Reason::nonblocking_before_set_up || options().servers.count == 0 ||
      communicator.is_decided() || host_refuses(comm, call))
    return success;
  communicator.expect_nonblocking();
  const Found found = find(call, comm);
  if (found.code == success) *reason = communicator.find_records(between_nodes);
  return found.code;
}

}  // namespace tutti::mpi
