#include "mpi/communicators/leaders.h"

#include <algorithm>
#include <utility>

#include "mpi/host/inside.h"
#include "mpi/communicators/communicator.h"
#include "mpi/host/host_op.h"
#include "mpi/host/packing.h"
#include "mpi/host/ranks.h"
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
    if (code != success) return code;
  }
  return success;
}

// The program's type and operation, from a combination that Communicator::kernel or HostReduction
// has made.
struct Handles {
  Datatype type;
  Op op;
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

std::unique_ptr<HostLeaders> HostLeaders::make(Comm among, const std::vector<int32_t>& leading) {
  const int rank = rank_in(among);
  std::unique_ptr<HostLeaders> made(new HostLeaders(leading));
  const auto found = std::find(leading.begin(), leading.end(), rank);
  if (found != leading.end()) made->place_ = static_cast<int>(found - leading.begin());
  const int color = made->place_ >= 0 ? 0 : abi.undefined;
  int code = success;
  made->communicator_ = PrivateCommunicator::split(among, color, rank, &code);
  return all_say(code == success, among) ? std::move(made) : nullptr;
}

bool HostLeaders::run(const group::Call& call) {
  const Inside inside;  // some hosts call MPI_* themselves, and users' operations may
  const size_t bytes = call.count * (call.combine != nullptr ? call.combine->element : 1);
  const uint64_t entry = tracer() != nullptr ? trace::ticks() : 0;
  int code = success;
  if (call.combine == nullptr)
    code = move(call);
  else
    code = handles_of(*call.combine).dense ? combine_dense(call) : combine_with_gaps(call);
  const int root = plan::rooted(call.collective) ? leading_[static_cast<size_t>(call.root)] : 0;
  if (tracer() != nullptr)
    trace_host_call(entry, call.collective, Reason::among_leaders, bytes, root);
  ++calls_.messages;
  calls_.bytes += bytes;
  if (code == success) return true;
  failure_ = "the host MPI failed among the nodes' leaders in " +
             std::string(plan::name(call.collective)) + " of " + std::to_string(bytes) +
             " bytes (its error " + std::to_string(code) +
             "); do all ranks make the same collective calls, with the same lengths?";
  return false;
}

int HostLeaders::move(const group::Call& call) {
  if (!plan::has_data(call.collective)) return host().Barrier(communicator_.get());
  return in_pieces(call.count, most_at_once, [&](size_t first, int count) {
    return host().Bcast(static_cast<std::byte*>(call.out) + first, count, host().type_byte,
                        call.root, communicator_.get());
  });
}

int HostLeaders::combine_dense(const group::Call& call) {
  return in_pieces(call.count, most_at_once, [&](size_t first, int piece) {
    const size_t at = first * call.combine->element;
    return combine_piece(call, static_cast<const std::byte*>(call.in) + at,
                         static_cast<std::byte*>(call.out) + at, piece);
  });
}

int HostLeaders::combine_with_gaps(const group::Call& call) {
  const Datatype type = handles_of(*call.combine).type;
  const size_t element = call.combine->element;
  const size_t at_once = std::max<size_t>(1, unpacked_at_once / element);
  const Span span = span_of(type, std::min(call.count, at_once));
  std::vector<std::byte> memory(span.bytes);
  std::byte* const elements = memory.data() + span.before;
  return in_pieces(call.count, at_once, [&](size_t first, int piece) {
    const size_t at = first * element;
    const auto part = static_cast<size_t>(piece);
    int code = unpack(static_cast<const std::byte*>(call.in) + at, elements, part, type,
                      communicator_.get(), part * element);
    if (code == success) code = combine_piece(call, elements, elements, piece);
    if (code != success || !receives(call)) return code;
    return pack(elements, part, type, communicator_.get(), static_cast<std::byte*>(call.out) + at,
                part * element);
  });
}

int HostLeaders::combine_piece(const group::Call& call, const void* in, void* out, int count) {
  const Host& mpi = host();
  const auto [type, op, dense] = handles_of(*call.combine);
  const void* const from = in == out && receives(call) ? abi.in_place : in;
  if (!plan::rooted(call.collective))
    return mpi.Allreduce(from, out, count, type, op, communicator_.get());
  return mpi.Reduce(from, receives(call) ? out : nullptr, count, type, op, call.root,
                    communicator_.get());
}

}  // namespace tutti::mpi
