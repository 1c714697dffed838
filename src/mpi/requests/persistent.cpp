#include "mpi/requests/persistent.h"

#include <utility>

#include "exec/operation.h"
#include "mpi/collectives/general.h"
#include "mpi/communicators/topology.h"
#include "mpi/job/thrown.h"
#include "mpi/requests/lane_persistent.h"
#include "mpi/requests/hosts_requests.h"
#include "mpi/requests/wrapped_request.h"
#include "report/tally.h"

namespace tutti::mpi {
namespace {

// The collective and the root of a call, as in the signatures of its rounds. Collectives among
// neighbours have no root, and the others that are an alltoall or an allgather have root 0.
uint64_t call_to_open(const Call& call) {
  constexpr int bits_of_bytes = 40;
  const int root = call.on_neighbourhood() ? 1 : call.root;
  return exec::call_signature(call.collective, 0, root) >> bits_of_bytes;
}

}  // namespace

std::unique_ptr<Persistent> Persistent::make(Communicator& communicator, const Call& call,
                                             Reason* reason, int* code) {
  std::unique_ptr<Persistent> made(new Persistent);
  *reason = made->describe(communicator, call);
  if (*reason != Reason::none) return nullptr;
  try {
    records::PrivateSequence::Settings settings;
    settings.call = call_to_open(call);
    const plan::RecordProgram& program = made->records().program(call.collective, call.root);
    made->opened_ = &made->records().open(settings);
    made->closes_ = true;
    made->use(program, made->opened_->sequence());
  } catch (const Error& error) {
    *code = made->raise_lack_of_memory(error);
    return nullptr;
  }
  return made;
}

std::unique_ptr<Persistent> Persistent::make_of_neighbours(Communicator& communicator,
                                                           const Call& call, Reason* reason,
                                                           int* code) {
  std::unique_ptr<Persistent> made(new Persistent);
  auto own = neighbourhood_of(communicator.handle());
  *reason = own ? made->describe(communicator, call, *own) : Reason::wrong_arguments;
  if (*reason != Reason::none) return nullptr;
  try {
    auto neighbours =
        std::make_shared<NeighbourRecords>(made->records(), std::move(*own), call_to_open(call));
    made->opened_ = &neighbours->opened();
    made->use(std::move(neighbours));
  } catch (const Error& error) {
    *code = made->raise_lack_of_memory(error);
    return nullptr;
  }
  return made;
}

Persistent::~Persistent() {
  if (closes_) records().close(*opened_);
}

int Persistent::hand_over(std::unique_ptr<Persistent> made, Request* request) {
  const int code = take_handle(made.get(), request);
  if (code == success) (void)made.release();  // the handle's table finds it
  return code;
}

// Different from those of the communicator's other operations, and exact as a double.
uint64_t Persistent::traced_number() const {
  return (opened_->number() + 1) << 32 | operation().number;
}

namespace {

// Returns an MPI error code, which has been raised, and sets *reason if the host must make the
// request.
int make_persistent(Communicator& communicator, const Call& call, Request* request,
                    Reason* reason) {
  int code = success;
  std::unique_ptr<Persistent> made =
      call.on_neighbourhood() ? Persistent::make_of_neighbours(communicator, call, reason, &code)
                              : Persistent::make(communicator, call, reason, &code);
  return made != nullptr ? Persistent::hand_over(std::move(made), request) : code;
}

// The host makes the request as the program asked for it.
int init_by_host(Communicator& known, const Call& call, Info info, Reason reason,
                 Request* request) {
  const Comm comm = known.handle();
  const int code = by_host(
      call, comm, reason, [&] { return call_host(call, comm, info, request); },
      [&](const report::Record& record) { note_hosts_request(*request, record); });
  return counted(known, call, comm, code);
}

}  // namespace

int persistent_init(const Call& call, Comm comm, Info info, Request* request) {
  const Reason between_nodes =
      call.on_neighbourhood() ? Reason::neighbours_between_nodes : Reason::persistent_between_nodes;
  const Found found = find(call, comm);
  if (found.code != success) return found.code;
  if (found.communicator == nullptr) return call_host(call, comm, info, request);
  Communicator& known = *found.communicator;
  const auto init_readable = [&](const Call& readable, Request* place) -> int {
    Reason reason = Reason::none;
    const int found_records = find_for_request(known, readable, between_nodes, &reason);
    if (found_records != success) return found_records;
    if (reason == Reason::set_up_broken) return raise(comm, abi.err_other);
    if (reason == Reason::none) {
      const int code = make_persistent(known, readable, place, &reason);
      if (code != success || reason == Reason::none) return code;
    }
    if (reason == between_nodes && known.has_lanes()) {
      reason = LanePersistent::make(known, readable, place);
      if (reason == Reason::none) return success;
    }
    return init_by_host(known, call, info, reason, place);
  };
  return guarded(comm,
                 [&] { return WrappedRequest::make(call, comm, true, request, init_readable); });
}

}  // namespace tutti::mpi
