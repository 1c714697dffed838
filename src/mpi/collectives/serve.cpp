#include "mpi/collectives/serve.h"

#include <chrono>

#include "base/gpu.h"
#include "mpi/host/tools.h"
#include "mpi/host/types.h"
#include "mpi/collectives/general.h"
#include "mpi/collectives/in_host.h"
#include "mpi/collectives/staged.h"
#include "mpi/collectives/verify.h"
#include "mpi/communicators/topology.h"
#include "mpi/progress/host_waits.h"
#include "report/tally.h"

namespace tutti::mpi {
namespace {

[[gnu::always_inline]] inline Served by_group(Communicator& communicator, const Call& call) {
  switch (call.shape) {
    case Shape::vector: return bcast_by_group(communicator, call);
    case Shape::parts: return parts_by_group(communicator, call);
    case Shape::v_parts: return v_parts_by_group(communicator, call);
    case Shape::reduction:
    case Shape::v_reduction: return reduction_by_group(communicator, call);
    case Shape::neighbours:
    case Shape::v_neighbours: return Reason::no_program;  // requests/neighbours.h serves them
    case Shape::barrier: break;
  }
  return communicator.finish(communicator.group()->run({call.collective}));
}

// For a communicator that has no group: sets it up if it meets. Unless it has a group then, returns
// an error of the set-up, or why the host must make the call.
[[gnu::cold, gnu::noinline]] Served without_group(Communicator& communicator, const Call& call) {
  const Comm comm = communicator.handle();
  if (communicator.may_meet()) {
    bool refused = false;
    const int code = guarded(comm, [&]() -> int {
      meet(communicator, [&] { return refused = host_refuses(comm, call); });
      return success;
    });
    if (code != success || communicator.group() != nullptr) return code;
    if (refused) return Reason::wrong_arguments;
  }
  // Set-up failed at this rank alone. Other ranks may still be in it, or have a group, so this rank
  // must not call the host.
  if (communicator.reason() == Reason::set_up_broken) return raise(comm, abi.err_other);
  return communicator.reason();
}

[[gnu::always_inline]] inline Served try_group(Communicator& communicator, const Call& call) {
  if (communicator.group() == nullptr) [[unlikely]] {
    const Served without = without_group(communicator, call);
    if (without.reason != Reason::none || without.code != success) return without;
  }
  try {
    return by_group(communicator, call);
  } catch (const Error& error) {
    return refused(communicator, error);
  } catch (...) {
    return raise_thrown(communicator.handle());
  }
}

std::string_view algorithm_of(Communicator& communicator, const Call& call, size_t bytes) {
  if (call.v_form()) return communicator.group()->v_algorithm();
  if (bytes == 0 && call.shape != Shape::barrier) return "none";
  const bool rooted_well = call.root >= 0 && call.root < communicator.group()->ranks();
  return rooted_well ? communicator.group()->algorithm(call.collective, bytes, call.root)
                     : std::string_view{};
}

// Records a call for the report. The call has been made, so a record that cannot be completed is
// not an error of the call.
void note_call(Communicator& communicator, const Call& call, Reason reason,
               const TimeSpent& time) noexcept {
  try {
    // Before set-up, the reason does not show whether the communicator has one rank.
    if (reason == Reason::set_up_pending && has_one_rank(communicator.handle()))
      reason = Reason::one_rank;
    const size_t bytes = bytes_to_report(call);
    const std::string_view algorithm = reason == Reason::none && communicator.group() != nullptr
                                           ? algorithm_of(communicator, call, bytes)
                                           : std::string_view{};
    report::record({call.collective, bytes, reason, algorithm, time});
  } catch (...) {
  }
}

// The side of a call that the report and traces show: it has this rank's own part, at every rank.
const Side& side_to_report(const Call& call) {
  if (plan::combines(call.collective)) return call.in;
  if (plan::scatters(call.collective)) return call.out.data == abi.in_place ? call.in : call.out;
  if (!plan::gathers(call.collective) && !call.v_form()) return call.out;
  return call.in.data != abi.in_place ? call.in : call.out;
}

// True if the root is not a rank of the communicator.
bool no_such_root(Comm communicator, int root) {
  int rank = 0, ranks = 0;
  return root != 0 && ranks_of(communicator, &rank, &ranks) && (root < 0 || root >= ranks);
}

// A null buffer of another type than a predefined one may be MPI_BOTTOM.
bool is_missing(const void* data, Count count, Datatype type) {
  return data == nullptr && count > 0 && named_type(type) != nullptr;
}

bool is_wrong(const Call& call, const Side& side, bool parted, int ranks) {
  if (!call.v_form() || !parted) {
    const bool misplaced = !call.v_form() && side.data == abi.in_place;
    return side.count < 0 || side.type == host().type_null || misplaced ||
           is_missing(side.data, side.count, side.type);
  }
  if (!side.counts.given()) return true;
  // MPICH does not look at the type of a part without elements.
  const auto has_type = [&](size_t part) {
    return (!abi.is_open_mpi && side.types.given() && side.counts[part] == 0) ||
           side.type_of(part) != host().type_null;
  };
  for (size_t part = 0; part < static_cast<size_t>(ranks); ++part)
    if (side.counts[part] < 0 || !has_type(part)) return true;
  return false;
}

bool refuses_reduction(Comm comm, const Call& call) {
  if (call.in.type == host().type_null || call.op == host().op_null) return true;
  if (const auto op = named_op(call.op)) {
    const NamedType* const element = predefined_type(call.in.type);
    if (element == nullptr || !takes(*op, element->kind)) return true;
  }
  int rank = 0, ranks = 0;
  if (!ranks_of(comm, &rank, &ranks)) return false;
  if (!call.v_form()) {
    const Side& in = call.in;
    if (in.count < 0 || is_missing(in.data, in.count, in.type)) return true;
    const bool receives = !plan::rooted(call.collective) || rank == call.root;
    const bool is_alias = in.data == call.out.data && in.count > 0;
    return receives && (is_missing(call.out.data, in.count, in.type) ||
                        (is_alias && host_judges_aliases(call.collective)));
  }
  if (!call.in.counts.given()) return true;
  for (size_t part = 0; part < static_cast<size_t>(ranks); ++part)
    if (call.in.counts[part] < 0) return true;
  return false;
}

// Programs may give MPI_DATATYPE_NULL with a count of 0, and no arrays at a rank without edges.
bool refuses_neighbours(Comm comm, const Call& call) {
  const auto neighbourhood = neighbourhood_of(comm);
  if (!neighbourhood) return true;
  const auto is_wrong = [](const Side& side, size_t blocks) {
    for (size_t i = 0; i < blocks; ++i)
      if (side.count_of(i) < 0 || (side.count_of(i) > 0 && side.type_of(i) == host().type_null))
        return true;
    return false;
  };
  const size_t blocks_in =
      plan::parted_in(call.collective) ? neighbourhood->destinations.size() : 1;
  return is_wrong(call.in, blocks_in) || is_wrong(call.out, neighbourhood->sources.size());
}

int by_host(Communicator& communicator, const Call& call, Comm comm, Reason reason) {
  const uint64_t entry = tracer() != nullptr ? trace::ticks() : 0;
  int code = success;
  {
    const Inside inside;  // some hosts call MPI_* themselves
    const InHost in_host(call, comm);
    code = sleeping([&] { return call_host(call, comm); });
  }
  if (tracer() != nullptr)
    trace_host_call(entry, call.collective, reason, bytes_to_report(call), call.root);
  return counted(communicator, call, comm, code);
}

std::optional<group::Call> plain(Communicator& communicator, const Call& call) {
  switch (call.shape) {
    case Shape::vector: return plain_bcast(communicator, call);
    case Shape::parts: return plain_parts(communicator, call);
    case Shape::reduction: return plain_reduction(communicator, call);
    case Shape::barrier: return group::Call{call.collective};
    default: return {};
  }
}

// The key of a call among the known ones, from the side whose bytes all ranks share.
group::CallKey known_key_of(const Call& call) {
  if (call.shape == Shape::barrier) return {call.collective, 0, 0, 0, 0};
  const bool by_out = plan::parted(call.collective) && !plan::combines(call.collective) &&
                      !plan::gathers(call.collective);
  const Side& side = by_out ? call.out : call.in;
  return key_of(call.collective, side.count, side.type, call.op, call.root);
}

// Serves a call on a communicator that Tutti knows, by its group or, as the program made it, by the
// host.
[[gnu::always_inline]] inline Served serve_by(Communicator& communicator, const Call& call,
                                              const Call& as_made, Comm comm) {
  Served served = try_group(communicator, call);
  if (served.reason != Reason::none) [[unlikely]]
    served.code = by_host(communicator, as_made, comm, served.reason);
  return served;
}

// The ranks' exchange of what they pass, as a call of the same communicator.
int run_exchange(Communicator& communicator, const Call& exchange, Comm comm) {
  group::Group* const group = communicator.group();
  if (group != nullptr)
    if (group::KnownCall* const known = group->known(known_key_of(exchange)))
      return communicator.finish(group->run(*known, exchange.in.data, exchange.out.data));
  const Served served = serve_by(communicator, exchange, exchange, comm);
  if (served.reason == Reason::none && served.code == success)
    if (const auto as_run = plain(communicator, exchange))
      communicator.group()->note(known_key_of(exchange), *as_run);
  return served.code;
}

// The call as the group runs it, if there is a group and its general path need not look at the
// call.
std::optional<group::Call> plain_by_group(Communicator& communicator, const Call& call) noexcept {
  if (communicator.group() == nullptr) return {};
  try {
    return plain(communicator, call);
  } catch (...) {  // the general path handles it
    return {};
  }
}

// Serves a call that has been verified. The next one may be verified while it runs, if it has no
// root and the group knows it by then.
Served serve_plain(Communicator& communicator, const Call& call, const group::Call& as_run) {
  group::Group& group = *communicator.group();
  const auto key = known_key_of(call);
  group::KnownCall* const known = plan::rooted(call.collective) ? nullptr : group.known(key);
  try {  // as in serve_ready
    const Code code =
        known != nullptr ? group.run(*known, as_run.in, as_run.out) : group.run(as_run);
    if (code == Code::ok && known == nullptr && !plan::rooted(call.collective))
      group.note(key, as_run);
    return communicator.finish(code);
  } catch (...) {
    return serve_by(communicator, call, call, communicator.handle());
  }
}

// Serves a call that its ranks compare.
Served serve_verified(Communicator& communicator, const Call& call, const Call& as_made,
                      Comm comm) {
  const bool is_staged = &call != &as_made;
  const auto as_run = is_staged ? std::nullopt : plain_by_group(communicator, call);
  if (as_run && communicator.group()->on_one_node()) {
    group::KnownCall* const known = communicator.group()->known(known_key_of(call));
    if (known != nullptr && verifies_while_it_runs(*known, call))
      return run_verified(communicator, *known, as_run->in, as_run->out, call, comm);
  }
  const auto run = [&](const Call& exchange) { return run_exchange(communicator, exchange, comm); };
  if (const int code = verify(communicator, as_made, comm, run); code != success) return code;
  return as_run ? serve_plain(communicator, call, *as_run)
                : serve_by(communicator, call, as_made, comm);
}

[[gnu::cold, gnu::noinline]] Served serve_observed(Communicator& communicator, const Call& call,
                                                   const Call& as_made, Comm comm) {
  const Stopwatch stopwatch(report::recording());
  const Served served = verifies_calls ? serve_verified(communicator, call, as_made, comm)
                                       : serve_by(communicator, call, as_made, comm);
  if (report::recording()) note_call(communicator, call, served.reason, stopwatch.read());
  return served;
}

[[gnu::always_inline]] inline Served serve(Communicator& communicator, const Call& call,
                                           const Call& as_made, Comm comm) {
  if (report::observing()) [[unlikely]]
    return serve_observed(communicator, call, as_made, comm);
  return serve_by(communicator, call, as_made, comm);
}

// The same while buffers may be in a GPU's memory.
[[gnu::cold, gnu::noinline]] int serve_staged(Communicator& communicator, const Call& call,
                                              Comm comm) {
  return guarded(comm, [&]() -> int {
    const bool may_serve = communicator.group() != nullptr || communicator.may_meet();
    const std::unique_ptr<StagedCall> staged = may_serve ? StagedCall::of(call, comm) : nullptr;
    if (staged == nullptr) return serve(communicator, call, call, comm).code;
    staged->fetch();
    const Served served = serve(communicator, staged->call(), call, comm);
    if (served.reason != Reason::none || served.code != success) return served.code;
    return staged->bring_back() ? success : raise(comm, abi.err_other);
  });
}

}  // namespace

size_t bytes_to_report(const Call& call) {
  if (!report::recording() && tracer() == nullptr) return 0;
  // On an intercommunicator the root may be MPI_ROOT or MPI_PROC_NULL, which are negative. This
  // rank may then use neither side.
  if (call.shape == Shape::barrier || call.root < 0) return 0;
  const Side& side = side_to_report(call);
  const Datatype type = side.type_of(0);
  return type != host().type_null ? bytes_of(side.count_of(0), type) : 0;
}

bool host_refuses(Comm comm, const Call& call) {
  if (call.shape == Shape::barrier) return false;
  if (call.on_neighbourhood()) return refuses_neighbours(comm, call);
  if (no_such_root(comm, call.root)) return true;
  if (plan::combines(call.collective)) return refuses_reduction(comm, call);
  if (call.shape == Shape::vector)
    return call.in.count < 0 || call.in.type == host().type_null ||
           is_missing(call.in.data, call.in.count, call.in.type);
  int rank = 0, ranks = 0;
  if (!ranks_of(comm, &rank, &ranks)) return false;
  const Roles roles = roles_of(call.root == rank, call);
  if (roles.uses_in && is_wrong(call, call.in, plan::parted_in(call.collective), ranks))
    return true;
  if (roles.uses_out && is_wrong(call, call.out, plan::parted_out(call.collective), ranks))
    return true;
  return roles.uses_in && roles.uses_out && host_finds_alias(call, rank);
}

bool ranks_of(Comm communicator, int* rank, int* ranks) {
  const Host& mpi = host();
  int inter = 0;
  return mpi.Comm_test_inter(communicator, &inter) == success && inter == 0 &&
         mpi.Comm_rank(communicator, rank) == success &&
         mpi.Comm_size(communicator, ranks) == success;
}

Served refused(Communicator& communicator, const Error& error) noexcept {
  try {
    communicator.say(error.what());
  } catch (...) {  // then the log lacks it, but all ranks still do the same
  }
  return Reason::no_program;
}

bool is_hidden(const Call& call) {
  if (!hides_any() || Inside::depth != 0 || !is_hidden(static_cast<size_t>(call.function)))
    return false;
  if (report::recording())
    report::record({call.collective, bytes_to_report(call), Reason::hidden_by_tool, {}, {}});
  return true;
}

Found find_or_make(const Call& call, Comm handle) {
  Found found;
  if (host().foreign || is_hidden(call)) return found;
  found.gpu = gpu::is_there();
  found.code = guarded(handle, [&]() -> int {
    found.communicator = find_communicator(handle);
    return success;
  });
  return found;
}

int counted(Communicator& communicator, const Call& call, Comm comm, int code) {
  if (communicator.is_decided() || (code == success && host_refuses(comm, call))) return code;
  if (code == success && communicator.count_only()) [[likely]]
    return code;
  const int set_up = guarded(communicator.handle(), [&]() -> int {
    count_call(communicator, code);
    return success;
  });
  return code != success ? code : set_up;
}

// An exception is thrown here only before this rank has entered the collective. The general path
// then makes the same call and handles the exception.
int serve_ready(Communicator& communicator, const Call& call) {
  try {
    if (const auto as_run = plain(communicator, call)) {
      group::Group& group = *communicator.group();
      const int code = communicator.finish(group.run(*as_run));
      if (code == success) group.note(known_key_of(call), *as_run);
      return code;
    }
  } catch (...) {
  }
  return serve(communicator, call, call, communicator.handle()).code;
}

int serve_any(const Call& call, Comm comm) {
  const Found found = find(call, comm);
  if (found.communicator == nullptr) [[unlikely]] {
    const InHost in_host(call, comm);
    return found.code != success ? found.code : sleeping([&] { return call_host(call, comm); });
  }
  if (found.gpu) return serve_staged(*found.communicator, call, comm);
  return serve(*found.communicator, call, call, comm).code;
}

}  // namespace tutti::mpi
