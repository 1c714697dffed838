#include "mpi/communicators/leaders.h"

#include <algorithm>
#include <utility>

#include "mpi/abi/inside.h"
#include "mpi/communicators/communicator.h"
#include "mpi/abi/host_op.h"
#include "mpi/abi/packing.h"
#include "mpi/report/tracing.h"

namespace tutti::mpi {
namespace {

// The host's counts are ints.
constexpr size_t most_at_once = size_t{1} << 30;
// Packed bytes of elements that are unpacked together. All leaders use the same pieces, whatever
// the layouts of their types.
constexpr size_t unpacked_at_once = size_t{1} << 20;

// Calls piece(index of the first element, elements) for pieces of at most `at_once` elements until
// one fails. Returns that piece's error code, or MPI_SUCCESS.
template <class Piece>
int in_pieces(size_t count, size_t at_once, Piece&& piece) {
  for (size_t done = 0; done < count; done += at_once) {
    const int code = piece(done, static_cast<int>(std::min(at_once, count - done)));
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

// The program's type and operation, from a combination that Communicator::kernel or HostReduction
// has made.
struct Handles {
  MPI_Datatype type;
  MPI_Op op;
  bool dense;
};
Handles handles_of(const exec::Combine& combine) {
  if (combine.kernel != nullptr) {
    const KernelChoice& choice = *static_cast<const KernelChoice*>(combine.context);
    return {choice.type, choice.op, true};
  }
  const HostReduction& reduction = *static_cast<const HostReduction*>(combine.context);
  return {reduction.type(), reduction.op(), reduction.is_dense()};
}

}  // namespace

std::unique_ptr<HostLeaders> HostLeaders::make(MPI_Comm among,
                                               const std::vector<int32_t>& leading) {
  const Host& mpi = host();
  int rank = 0;
  mpi.Comm_rank(among, &rank);
  std::unique_ptr<HostLeaders> made(new HostLeaders(leading));
  const auto found = std::find(leading.begin(), leading.end(), rank);
  if (found != leading.end()) made->place_ = static_cast<int>(found - leading.begin());
  const int color = made->place_ >= 0 ? 0 : MPI_UNDEFINED;
  const bool split = mpi.Comm_split(among, color, rank, &made->communicator_) == MPI_SUCCESS;
  uint64_t own = split ? 1 : 0, all = 0;
  if (mpi.Allreduce(&own, &all, 1, mpi.type_uint64, mpi.op_min, among) != MPI_SUCCESS || all == 0)
    return nullptr;
  return made;
}

HostLeaders::~HostLeaders() {
  if (communicator_ != host().comm_null) host().Comm_free(&communicator_);
}

template <class ByHost>
bool HostLeaders::call(plan::Collective collective, size_t bytes, int root, ByHost&& by_host) {
  const Inside inside;  // some hosts call MPI_* themselves, and users' operations may
  const uint64_t entry = tracer() != nullptr ? trace::ticks() : 0;
  const int code = by_host();
  const int rank = leading_[static_cast<size_t>(std::max(root, 0))];
  if (tracer() != nullptr)
    trace_host_call(entry, collective, Reason::among_leaders, bytes, root < 0 ? 0 : rank);
  ++calls_.calls;
  calls_.bytes += bytes;
  if (code == MPI_SUCCESS) return true;
  failure_ = "the host MPI failed among the nodes' leaders in " +
             std::string(plan::name(collective)) + " of " + std::to_string(bytes) +
             " bytes (its error " + std::to_string(code) +
             "); do all ranks make the same collective calls, with the same lengths?";
  return false;
}

bool HostLeaders::barrier() {
  return call(plan::Collective::barrier, 0, everywhere,
              [&] { return host().Barrier(communicator_); });
}

bool HostLeaders::bcast(void* data, size_t bytes, int root) {
  return call(plan::Collective::bcast, bytes, root, [&] {
    return in_pieces(bytes, most_at_once, [&](size_t first, int count) {
      return host().Bcast(static_cast<std::byte*>(data) + first, count, host().type_byte, root,
                          communicator_);
    });
  });
}

bool HostLeaders::reduce(const void* in, void* out, size_t count, const exec::Combine& combine,
                         int root) {
  return call(plan::Collective::reduce, count * combine.element, root, [&] {
    return handles_of(combine).dense ? combine_dense(in, out, count, combine, root)
                                     : combine_with_gaps(in, out, count, combine, root);
  });
}

bool HostLeaders::allreduce(const void* in, void* out, size_t count, const exec::Combine& combine) {
  return call(plan::Collective::allreduce, count * combine.element, everywhere, [&] {
    return handles_of(combine).dense ? combine_dense(in, out, count, combine, everywhere)
                                     : combine_with_gaps(in, out, count, combine, everywhere);
  });
}

int HostLeaders::combine_dense(const void* in, void* out, size_t count,
                               const exec::Combine& combine, int root) {
  const Handles handles = handles_of(combine);
  return in_pieces(count, most_at_once, [&](size_t first, int piece) {
    const size_t at = first * combine.element;
    return combine_piece(static_cast<const std::byte*>(in) + at, static_cast<std::byte*>(out) + at,
                         piece, handles.type, handles.op, root);
  });
}

int HostLeaders::combine_with_gaps(const void* in, void* out, size_t count,
                                   const exec::Combine& combine, int root) {
  const Handles handles = handles_of(combine);
  const size_t at_once = std::max<size_t>(1, unpacked_at_once / combine.element);
  const Span span = span_of(handles.type, std::min(count, at_once));
  std::vector<std::byte> memory(span.bytes);
  std::byte* const elements = memory.data() + span.before;
  return in_pieces(count, at_once, [&](size_t first, int piece) {
    const size_t at = first * combine.element;
    const auto part = static_cast<size_t>(piece);
    int code = unpack(static_cast<const std::byte*>(in) + at, elements, part, handles.type,
                      communicator_, part * combine.element);
    if (code == MPI_SUCCESS)
      code = combine_piece(elements, elements, piece, handles.type, handles.op, root);
    if (code != MPI_SUCCESS || (root >= 0 && root != place_)) return code;
    return pack(elements, part, handles.type, communicator_, static_cast<std::byte*>(out) + at,
                part * combine.element);
  });
}

int HostLeaders::combine_piece(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                               int root) {
  const Host& mpi = host();
  const void* const from = in == out && (root < 0 || root == place_) ? MPI_IN_PLACE : in;
  if (root < 0) return mpi.Allreduce(from, out, count, type, op, communicator_);
  return mpi.Reduce(from, root == place_ ? out : nullptr, count, type, op, root, communicator_);
}

}  // namespace tutti::mpi
