#include "mpi/requests/nonblocking.h"

#include <utility>

#include "mpi/collectives/verify.h"
#include "mpi/collectives/general.h"
#include "mpi/job/thrown.h"
#include "mpi/requests/lane_nonblocking.h"
#include "mpi/requests/hosts_requests.h"
#include "mpi/requests/wrapped_request.h"
#include "report/tally.h"

namespace tutti::mpi {
namespace {

// Idle objects that this thread has used, by the kind of the call, so that it finds one without a
// lock, and one that has served a call of this kind (call_memo.h). Those that a thread leaves
// behind when it ends are never used again. No memo is like a call after MPI has ended once.
constexpr int log_of_kinds = 6;
constinit TUTTI_PER_THREAD Nonblocking* spares[1 << log_of_kinds] = {};

uint32_t kind_of(const Call& call, Comm comm) {
  const uint64_t mixed = static_cast<uint64_t>(call.function) + 31 * (uint64_t)comm +
                         977 * static_cast<uint64_t>(call.in.count + call.out.count) +
                         64901 * static_cast<uint64_t>(call.root) +
                         (call.v_form() ? (uint64_t)call.in.data : 0);
  return static_cast<uint32_t>(mixed * 0x9E3779B97F4A7C15u >> (64 - log_of_kinds));
}

}  // namespace

Nonblocking* Nonblocking::take(const Call& call, Comm comm, int* code) {
  const uint32_t kind = kind_of(call, comm);
  if (Nonblocking* const spare = std::exchange(spares[kind], nullptr)) {
    if (!spare->is_outdated()) return spare;
    delete spare;  // another thread has ended MPI, and cannot look into this one's spares
  }
  Nonblocking* const taken = Pool::instance().take(comm, code);
  if (taken == nullptr) return nullptr;
  taken->kind_ = kind;
  taken->ends_ = Pool::instance().ends();
  return taken;
}

Nonblocking* Nonblocking::recall(const Call& call, Comm comm) noexcept {
  Nonblocking*& spare = spares[kind_of(call, comm)];
  if (spare == nullptr || !spare->memo_.is_like(call, comm, shm::load_relaxed(generation)))
    return nullptr;
  return std::exchange(spare, nullptr);
}

void Nonblocking::give_back() noexcept {
  if (spares[kind_] == nullptr) {
    spares[kind_] = this;
    return;
  }
  Pool::instance().give_back(this);
}

void end_nonblocking() noexcept {
  for (Nonblocking*& one : spares)
    if (Nonblocking* const spare = std::exchange(one, nullptr))
      Nonblocking::Pool::instance().give_back(spare);
  Nonblocking::Pool::instance().end();
}

namespace {

// The entries of the call's arrays that matter at this rank.
CallMemo::Entries entries_of(const Communicator& communicator, const Call& call) {
  if (!call.v_form()) return {};
  const auto ranks = static_cast<size_t>(communicator.ranks());
  if (plan::combines(call.collective)) return {.in = ranks};
  const Roles roles = roles_of(communicator.rank() == call.root, call);
  return {roles.uses_in && call.in.counts.given() ? ranks : 0,
          roles.uses_out && call.out.counts.given() ? ranks : 0};
}
CallMemo::Entries entries_of(const records::Neighbourhood& own, const Call& call) {
  if (!call.v_form()) return {};
  return {call.in.counts.given() ? own.destinations.size() : 0, own.sources.size()};
}

}  // namespace

// Describes and uses a call that the memo does not know, and notes it. The memo looks at no
// addresses, so it knows no call while buffers may be in a GPU's memory.
void Nonblocking::describe_call(Communicator& communicator, const Call& call, uint64_t now,
                                Reason* reason) {
  memo_.clear();
  const Comm comm = communicator.handle();
  if (!call.on_neighbourhood()) {
    *reason = describe(communicator, call);
    if (*reason != Reason::none) return;
    use(records().program(call.collective, call.root), records().sequence());
    if (gpu::is_ruled_out() && !verifies_calls)
      memo_.note(call, comm, now, entries_of(communicator, call), buffers(), operation());
    return;
  }
  const std::shared_ptr<NeighbourRecords>& neighbours = communicator.neighbour_records();
  *reason = neighbours == nullptr ? Reason::wrong_arguments
                                  : describe(communicator, call, neighbours->own());
  if (*reason != Reason::none) return;
  use(neighbours);
  if (gpu::is_ruled_out())
    memo_.note(call, comm, now, entries_of(neighbours->own(), call), buffers(), operation());
}

int Nonblocking::start_again(const Call& call) {
  int code = success;
  try {
    use_again(*remembered_, memo_.in(call), memo_.out(call));
    if (!memo_.is_movable()) hold_again();
    code = begin(records().stores());
  } catch (...) {
    forget();
    throw;
  }
  if (state_ != State::pending) forget();
  return code;
}

int Nonblocking::start_call(Communicator& communicator, const Call& call, std::string_view form,
                            Reason* reason) {
  int code = success;
  const uint64_t now = shm::load_relaxed(generation);
  try {
    set_form(form);
    if (memo_.is_like(call, communicator.handle(), now)) {
      use_again(*remembered_, memo_.in(call), memo_.out(call));
      if (call.on_neighbourhood()) use_again(communicator.neighbour_records());
      if (!memo_.is_movable() && form != blocking) hold_again();
    } else {
      describe_call(communicator, call, now, reason);
      if (*reason != Reason::none) return success;
      remembered_ = &communicator.served_by();
    }
    code = begin(records().stores());
  } catch (...) {
    forget();
    throw;
  }
  if (state_ != State::pending) forget();
  return code;
}

// Different from those of the communicator's other operations, and exact as a double.
uint64_t Nonblocking::traced_number() const {
  const uint64_t first = is_among_neighbours() ? uint64_t{3} << 51 : uint64_t{1} << 52;
  return first + operation().number;
}

bool Nonblocking::tell() noexcept {
  state_ = State::idle;
  give_back();
  return true;
}

namespace {

// Starts a call that this thread has not made lately; the host starts it as the program made it.
int start_anew(const Call& call, const Call& as_made, Comm comm, Request* request) {
  int code = success;
  const Reason between_nodes = call.on_neighbourhood() ? Reason::neighbours_between_nodes
                                                       : Reason::nonblocking_between_nodes;
  Communicator* const known = known_communicator(comm);
  Reason reason =
      known == nullptr ? Reason::nonblocking_before_set_up : known->find_records(between_nodes);
  if (reason == Reason::none) {
    Nonblocking* const operation = Nonblocking::take(call, comm, &code);
    if (operation == nullptr) return code;
    code = started(
        *operation, [&](Request handle) { *request = handle; },
        [&] { return operation->start_call(*known, call, RecordRequest::nonblocking, &reason); });
    // Also if memory ran out at this rank alone: the others have made the call.
    if (reason == Reason::none && !known->expects_nonblocking()) known->expect_nonblocking();
    if (reason == Reason::none) return code;
  }
  if (reason == between_nodes && known->has_lanes()) {
    reason = LaneNonblocking::start_call(*known, call, request, &code);
    if (reason == Reason::none) return code;
  }
  code = by_host(
      as_made, comm, reason, [&] { return call_host(as_made, comm, request); }, report::record);
  // A call that the host has refused at this rank alone must not change what this rank does next.
  if (code == success && !host_refuses(comm, as_made)) expect_nonblocking(comm);
  return code;
}

int start_wrapped(const Call& call, Comm comm, Request* request) {
  return WrappedRequest::make(call, comm, false, request, [&](const Call& readable, Request* made) {
    return start_anew(readable, call, comm, made);
  });
}

}  // namespace

int start_nonblocking(const Call& call, Comm comm, RequestPlace request) {
  Nonblocking* const operation = Inside::depth == 0 ? Nonblocking::recall(call, comm) : nullptr;
  if (operation == nullptr && (host().foreign || Inside::depth != 0))
    return request.store_made([&](Request* made) { return call_host(call, comm, made); });
  return guarded(comm, [&]() -> int {
    if (operation != nullptr)
      return started(
          *operation, [&](Request handle) { request.store(handle); },
          [&] { return operation->start_again(call); });
    return request.store_made([&](Request* made) { return start_wrapped(call, comm, made); });
  });
}

int start_neighbours(const Call& call, Comm comm, Request* request) {
  if (host().foreign || Inside::depth != 0) return call_host(call, comm, request);
  return guarded(comm, [&] { return start_wrapped(call, comm, request); });
}

}  // namespace tutti::mpi
