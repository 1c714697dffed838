#include "mpi/requests/neighbours.h"

#include <chrono>

#include "mpi/collectives/general.h"
#include "mpi/collectives/in_host.h"
#include "mpi/collectives/staged.h"
#include "mpi/collectives/verify.h"
#include "mpi/communicators/topology.h"
#include "mpi/job/thrown.h"
#include "mpi/requests/lane_nonblocking.h"
#include "mpi/requests/nonblocking.h"
#include "mpi/requests/persistent.h"
#include "mpi/requests/hosts_requests.h"
#include "mpi/requests/staged_request.h"
#include "mpi/requests/verified_request.h"
#include "report/tally.h"

namespace tutti::mpi {
namespace {

// For the report and traces: the bytes of this rank's first block that has data, to or from a
// neighbour. Counts and types of blocks beyond the rank's edges do not exist.
size_t bytes_of_first_block(const Call& call, Comm comm) {
  const auto neighbourhood = neighbourhood_of(comm);
  if (!neighbourhood) return 0;
  const auto first_of = [](const Side& side, size_t blocks) -> size_t {
    for (size_t i = 0; i < blocks; ++i)
      if (side.count_of(i) > 0 && side.type_of(i) != host().type_null)
        return bytes_of(side.count_of(i), side.type_of(i));
    return 0;
  };
  const size_t sent =
      first_of(call.in, plan::parted_in(call.collective) ? neighbourhood->destinations.size() : 1);
  return sent != 0 ? sent : first_of(call.out, neighbourhood->sources.size());
}

// Starts a call on a communicator that serves it. Returns null, with *reason if the host must make
// the call, or with an error that has been raised in *code.
Nonblocking* start_by_records(Communicator& communicator, const Call& call, std::string_view form,
                              Reason* reason, int* code) {
  Nonblocking* const operation = Nonblocking::take(call, communicator.handle(), code);
  if (operation == nullptr) return nullptr;
  try {
    *code = operation->start_call(communicator, call, form, reason);
  } catch (...) {
    operation->give_back();
    throw;
  }
  if (operation->state() == OwnRequest::State::pending) return operation;
  operation->give_back();
  return nullptr;
}

// Makes a call by the host's function `make` and returns its code. If it has succeeded, calls
// note(RECORD) with what the report says about it, provided that there is a report.
template <class Make, class Note>
int by_host(const Call& call, Comm comm, Reason reason, Make&& make, Note&& note) {
  const Stopwatch stopwatch(report::recording());
  const uint64_t entry = tracer() != nullptr ? trace::ticks() : 0;
  int code = success;
  {
    const Inside inside;  // some hosts call MPI_* themselves
    code = make();
  }
  if (code != success || (!report::recording() && tracer() == nullptr)) return code;
  report::Record record;
  record.collective = call.collective;
  record.neighbourhood = true;
  if (report::recording()) record.time = stopwatch.read();
  record.reason = has_one_rank(comm) ? Reason::one_rank : reason;
  record.bytes = bytes_of_first_block(call, comm);
  if (tracer() != nullptr)
    trace_host_call(entry, call.collective, record.reason, record.bytes, call.root);
  if (report::recording()) note(record);
  return code;
}

// Counts a call of the host's among the first calls of a communicator.
int counted_unless_refused(Communicator& communicator, const Call& call, Comm comm, int code) {
  if (communicator.is_decided() || (code == success && host_refuses(comm, call))) return code;
  return counted(communicator, code);
}

// Serves a call, by its copies if it is staged. The host makes it as the program made it.
[[gnu::always_inline]] inline int serve(Communicator& known, const Call& call, StagedCall* staged,
                                        Comm comm) {
  Reason reason = known.find_records(Reason::neighbours_between_nodes);
  if (reason == Reason::set_up_broken) return raise(comm, abi.err_other);
  if (reason == Reason::none) {
    int code = success;
    Nonblocking* const operation = start_by_records(
        known, staged != nullptr ? staged->call() : call, RecordRequest::blocking, &reason, &code);
    if (operation != nullptr) {
      const int completed = operation->complete();
      operation->tell();
      if (staged != nullptr && !staged->bring_back()) return raise(comm, abi.err_other);
      return first_error(code, completed).code;
    }
    if (reason == Reason::none) return code;
  }
  const int code =
      by_host(call, comm, reason, [&] { return call_host(call, comm); }, report::record);
  return counted_unless_refused(known, call, comm, code);
}

// The same while buffers may be in a GPU's memory.
[[gnu::cold, gnu::noinline]] int serve_staged(Communicator& known, const Call& call, Comm comm) {
  const std::unique_ptr<StagedCall> staged = StagedCall::of(call, comm);
  if (staged != nullptr) staged->fetch();
  return serve(known, call, staged.get(), comm);
}

}  // namespace

int serve_neighbours(const Call& call, Comm comm) {
  const Found found = find(call, comm);
  if (found.code != success) return found.code;
  if (found.communicator == nullptr) return call_host(call, comm);
  Communicator& known = *found.communicator;
  return guarded(comm, [&] {
    if (verifies_calls) {
      const auto run = [&](const Call& exchange) {
        const Inside inside;
        const InHost here(exchange, comm);
        return call_host(exchange, comm);
      };
      if (const int code = verify(known, call, comm, run); code != success) return code;
    }
    return found.gpu ? serve_staged(known, call, comm) : serve(known, call, nullptr, comm);
  });
}

namespace {

// The host makes the calls as the program made them, and Tutti with buffers that it can read.
int start_readable(const Call& call, const Call& as_made, Comm comm, Request* request) {
  Communicator* const known = known_communicator(comm);
  Reason reason = known == nullptr ? Reason::nonblocking_before_set_up
                                   : known->find_records(Reason::neighbours_between_nodes);
  if (reason == Reason::none) {
    int code = success;
    Nonblocking* const operation =
        start_by_records(*known, call, RecordRequest::nonblocking, &reason, &code);
    if (operation != nullptr) *request = operation->handle();
    if (reason == Reason::none) {
      if (!known->expects_nonblocking()) known->expect_nonblocking();
      return code;
    }
  }
  if (reason == Reason::neighbours_between_nodes && known->has_lanes()) {
    int code = success;
    reason = LaneNonblocking::start_call(*known, call, request, &code);
    if (reason == Reason::none) return code;
  }
  const int code = by_host(
      as_made, comm, reason, [&] { return call_host(as_made, comm, request); }, report::record);
  if (code == success && !host_refuses(comm, as_made)) expect_nonblocking(comm);
  return code;
}

int init_by_host(Communicator& known, const Call&, const Call& as_made, Info info, Reason reason,
                 Request* request) {
  const Comm comm = known.handle();
  const int code = by_host(
      as_made, comm, reason, [&] { return call_host(as_made, comm, info, request); },
      [&](const report::Record& record) { note_hosts_request(*request, record); });
  return counted_unless_refused(known, as_made, comm, code);
}

}  // namespace

int start_neighbours(const Call& call, Comm comm, Request* request) {
  if (host().foreign || Inside::depth != 0) return call_host(call, comm, request);
  return guarded(comm, [&] {
    return VerifiedRequest::make(call, comm, false, request, [&](Request* place) {
      return StagedRequest::make(call, comm, false, place,
                                 [&](const Call& readable, Request* made) {
                                   return start_readable(readable, call, comm, made);
                                 });
    });
  });
}

int neighbours_init(const Call& call, Comm comm, Info info, Request* request) {
  return init_request(call, comm, info, request, Reason::neighbours_between_nodes, init_by_host);
}

}  // namespace tutti::mpi
