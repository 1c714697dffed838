#include "mpi/calls.h"

#include <chrono>
#include <climits>

#include "mpi/host_op.h"
#include "mpi/packing.h"
#include "mpi/report.h"
#include "mpi/tracing.h"
#include "mpi/types.h"

namespace tutti::mpi {
namespace {

using plan::Collective;
using Clock = std::chrono::steady_clock;

// How a group served a call: the code to return, or why the host must.
struct Served {
  Reason reason = Reason::none;
  int code = MPI_SUCCESS;
  Served(Reason why) : reason(why) {}
  Served(int result) : code(result) {}
};

// What a call is to the report.
struct Subject {
  Collective collective;
  size_t bytes;
  int root;
};

std::string_view algorithm_of(Communicator& communicator, const Subject& subject) {
  const bool rooted_well = subject.root >= 0 && subject.root < communicator.group()->ranks();
  return rooted_well ? communicator.group()->algorithm(subject.collective, subject.bytes, subject.root)
                     : std::string_view{};
}

Served try_group(Communicator& communicator, auto&& by_group) {
  if (communicator.group() == nullptr) return communicator.reason();
  try {
    return by_group(communicator);
  } catch (const Error& error) {  // thrown while making a program: by all ranks, before any arrived
    communicator.say(error.what());
    return Reason::no_program;
  }
}

// One call from entry to return. `by_group` is asked where the communicator has a group, `by_host` does the rest.
int route(MPI_Comm handle, const Subject& subject, auto&& by_group, auto&& by_host) {
  Communicator* const communicator = host().foreign ? nullptr : find_communicator(handle);
  if (communicator == nullptr) return by_host();
  const auto begin = recording() ? Clock::now() : Clock::time_point{};
  Served served = try_group(*communicator, by_group);
  if (served.reason != Reason::none) {
    const Inside inside;  // some hosts call MPI_* themselves
    const uint64_t entry = tracer() != nullptr ? trace::ticks() : 0;
    served.code = by_host();
    if (tracer() != nullptr) trace_host_call(entry, subject.collective, served.reason, subject.bytes, subject.root);
  }
  if (recording())
    record({subject.collective, subject.bytes, served.reason,
            served.reason == Reason::none ? algorithm_of(*communicator, subject) : std::string_view{},
            Clock::now() - begin});
  return served.code;
}

size_t bytes_of(MPI_Count count, MPI_Datatype type) {
  return count > 0 ? static_cast<size_t>(count) * signature_bytes(type) : 0;
}

// For the report and traces alone; asking the host for the size of a wrong type would raise an error too early.
size_t bytes_to_report(MPI_Count count, MPI_Datatype type) {
  return (recording() || tracer() != nullptr) && type != host().type_null ? bytes_of(count, type) : 0;
}

int too_many(MPI_Comm communicator) {
  host().Comm_call_errhandler(communicator, MPI_ERR_COUNT);
  return MPI_ERR_COUNT;
}

Served first_error(int one, int other) { return Served(one != MPI_SUCCESS ? one : other); }

// The packed vector lives in the communicator's scratch for the time of one call.
Served bcast_packed(Communicator& communicator, void* data, size_t count, MPI_Datatype type, int root) {
  const size_t bytes = count * signature_bytes(type);
  std::byte* const packed = communicator.scratch(0, bytes);
  const bool at_root = communicator.group()->rank() == root;
  int packing = MPI_SUCCESS;
  if (at_root) packing = pack(data, count, type, communicator.handle(), packed);
  const int code = communicator.finish(communicator.group()->bcast(packed, bytes, root));
  if (!at_root && code == MPI_SUCCESS) packing = unpack(packed, data, count, type, communicator.handle());
  communicator.release_scratch();
  return first_error(code, packing);
}

Served bcast_by_group(Communicator& communicator, void* data, MPI_Count count, MPI_Datatype type, int root) {
  if (count < 0 || type == host().type_null || root < 0 || root >= communicator.group()->ranks())
    return Reason::wrong_arguments;
  const size_t bytes = bytes_of(count, type);
  if (bytes == 0) return Reason::no_bytes;
  if (!dense(type)) return bcast_packed(communicator, data, static_cast<size_t>(count), type, root);
  if (data == nullptr && named_type(type) != nullptr) return Reason::wrong_arguments;
  return communicator.finish(communicator.group()->bcast(data, bytes, root));
}

// A reduction's arguments. `everywhere`: an allreduce.
struct Vectors {
  const void* in;
  void* out;
  size_t count;
  MPI_Datatype type;
  MPI_Op op;
  int root;
  bool everywhere;
};

bool aliases_tolerated = false;

// Open MPI never judges this of an allreduce.
bool alias_is_in_place(const Vectors& vectors) {
  return aliases_tolerated || (abi == Abi::openmpi && vectors.everywhere);
}

bool receives(const Communicator& communicator, const Vectors& vectors) {
  return vectors.everywhere || communicator.group()->rank() == vectors.root;
}

bool wrong(const Communicator& communicator, const Vectors& vectors, MPI_Count count) {
  if (count < 0 || vectors.type == host().type_null || vectors.op == host().op_null) return true;
  if (!vectors.everywhere && (vectors.root < 0 || vectors.root >= communicator.group()->ranks())) return true;
  if (!receives(communicator, vectors)) return vectors.in == MPI_IN_PLACE;
  if (vectors.out == MPI_IN_PLACE) return true;
  return vectors.in == vectors.out && count > 0 && !alias_is_in_place(vectors);
}

int run(Communicator& communicator, const Vectors& vectors, const void* in, void* out, const exec::Combine& combine) {
  group::Group& group = *communicator.group();
  return communicator.finish(vectors.everywhere ? group.allreduce(in, out, vectors.count, combine)
                                                : group.reduce(in, out, vectors.count, combine, vectors.root));
}

Served reduce_packed(Communicator& communicator, const Vectors& vectors, HostReduction& reduction) {
  const bool receiving = receives(communicator, vectors);
  const exec::Combine combine = reduction.combine();
  std::byte* const in = communicator.scratch(0, vectors.count * combine.element);
  std::byte* const out = receiving ? communicator.scratch(1, vectors.count * combine.element) : nullptr;
  const void* const user_in = vectors.in == MPI_IN_PLACE ? vectors.out : vectors.in;
  const int packing = pack(user_in, vectors.count, vectors.type, communicator.handle(), in);
  const int code = run(communicator, vectors, in, out, combine);
  int unpacking = MPI_SUCCESS;
  if (receiving && code == MPI_SUCCESS)
    unpacking = unpack(out, vectors.out, vectors.count, vectors.type, communicator.handle());
  communicator.release_scratch();
  return first_error(code, packing != MPI_SUCCESS ? packing : unpacking);
}

Served reduce_by_host_op(Communicator& communicator, const Vectors& vectors) {
  if (signature_bytes(vectors.type) > communicator.largest_element()) return Reason::large_element;
  HostReduction reduction(vectors.type, vectors.op, communicator.handle());
  Served served = MPI_SUCCESS;
  if (reduction.is_dense()) {
    const bool receiving = receives(communicator, vectors);
    const void* const in = vectors.in == MPI_IN_PLACE ? vectors.out : vectors.in;
    served = run(communicator, vectors, in, receiving ? vectors.out : nullptr, reduction.combine());
  } else {
    served = reduce_packed(communicator, vectors, reduction);
  }
  return first_error(served.code, reduction.error());
}

Served reduce_by_group(Communicator& communicator, const Vectors& vectors, MPI_Count count) {
  if (wrong(communicator, vectors, count)) return Reason::wrong_arguments;
  if (bytes_of(count, vectors.type) == 0) return Reason::no_bytes;
  if (!predefined_op(vectors.op)) return reduce_by_host_op(communicator, vectors);
  const exec::Combine* const combine = communicator.kernel(vectors.type, vectors.op);
  // What MPI does not define, some hosts do; the others raise their error.
  if (combine == nullptr && !communicator.host_combines(vectors.type, vectors.op)) return Reason::wrong_arguments;
  const bool receiving = receives(communicator, vectors);
  const void* const in = vectors.in == MPI_IN_PLACE ? vectors.out : vectors.in;
  if (in == nullptr || (receiving && vectors.out == nullptr)) return Reason::wrong_arguments;
  if (combine == nullptr) return reduce_by_host_op(communicator, vectors);
  return run(communicator, vectors, in, receiving ? vectors.out : nullptr, *combine);
}

}  // namespace

void tolerate_aliases() { aliases_tolerated = true; }

int barrier_by_any(MPI_Comm communicator) {
  return route(
      communicator, {Collective::barrier, 0, 0},
      [](Communicator& known) -> Served { return known.finish(known.group()->barrier()); },
      [&] { return host().Barrier(communicator); });
}

int bcast_by_any(void* data, MPI_Count count, MPI_Datatype type, int root, MPI_Comm communicator, Form form) {
  return route(
      communicator, {Collective::bcast, bytes_to_report(count, type), root},
      [&](Communicator& known) { return bcast_by_group(known, data, count, type, root); },
      [&]() -> int {
#ifdef TUTTI_LARGE_COUNTS
        if (form == Form::large && host().Bcast_c != nullptr) return host().Bcast_c(data, count, type, root, communicator);
#endif
        if (form == Form::large && count > INT_MAX) return too_many(communicator);
        return host().Bcast(data, static_cast<int>(count), type, root, communicator);
      });
}

int reduce_by_any(const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                  MPI_Comm communicator, Form form) {
  const Vectors vectors{in, out, static_cast<size_t>(count), type, op, root, false};
  return route(
      communicator, {Collective::reduce, bytes_to_report(count, type), root},
      [&](Communicator& known) { return reduce_by_group(known, vectors, count); },
      [&]() -> int {
#ifdef TUTTI_LARGE_COUNTS
        if (form == Form::large && host().Reduce_c != nullptr)
          return host().Reduce_c(in, out, count, type, op, root, communicator);
#endif
        if (form == Form::large && count > INT_MAX) return too_many(communicator);
        return host().Reduce(in, out, static_cast<int>(count), type, op, root, communicator);
      });
}

int allreduce_by_any(const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm communicator,
                     Form form) {
  const Vectors vectors{in, out, static_cast<size_t>(count), type, op, 0, true};
  return route(
      communicator, {Collective::allreduce, bytes_to_report(count, type), 0},
      [&](Communicator& known) { return reduce_by_group(known, vectors, count); },
      [&]() -> int {
#ifdef TUTTI_LARGE_COUNTS
        if (form == Form::large && host().Allreduce_c != nullptr)
          return host().Allreduce_c(in, out, count, type, op, communicator);
#endif
        if (form == Form::large && count > INT_MAX) return too_many(communicator);
        return host().Allreduce(in, out, static_cast<int>(count), type, op, communicator);
      });
}

}  // namespace tutti::mpi
