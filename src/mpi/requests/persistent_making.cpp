// How persistent collectives are made: each rank derives what it gives and takes from the
// collective's definition, and the ranks agree.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "base/error.h"
#include "mpi/requests/persistent.h"
#include "mpi/requests/requests.h"
#include "mpi/collectives/general.h"
#include "mpi/abi/types.h"
#include "report/tally.h"

namespace tutti::mpi {
namespace {

// The limit for the shared memory of one operation.
constexpr size_t most_shared = size_t{256} << 20;

uint64_t call_word(const Call& call) {
  return static_cast<uint64_t>(call.collective) << 32 | static_cast<uint32_t>(call.root);
}

bool by_bad_root(const Call& call, int ranks) {
  return plan::rooted(call.collective) && (call.root < 0 || call.root >= ranks);
}

}  // namespace

std::unique_ptr<Persistent> Persistent::make(Communicator& communicator, const Call& call,
                                             Reason* reason, int* code) {
  std::unique_ptr<Persistent> made(new Persistent(communicator, call));
  Deposits::Announced own;
  own.call = call_word(call);
  own.refuses = static_cast<uint64_t>(made->describe_buffers(communicator, call));
  own.blocks = made->given_.size();
  for (const Part& part : made->given_) {
    own.bytes += (part.bytes + 15) / 16 * 16;
    own.longest = std::max<uint64_t>(own.longest, part.bytes);
  }
  own.process = static_cast<uint64_t>(getpid());
  static std::atomic<uint64_t> numbers{0};
  own.number = ++numbers;
  std::vector<Deposits::Announced> all(static_cast<size_t>(made->ranks_));
  *code = communicator.finish(
      communicator.group()->run({Collective::allgather, &own, all.data(), sizeof own}));
  if (*code != MPI_SUCCESS) return nullptr;
  try {
    if (made->agree(communicator, own, all, reason, code)) return made;
  } catch (const Error&) {  // thrown at all ranks, so the host makes the request
    throw;
  } catch (...) {  // at this rank alone: the others go on, so the group's use ends
    *code = communicator.finish(communicator.group()->fail_thrown(
        exec::call_signature(call.collective, own.longest, call.root)));
  }
  return nullptr;
}

// The rest of the making, after all ranks have announced what they give. Returns false, with
// *reason or *code, if there will be no request.
bool Persistent::agree(Communicator& communicator, const Deposits::Announced& own,
                       const std::vector<Deposits::Announced>& all, Reason* reason, int* code) {
  for (const Deposits::Announced& rank : all)
    *reason = std::max(*reason, static_cast<Reason>(rank.refuses));
  if (*reason != Reason::none) return false;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (all[static_cast<size_t>(rank)].call == own.call) continue;
    communicator.say("rank " + std::to_string(rank) +
                     " makes another persistent collective, or one with another root, than rank " +
                     std::to_string(rank_) + ", which makes a persistent " +
                     std::string(plan::name(collective_)) +
                     "; all ranks of a communicator must make the same persistent collectives in "
                     "the same order");
    *code = communicator.fail();
    return false;
  }
  if (Deposits::needed(all) > most_shared) {
    *reason = Reason::large_persistent;
    return false;
  }
  deposits_ = Deposits::make(*communicator.group(), communicator.segments_of_deposits(),
                             communicator.segment()->location().kind, all);
  if (deposits_ == nullptr) {
    *reason = Reason::shared_memory_exhausted;
    return false;
  }
  for (const Deposits::Announced& rank : all)
    part_bytes_ = std::max<size_t>(part_bytes_, rank.longest);
  link();
  if (tracer() != nullptr) describe_for_traces(communicator, all[0].number);
  return true;
}

// Returns a copy of a derived type, because the program may free the type while the request lives.
// Returns a predefined type as it is.
MPI_Datatype Persistent::keep(MPI_Datatype type) {
  if (named_type(type) != nullptr) return type;
  MPI_Datatype copy = type;
  if (host().Type_dup(type, &copy) == MPI_SUCCESS) kept_types_.push_back(copy);
  return copy;
}

// Appends the parts of one side to `parts`. Returns false if an argument is wrong.
bool Persistent::describe(const Side& side, bool parted, const Call& call,
                          std::vector<Part>& parts) {
  if (side.data == MPI_IN_PLACE || (parted && call.v_form() && !side.counts.given())) return false;
  const size_t count_of_parts = parted ? static_cast<size_t>(ranks_) : 1;
  size_t before = 0;  // elements of the parts so far, if these are adjacent
  for (size_t i = 0; i < count_of_parts; ++i) {
    const size_t entry = parted ? i : static_cast<size_t>(rank_);
    const MPI_Count count = side.counts.given() ? side.counts[entry] : side.count;
    if (count < 0) return false;
    Part& part = parts.emplace_back();
    if (count == 0) continue;
    const MPI_Datatype type = side.type_of(i);
    if (type == host().type_null) return false;
    part.count = static_cast<size_t>(count);
    const TypeShape shape = shape_of(type);
    part.bytes = bytes_of(count, shape);
    if (part.bytes > most_bytes / count_of_parts) return false;
    if (part.bytes > 0 && side.data == nullptr && shape.named) return false;
    part.dense = shape.dense;
    const bool placed = side.displacements.given();
    if (side.types != nullptr)
      part.at = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(side.data) +
                                        static_cast<uintptr_t>(side.displacements[i]));
    else
      part.at =
          element(side.data, placed ? static_cast<size_t>(side.displacements[i]) : before, type);
    part.type = keep(type);
    before += part.count;
  }
  return true;
}

Reason Persistent::choose_combine(Communicator& communicator, const Call& call) {
  if (call.op == host().op_null || call.in.type == host().type_null) return Reason::wrong_arguments;
  if (!predefined_op(call.op)) return Reason::users_operation;
  const exec::Combine* const kernel = communicator.kernel(call.in.type, call.op);
  if (kernel != nullptr) {
    combine_ = *kernel;
    return Reason::none;
  }
  if (!communicator.host_combines(call.in.type, call.op)) return Reason::wrong_arguments;
  host_op_ = std::make_unique<HostReduction>(call.in.type, call.op, communicator_);
  combine_ = host_op_->combine();
  return Reason::none;
}

// Finds what this rank gives and wants, in place or not. Returns the reason if the host must make
// the request, else Reason::none.
Reason Persistent::describe_buffers(Communicator& communicator, const Call& call) {
  if (!plan::has_data(collective_)) return Reason::none;
  if (by_bad_root(call, ranks_)) return Reason::wrong_arguments;
  const bool combines = plan::combines(collective_);
  if (combines) {
    if (const Reason reason = choose_combine(communicator, call); reason != Reason::none)
      return reason;
    if (call.in.data == call.out.data && call.in.count > 0 && host_judges_aliases(collective_))
      return Reason::wrong_arguments;
  }
  const plan::Definition definition{collective_, ranks_, root_,
                                    plan::parted(collective_) ? ranks_ : 1};
  const bool at_root = rank_ == root_;
  const bool keeps_own = plan::scatters(collective_) && at_root && call.out.data == MPI_IN_PLACE;
  const bool wants =
      definition.has_out(rank_) && !keeps_own && !(plan::one_buffer(collective_) && at_root);
  if (wants && !describe(call.out, plan::parted_out(collective_), call, wanted_))
    return Reason::wrong_arguments;
  if (!definition.has_in(rank_)) return Reason::none;
  if (call.in.data != MPI_IN_PLACE)
    return describe(call.in, plan::parted_in(collective_), call, given_) ? Reason::none
                                                                         : Reason::wrong_arguments;
  // Rank 0 of an exscan in place gets no result, but gives the contents of its `out`.
  if (!wants && !plan::skips_rank_0(collective_)) return Reason::wrong_arguments;
  if (plan::one_buffer(collective_) || plan::scatters(collective_)) return Reason::wrong_arguments;
  if (combines) {
    Side in = call.in;
    in.data = call.out.data;
    return describe(in, plan::parted_in(collective_), call, given_) ? Reason::none
                                                                    : Reason::wrong_arguments;
  }
  if (plan::exchanges(collective_))
    given_ = wanted_;
  else
    given_ = {wanted_[static_cast<size_t>(rank_)]};
  return Reason::none;
}

void Persistent::link() {
  Deposits::Block* const table = deposits_->table();
  size_t at = 0;
  for (size_t i = 0; i < given_.size(); ++i) {
    table[i] = {at, given_[i].bytes};
    at += (given_[i].bytes + 15) / 16 * 16;
  }
  const plan::Definition definition{collective_, ranks_, root_,
                                    plan::parted(collective_) ? ranks_ : 1};
  const size_t block = plan::parted_in(collective_) ? static_cast<size_t>(rank_) : 0;
  for (size_t i = 0; i < wanted_.size(); ++i) {
    const plan::RankRange from = definition.sources(rank_, static_cast<int32_t>(i));
    if (from.low < from.high) results_.push_back({wanted_[i], from, block});
  }
  sources_.resize(static_cast<size_t>(ranks_));
}

namespace {

// Returns an MPI error code, and sets *reason if the host must make the request.
int make_request(Communicator& communicator, const Call& call, MPI_Request* request,
                 Reason* reason) {
  std::unique_ptr<Persistent> made;
  int code = MPI_SUCCESS;
  try {
    made = Persistent::make(communicator, call, reason, &code);
  } catch (const Error& error) {
    *reason = refused(communicator, error).reason;
  }
  return made != nullptr ? Persistent::hand_over(std::move(made), request) : code;
}

}  // namespace

int persistent_init(const Call& call, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const Found found = find(comm);
  Communicator* const known = found.communicator;
  if (found.code != MPI_SUCCESS) return found.code;
  if (known == nullptr) return call_host(call, comm, info, request);
  Reason reason = known->reason();
  if (reason == Reason::set_up_broken) return raise(comm, MPI_ERR_OTHER);
  if (known->group() != nullptr && !known->group()->on_one_node()) {
    reason = Reason::persistent_between_nodes;
  } else if (known->group() != nullptr) {
    const int code = guarded(comm, [&] { return make_request(*known, call, request, &reason); });
    if (code != MPI_SUCCESS || reason == Reason::none) return code;
  }
  const uint64_t entry = tracer() != nullptr ? trace::ticks() : 0;
  int code = MPI_SUCCESS;
  {
    const Inside inside;
    code = call_host(call, comm, info, request);
  }
  const size_t bytes = bytes_to_report(call);
  if (tracer() != nullptr) trace_host_call(entry, call.collective, reason, bytes, call.root);
  if (report::recording() && code == MPI_SUCCESS)
    note_hosts_request(*request, {call.collective, bytes, reason, {}, {}});
  return counted(*known, code);
}

}  // namespace tutti::mpi
