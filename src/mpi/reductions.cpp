#include "mpi/reductions.h"

#include "mpi/host_op.h"
#include "mpi/packing.h"
#include "mpi/route.h"
#include "mpi/types.h"

namespace tutti::mpi {
namespace {

// True where this rank gets a result. Rank 0 of an exscan does not; its `out` may be anything.
bool receives(const Communicator& communicator, const Reduction& reduction) {
  const int rank = communicator.group()->rank();
  if (reduction.collective == Collective::exscan) return rank > 0;
  return reduction.collective != Collective::reduce || rank == reduction.root;
}

size_t parts_in(const Communicator& communicator, const Reduction& reduction) {
  return plan::parted_in(reduction.collective) ? static_cast<size_t>(communicator.group()->ranks())
                                               : 1;
}

bool wrong(const Communicator& communicator, const Reduction& reduction) {
  if (reduction.count < 0 || reduction.type == host().type_null || reduction.op == host().op_null)
    return true;
  if (reduction.collective == Collective::reduce) {
    if (reduction.root < 0 || reduction.root >= communicator.group()->ranks()) return true;
    if (communicator.group()->rank() != reduction.root) return reduction.in == MPI_IN_PLACE;
  }
  if (reduction.out == MPI_IN_PLACE) return true;
  if (bytes_of(reduction.count, reduction.type) > most_bytes / parts_in(communicator, reduction))
    return true;
  return reduction.in == reduction.out && reduction.count > 0 &&
         host_judges_aliases(reduction.collective);
}

// True where nothing has to be judged but what every call shows: most calls. Counts that the
// general path must look at are not.
bool is_plain(const Communicator& communicator, const Reduction& reduction) {
  const void* const in = reduction.in;
  const void* const out = reduction.out;
  if (reduction.count <= 0 || reduction.count > INT_MAX || in == nullptr) return false;
  if (reduction.collective != Collective::reduce)
    return out != nullptr && in != out && out != MPI_IN_PLACE;
  if (reduction.root < 0 || reduction.root >= communicator.group()->ranks()) return false;
  if (communicator.group()->rank() != reduction.root) return in != MPI_IN_PLACE;
  return out != nullptr && in != out && out != MPI_IN_PLACE;
}

// What is combined here, in place or not.
const void* source(const Reduction& reduction) {
  return reduction.in == MPI_IN_PLACE ? reduction.out : reduction.in;
}

int run(Communicator& communicator, const Reduction& reduction, const void* in, void* out,
        const exec::Combine& combine) {
  group::Group& group = *communicator.group();
  const auto count = static_cast<size_t>(reduction.count);
  switch (reduction.collective) {
    case Collective::reduce:
      return communicator.finish(group.reduce(in, out, count, combine, reduction.root));
    case Collective::reduce_scatter:
      return communicator.finish(group.reduce_scatter(in, out, count, combine));
    case Collective::scan: return communicator.finish(group.scan(in, out, count, combine));
    case Collective::exscan: return communicator.finish(group.exscan(in, out, count, combine));
    default: return communicator.finish(group.allreduce(in, out, count, combine));
  }
}

Served reduce_packed(Communicator& communicator, const Reduction& reduction,
                     HostReduction& by_host) {
  const bool receiving = receives(communicator, reduction);
  const exec::Combine combine = by_host.combine();
  const auto count = static_cast<size_t>(reduction.count);
  const size_t count_in = count * parts_in(communicator, reduction);
  std::byte* const in = communicator.scratch(0, count_in * combine.element);
  std::byte* const out = receiving ? communicator.scratch(1, count * combine.element) : nullptr;
  const int packing = pack(source(reduction), count_in, reduction.type, communicator.handle(), in,
                           count_in * combine.element);
  const int code = run(communicator, reduction, in, out, combine);
  int unpacking = MPI_SUCCESS;
  if (receiving && code == MPI_SUCCESS)
    unpacking = unpack(out, reduction.out, count, reduction.type, communicator.handle(),
                       count * combine.element);
  communicator.release_scratch();
  return first_error(code, packing != MPI_SUCCESS ? packing : unpacking);
}

Served reduce_by_host_op(Communicator& communicator, const Reduction& reduction) {
  if (signature_bytes(reduction.type) > communicator.largest_element())
    return Reason::large_element;
  HostReduction by_host(reduction.type, reduction.op, communicator.handle());
  Served served = MPI_SUCCESS;
  if (by_host.is_dense()) {
    const bool receiving = receives(communicator, reduction);
    served = run(communicator, reduction, source(reduction), receiving ? reduction.out : nullptr,
                 by_host.combine());
  } else {
    served = reduce_packed(communicator, reduction, by_host);
  }
  return first_error(served.code, by_host.error());
}

Served reduce_by_group(Communicator& communicator, const Reduction& reduction) {
  if (wrong(communicator, reduction)) return Reason::wrong_arguments;
  const bool empty = bytes_of(reduction.count, reduction.type) ==
                     0;  // all ranks know, and nobody waits for anybody
  if (!predefined_op(reduction.op))
    return empty ? Served(MPI_SUCCESS) : reduce_by_host_op(communicator, reduction);
  const exec::Combine* const combine = communicator.kernel(reduction.type, reduction.op);
  // What MPI does not define, some hosts do; the others raise their error.
  if (combine == nullptr && !communicator.host_combines(reduction.type, reduction.op))
    return Reason::wrong_arguments;
  if (empty) return MPI_SUCCESS;
  const bool receiving = receives(communicator, reduction);
  const void* const in = source(reduction);
  if (in == nullptr || (receiving && reduction.out == nullptr)) return Reason::wrong_arguments;
  if (combine == nullptr) return reduce_by_host_op(communicator, reduction);
  return run(communicator, reduction, in, receiving ? reduction.out : nullptr, *combine);
}

template <class Plain>
int by_host(const Reduction& call, MPI_Comm communicator, Form form, Plain* plain,
            LargeReduction* large) {
  if (form == Form::large && large != nullptr)
    return large(call.in, call.out, call.count, call.type, call.op, communicator);
  if (form == Form::large && call.count > INT_MAX) return too_many(communicator);
  return plain(call.in, call.out, static_cast<int>(call.count), call.type, call.op, communicator);
}

int reduce_by_host(const Reduction& call, MPI_Comm communicator, Form form) {
  if (form == Form::large && host().Reduce_c != nullptr)
    return host().Reduce_c(call.in, call.out, call.count, call.type, call.op, call.root,
                           communicator);
  if (form == Form::large && call.count > INT_MAX) return too_many(communicator);
  return host().Reduce(call.in, call.out, static_cast<int>(call.count), call.type, call.op,
                       call.root, communicator);
}

int by_host(const Reduction& call, MPI_Comm communicator, Form form) {
  const Host& mpi = host();
  switch (call.collective) {
    case Collective::reduce: return reduce_by_host(call, communicator, form);
    case Collective::reduce_scatter:
      return by_host(call, communicator, form, mpi.Reduce_scatter_block,
                     mpi.Reduce_scatter_block_c);
    case Collective::scan: return by_host(call, communicator, form, mpi.Scan, mpi.Scan_c);
    case Collective::exscan: return by_host(call, communicator, form, mpi.Exscan, mpi.Exscan_c);
    default: return by_host(call, communicator, form, mpi.Allreduce, mpi.Allreduce_c);
  }
}

}  // namespace

// What is thrown, is thrown before the rank has entered; the general path meets it again.
int reduction_by_ready(Communicator& communicator, const Reduction& reduction, Form form) {
  try {
    const exec::Combine* const combine = communicator.kernel(reduction.type, reduction.op);
    if (combine != nullptr && is_plain(communicator, reduction)) {
      const bool receiving = reduction.collective != Collective::reduce ||
                             communicator.group()->rank() == reduction.root;
      const int code = run(communicator, reduction, source(reduction),
                           receiving ? reduction.out : nullptr, *combine);
      if (code == MPI_SUCCESS)
        communicator.group()->note(key_of(reduction.collective, reduction.count, reduction.type,
                                          reduction.op, reduction.root),
                                   reduction.collective, static_cast<size_t>(reduction.count),
                                   combine->element, reduction.root, combine);
      return code;
    }
  } catch (...) {
  }
  return reduction_by_any(reduction, communicator.handle(), form);
}

int reduction_by_any(const Reduction& reduction, MPI_Comm communicator, Form form) {
  return route(
      communicator,
      {reduction.collective, bytes_to_report(reduction.count, reduction.type), reduction.root},
      [&](Communicator& known) { return reduce_by_group(known, reduction); },
      [&] { return by_host(reduction, communicator, form); },
      [&] {
        return reduction.count < 0 || reduction.type == host().type_null ||
               reduction.op == host().op_null || no_such_root(communicator, reduction.root);
      });
}

}  // namespace tutti::mpi
