#include "mpi/collectives/staged.h"

#include <algorithm>

#include "base/gpu.h"
#include "base/log.h"
#include "mpi/collectives/general.h"
#include "mpi/communicators/topology.h"

namespace tutti::mpi {
namespace {

struct Extent {
  // The range of one element's bytes, and the distance to the next element.
  Aint begin = 0, end = 0, step = 0;
};
Extent extent_of(Datatype type) {
  Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  host().Type_get_extent(type, &lower, &extent);
  host().Type_get_true_extent(type, &true_lower, &true_extent);
  return {true_lower, true_lower + true_extent, extent};
}

// The bytes that a side's parts cover together, from the side's address.
struct Covered {
  ptrdiff_t begin = 0, end = 0;

  void add(ptrdiff_t at, Count count, const Extent& element) {
    if (count <= 0 || element.end <= element.begin) return;
    const ptrdiff_t last = at + static_cast<ptrdiff_t>(count - 1) * element.step;
    const ptrdiff_t first_byte = std::min(at, last) + element.begin;
    const ptrdiff_t end_of_last = std::max(at, last) + element.end;
    begin = begin == end ? first_byte : std::min(begin, first_byte);
    end = std::max(end, end_of_last);
  }
};

// Parts that lie one after another, and parts with places of their own.
Covered covered(const Side& side, size_t parts) {
  Covered all;
  const auto is_type = [](Datatype type) { return type != host().type_null; };
  if (!side.counts.given()) {
    if (is_type(side.type))
      all.add(0, side.count * static_cast<Count>(parts), extent_of(side.type));
    return all;
  }
  Count before = 0;
  for (size_t part = 0; part < parts; ++part) {
    const Count count = side.counts[part];
    if (count <= 0 || !is_type(side.type_of(part))) continue;
    const Extent element = extent_of(side.type_of(part));
    const Count place = side.displacements.given() ? side.displacements[part] : before;
    const bool in_bytes = side.types.given();
    all.add(static_cast<ptrdiff_t>(place) * (in_bytes ? 1 : element.step), count, element);
    before += count;
  }
  return all;
}

// The bytes that this rank uses of each side. Nothing if its arguments are wrong: the host raises
// the error.
struct Used {
  Covered in, out;
};
Used used_by(const Call& call, Comm comm) {
  int rank = 0, ranks = 0;
  if (call.shape == Shape::barrier || !ranks_of(comm, &rank, &ranks)) return {};
  if (call.shape == Shape::vector) return {covered(call.in, 1), {}};
  const Roles roles = roles_of(call.root == rank, call);
  auto parts_in = static_cast<size_t>(ranks), parts_out = parts_in;
  if (call.on_neighbourhood()) {
    const auto own = neighbourhood_of(comm);
    if (!own) return {};
    parts_in = own->destinations.size();
    parts_out = own->sources.size();
  }
  if (!plan::parted_in(call.collective)) parts_in = 1;
  Side out = call.out;
  if (plan::combines(call.collective) && roles.in_place) {
    parts_out = parts_in;  // the vectors to be combined are there
  } else if (call.shape == Shape::v_reduction && call.in.counts.given()) {
    out = side_of({call.out.data, call.in.counts[static_cast<size_t>(rank)], call.in.type});
    parts_out = 1;
  } else if (!plan::parted_out(call.collective)) {
    parts_out = 1;
  }
  return {roles.uses_in ? covered(call.in, parts_in) : Covered{},
          roles.uses_out ? covered(out, parts_out) : Covered{}};
}

}  // namespace

// The bytes that a side's parts cover begin and end there, from the side's address.
void StagedCall::stage(Side& side, ptrdiff_t begin, ptrdiff_t end, bool has_results) {
  auto* const data = static_cast<std::byte*>(side.data);
  if (begin == end || !gpu::owns(data + begin)) return;
  Copy& copy = copies_.emplace_back();
  copy.on_gpu = data + begin;
  copy.bytes.resize(static_cast<size_t>(end - begin));
  copy.has_results = has_results;
  side.data = copy.bytes.data() - begin;
}

std::unique_ptr<StagedCall> StagedCall::of(const Call& call, Comm comm) {
  std::unique_ptr<StagedCall> staged(new StagedCall(call));
  const Used used = used_by(call, comm);
  Side& in = staged->call_.in;
  Side& out = staged->call_.out;
  const bool one_buffer = call.shape == Shape::vector;
  staged->stage(in, used.in.begin, used.in.end, one_buffer);
  staged->stage(out, used.out.begin, used.out.end, true);
  if (one_buffer) out.data = in.data;
  if (staged->copies_.empty()) return nullptr;
  log_once("gpu memory", LogLevel::warning,
           "this program passes memory of a GPU to collectives; Tutti copies it to the host's "
           "memory and back");
  return staged;
}

void StagedCall::fetch() noexcept {
  for (Copy& copy : copies_)
    failed_ |= !gpu::copy(copy.bytes.data(), copy.on_gpu, copy.bytes.size());
}

bool StagedCall::bring_back() noexcept {
  for (const Copy& copy : copies_)
    if (copy.has_results && !failed_)
      failed_ |= !gpu::copy(copy.on_gpu, copy.bytes.data(), copy.bytes.size());
  if (failed_)
    log_once("gpu copy", LogLevel::error,
             "the GPU's library failed to copy a buffer of a collective; is the buffer still "
             "allocated?");
  return !failed_;
}

}  // namespace tutti::mpi
