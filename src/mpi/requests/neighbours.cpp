#include "mpi/requests/neighbours.h"

#include <memory>

#include "mpi/collectives/general.h"
#include "mpi/collectives/in_host.h"
#include "mpi/collectives/staged.h"
#include "mpi/collectives/verify.h"
#include "mpi/job/thrown.h"
#include "mpi/requests/nonblocking.h"
#include "mpi/requests/hosts_requests.h"
#include "report/tally.h"

namespace tutti::mpi {
namespace {

// Serves a call, by its copies if it is staged. The host makes it as the program made it.
[[gnu::always_inline]] inline int serve(Communicator& known, const Call& call, StagedCall* staged,
                                        Comm comm) {
  Reason reason = known.find_records(Reason::neighbours_between_nodes);
  if (reason == Reason::set_up_broken) return raise(comm, abi.err_other);
  if (reason == Reason::none) {
    const Call& readable = staged != nullptr ? staged->call() : call;
    int code = success, completed = success;
    Nonblocking* const operation = Nonblocking::take(readable, comm, &code);
    if (operation == nullptr) return code;
    const auto complete = [&](Request) {
      completed = operation->complete();
      operation->tell();
      if (staged != nullptr && !staged->bring_back()) completed = raise(comm, abi.err_other);
    };
    code = started(*operation, complete, [&] {
      return operation->start_call(known, readable, RecordRequest::blocking, &reason);
    });
    if (reason == Reason::none) return first_error(code, completed).code;
  }
  const int code =
      by_host(call, comm, reason, [&] { return call_host(call, comm); }, report::record);
  return counted(known, call, comm, code);
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

}  // namespace tutti::mpi
