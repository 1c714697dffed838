// The collectives that move data in equal parts, and the bcast.
//
// All ranks of a call with parts share the bytes of one part. In allgather and alltoall these come
// from the receive side. The root of a gather has them from the receive side and the root of a
// scatter from the send side; the other ranks have only one side. Types and counts may differ
// between ranks and sides as long as these bytes are the same.
#include <algorithm>

#include "mpi/host/packing.h"
#include "mpi/host/types.h"
#include "mpi/collectives/general.h"
#include "mpi/job/thrown.h"

namespace tutti::mpi {
namespace {

// Broadcasts a vector of a type with gaps, packed in the communicator's scratch.
Served bcast_packed(Communicator& communicator, const Call& call, size_t bytes) {
  std::byte* const packed = communicator.memory().scratch(0, bytes);
  const bool at_root = communicator.group()->rank() == call.root;
  const auto count = static_cast<size_t>(call.in.count);
  int packing = success;
  if (at_root)
    packing = pack(call.in.data, count, call.in.type, communicator.handle(), packed, bytes);
  const int code = communicator.finish(
      communicator.group()->run({call.collective, packed, packed, bytes, call.root}));
  if (!at_root && code == success)
    packing = unpack(packed, call.in.data, count, call.in.type, communicator.handle(), bytes);
  communicator.memory().release_scratch();
  return first_error(code, packing);
}

bool wrong(const Side& side) {
  return side.count < 0 || side.type == host().type_null || side.data == abi.in_place;
}

// One side of a call as the bytes of its packed parts, in the user's memory or in scratch.
class Packed {
 public:
  Packed(Communicator& communicator, const Side& side, bool matters, bool parted, int which)
      : communicator_(communicator),
        side_(side),
        which_(which),
        parts_(parted ? static_cast<size_t>(communicator.group()->ranks()) : 1),
        shape_(matters ? shape_of(side.type) : TypeShape{}),
        own_part_(bytes_of(side.count, shape_)) {}

  size_t own_part() const { return own_part_; }  // bytes of a part by this side's arguments
  // True if the buffer is null although it has elements of a predefined type. A derived type may
  // have absolute addresses, and the buffer is then MPI_BOTTOM.
  bool is_missing() const { return side_.data == nullptr && side_.count > 0 && shape_.named; }

  // Chooses where the bytes are. All ranks share `part`, the bytes of one part.
  void place(size_t part) {
    part_ = part;
    packed_ = !shape_.dense || own_part_ != part;
    data_ = packed_ ? communicator_.memory().scratch(which_, parts_ * std::max(part, own_part_))
                    : static_cast<std::byte*>(side_.data);
  }
  // If this side's parts have another length, each is packed to where a part begins; the next one
  // overwrites what is too long.
  int fill() const {
    if (!packed_) return success;
    if (own_part_ == part_) return pack_parts(0, parts_, data_);
    int packing = success;
    for (size_t i = 0; i < parts_ && packing == success; ++i)
      packing = pack_parts(i, 1, data_ + i * part_);
    return packing;
  }
  // Packs `parts` of the user's parts, the first of which is `first`, into `to`.
  int pack_parts(size_t first, size_t parts, std::byte* to) const {
    const auto count = static_cast<size_t>(side_.count);
    void* const from = first == 0 ? side_.data : element(side_.data, first * count, side_.type);
    return pack(from, parts * count, side_.type, communicator_.handle(), to, parts * own_part_);
  }
  int unpack_all() const {
    if (!packed_) return success;
    return unpack(data_, side_.data, parts_ * static_cast<size_t>(side_.count), side_.type,
                  communicator_.handle(), parts_ * own_part_);
  }

  bool is_packed() const { return packed_; }
  size_t parts() const { return parts_; }
  std::byte* data() const { return data_; }
  void use(std::byte* data) { data_ = data; }

 private:
  Communicator& communicator_;
  const Side& side_;
  const int which_;
  const size_t parts_;
  const TypeShape shape_;
  const size_t own_part_;
  size_t part_ = 0;
  bool packed_ = false;
  std::byte* data_ = nullptr;
};

// For a call in place: makes the side that was not given from the other one, and packs what the
// user's buffer contains.
int share(const Communicator& communicator, Collective collective, size_t part, Packed& in,
          Packed& out) {
  const auto rank = static_cast<size_t>(communicator.group()->rank());
  if (plan::scatters(collective)) {
    out.use(in.data() + rank * part);
    return success;
  }
  const bool all = plan::exchanges(collective);
  in.use(out.data() + (all ? 0 : rank * part));
  if (!out.is_packed()) return success;
  return out.pack_parts(all ? 0 : rank, all ? out.parts() : 1, in.data());
}

Served run(Communicator& communicator, const Call& call, const Roles& roles, size_t part,
           Packed& in, Packed& out) {
  if (roles.uses_in) in.place(part);
  if (roles.uses_out) out.place(part);
  int packing = roles.uses_in ? in.fill() : success;
  if (roles.in_place)
    packing = first_error(packing, share(communicator, call.collective, part, in, out)).code;
  const int code = communicator.finish(
      communicator.group()->run({call.collective, in.data(), out.data(), part, call.root}));
  if (roles.uses_out && code == success) packing = first_error(packing, out.unpack_all()).code;
  communicator.memory().release_scratch();
  return first_error(code, packing);
}

}  // namespace

Served bcast_by_group(Communicator& communicator, const Call& call) {
  const auto& [data, count, counts, displacements, type, types] = call.in;
  if (count < 0 || type == host().type_null || call.root < 0 ||
      call.root >= communicator.group()->ranks())
    return Reason::wrong_arguments;
  const TypeShape shape = shape_of(type);
  const size_t bytes = bytes_of(count, shape);
  if (bytes == 0) return success;  // all ranks know it, so no rank waits
  if (!shape.dense) return bcast_packed(communicator, call, bytes);
  if (data == nullptr && shape.named) return Reason::wrong_arguments;
  return communicator.finish(
      communicator.group()->run({call.collective, data, data, bytes, call.root}));
}

Served parts_by_group(Communicator& communicator, const Call& call) {
  const int ranks = communicator.group()->ranks();
  const bool rooted = plan::rooted(call.collective);
  if (rooted && (call.root < 0 || call.root >= ranks)) return Reason::wrong_arguments;
  const bool at_root = communicator.group()->rank() == call.root;
  const Roles roles = roles_of(at_root, call);
  if ((roles.uses_in && wrong(call.in)) || (roles.uses_out && wrong(call.out)))
    return Reason::wrong_arguments;
  Packed in(communicator, call.in, roles.uses_in, plan::parted_in(call.collective), 0);
  Packed out(communicator, call.out, roles.uses_out, plan::parted_out(call.collective), 1);
  const size_t largest = std::max(in.own_part(), out.own_part());
  if (largest > most_bytes / static_cast<size_t>(ranks)) return Reason::wrong_arguments;
  // If a rank's two sides disagree about the bytes of a part, the rank still takes part, because
  // the other ranks, which cannot know it, wait for it. A root's mismatch is detected. In an
  // allgather or an alltoall the receive side holds, and of a send side that is longer the rest is
  // left out. As in the hosts that is an error in an alltoall, and seen by nobody in an allgather.
  const bool by_in = rooted && at_root == plan::scatters(call.collective);
  const size_t part = by_in ? in.own_part() : out.own_part();
  if (part == 0) return success;  // all ranks know it, so no rank waits
  if ((roles.uses_in && in.is_missing()) || (roles.uses_out && out.is_missing()))
    return Reason::wrong_arguments;
  if (roles.uses_in && roles.uses_out && host_finds_alias(call, communicator.group()->rank()))
    return Reason::wrong_arguments;
  const Served served = run(communicator, call, roles, part, in, out);
  const bool cut = plan::exchanges(call.collective) && roles.uses_in && in.own_part() > part;
  if (served.code != success || !cut) return served;
  return raise(communicator.handle(), abi.err_truncate);
}

std::optional<group::Call> plain_bcast(Communicator& communicator, const Call& call) {
  const size_t element = communicator.memory().dense_bytes(call.in.type);
  if (element == 0 || call.in.count <= 0 || call.in.data == nullptr || call.root < 0 ||
      call.root >= communicator.group()->ranks())
    return {};
  const size_t bytes = static_cast<size_t>(call.in.count) * element;
  return group::Call{call.collective, call.in.data, call.in.data, bytes, call.root};
}

// A call is not plain if its type is derived, if its sides have different types or counts, if a
// buffer is null, in place or given twice, or if the count is 0 or so large that all parts together
// might be too many bytes.
std::optional<group::Call> plain_parts(Communicator& communicator, const Call& call) {
  const group::Group& group = *communicator.group();
  const bool rooted = plan::rooted(call.collective);
  const bool both = !rooted || group.rank() == call.root;
  if (rooted && (call.root < 0 || call.root >= group.ranks())) return {};
  const Buffer in{call.in.data, call.in.count, call.in.type};
  const Buffer out{call.out.data, call.out.count, call.out.type};
  const Buffer& shared = plan::gathers(call.collective) ? in : out;
  if (shared.count <= 0 || shared.count > INT_MAX || !is_buffer(shared.data)) return {};
  const size_t part =
      communicator.memory().dense_bytes(shared.type) * static_cast<size_t>(shared.count);
  if (part == 0 || (both && !sides_agree(in, out))) return {};
  if (both && plan::exchanges(call.collective) && in.data == out.data) return {};
  if (both && !plan::exchanges(call.collective)) {
    const Buffer& parts = plan::scatters(call.collective) ? in : out;
    const Buffer& alone = plan::scatters(call.collective) ? out : in;
    if (own_part(group, parts.data, part) == alone.data) return {};
  }
  return group::Call{call.collective, in.data, out.data, part, call.root};
}

}  // namespace tutti::mpi
