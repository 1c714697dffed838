// The v-collectives that move data.
//
// A rank sees only its own counts, except in an allgatherv, whose counts all ranks have. So no
// decision depends on counts. If the ranks cannot know the longest part of all ranks, the group
// finds it first (group/group.h). Types may differ between sides and, in an alltoallw, between
// parts.
#include <algorithm>

#include "mpi/host/packing.h"
#include "mpi/host/types.h"
#include "mpi/collectives/general.h"
#include "mpi/communicators/call_memory.h"

namespace tutti::mpi {
namespace {

// Not inlined, so that the usual call has no instruction for it.
[[gnu::cold, gnu::noinline]] bool aliased(const Communicator& communicator, const Call& call) {
  return host_finds_alias(call, communicator.group()->rank());
}

// The form of a side. Most short calls have the plain one: one predefined type without gaps, and
// counts whose sum fits a size_t. The group then uses the user's memory, and measuring a part takes
// about ten instructions. `wrong`: an argument is wrong.
enum class Plain : uint8_t { no, wrong, yes };

constexpr ptrdiff_t at_the_start = 0;  // the displacement of a buffer's only part

// Sets `bytes` to those of the side's only part.
inline Plain measure_one(const Side& side, size_t element, size_t& bytes) {
  if (side.count < 0 || side.count > INT_MAX) return side.count < 0 ? Plain::wrong : Plain::no;
  bytes = static_cast<size_t>(side.count) * element;
  return side.count == 0 || side.data != nullptr ? Plain::yes : Plain::wrong;
}

[[gnu::always_inline]] inline Plain measure_parts(const Communicator& communicator,
                                                  const Side& side, size_t element,
                                                  PartTable& table) {
  const int* const counts = side.counts.plain();
  const int* const displacements = side.displacements.plain();
  if (counts == nullptr || displacements == nullptr) return Plain::no;
  const auto parts = static_cast<size_t>(communicator.group()->ranks());
  table.hold(parts);
  size_t* const bytes = table.bytes.data();
  ptrdiff_t* const at = table.at.data();
  int all = 0;  // negative if any count is, 0 if all are
  for (size_t part = 0; part < parts; ++part) {
    all |= counts[part];
    bytes[part] = static_cast<size_t>(static_cast<unsigned>(counts[part])) * element;
    at[part] = displacements[part] * static_cast<ptrdiff_t>(element);
  }
  return all == 0 || (all > 0 && side.data != nullptr) ? Plain::yes : Plain::wrong;
}

// Fills `parts`, which refers to `table`, or to `only` for a side of one part.
[[gnu::always_inline]] inline Plain measure_plain(Communicator& communicator, const Side& side,
                                                  bool parted, PartTable& table, size_t& only,
                                                  exec::Parts& parts) {
  const size_t element = !side.types.given() ? communicator.memory().dense_bytes(side.type) : 0;
  if (element == 0 || side.data == abi.in_place) return Plain::no;
  if (!parted) {
    parts = {&at_the_start, &only};
    return measure_one(side, element, only);
  }
  const Plain measured = measure_parts(communicator, side, element, table);
  parts = table.parts();
  return measured;
}

// One side as bytes: the user's memory, or scratch, in which its packed parts are adjacent.
class Ends {
 public:
  Ends(Communicator& communicator, const Side& side, int which, bool parted)
      : communicator_(communicator),
        side_(side),
        which_(which),
        parted_(parted),
        parts_(parted ? static_cast<size_t>(communicator.group()->ranks()) : 1),
        table_(communicator.memory().parts(which)) {}

  // Returns false if an argument is wrong.
  bool measure() {
    if (side_.data == abi.in_place) return false;
    if (parted_ && (!side_.counts.given() || !side_.displacements.given())) return false;
    table_.hold(parts_);
    size_t total = 0;
    for (size_t part = 0; part < parts_; ++part) {
      if (count(part) < 0) return false;
      // Some programs give MPI_DATATYPE_NULL with a count of 0. Only this rank knows of it, so it
      // must not go to the host because of it.
      table_.bytes[part] = 0;
      if (count(part) == 0) continue;
      if (side_.type_of(part) == host().type_null) return false;
      look_at(side_.type_of(part));
      size_t bytes = 0;
      if (__builtin_mul_overflow(static_cast<size_t>(count(part)), element_.bytes, &bytes))
        return false;
      if (__builtin_add_overflow(total, bytes, &total) || total > most_bytes) return false;
      table_.bytes[part] = bytes;
      if (bytes > 0 && side_.data == nullptr && named_type(element_.type) != nullptr) return false;
      packed_ |= bytes > 0 && !element_.dense;
    }
    place();
    return true;
  }

  // For a call in place: makes the other side `to` from one part of this side, or from all parts.
  void lend(Ends& to, size_t part) const {
    to.data_ = data_ + table_.at[part];
    to.table_.hold(1);
    to.table_.at[0] = 0;
    to.table_.bytes[0] = table_.bytes[part];
  }
  void lend_all(Ends& to) const {
    to.data_ = data_;
    to.table_ = table_;
  }

  int pack_part(size_t part) const {
    if (table_.bytes[part] == 0) return success;
    return pack(address(part), static_cast<size_t>(count(part)), side_.type_of(part),
                communicator_.handle(), data_ + table_.at[part], table_.bytes[part]);
  }
  int pack_all() const {
    return each([this](size_t part) -> int { return pack_part(part); });
  }
  int unpack_all() const {
    return each([this](size_t part) -> int {
      if (table_.bytes[part] == 0) return success;
      return unpack(data_ + table_.at[part], address(part), static_cast<size_t>(count(part)),
                    side_.type_of(part), communicator_.handle(), table_.bytes[part]);
    });
  }

  bool packed() const { return packed_; }
  std::byte* data() const { return data_; }
  exec::Parts parts() const { return table_.parts(); }

 private:
  Count count(size_t part) const { return parted_ ? side_.counts[part] : side_.count; }

  void* address(size_t part) const {
    if (!parted_) return side_.data;
    const Aint displacement = side_.displacements[part];
    if (!side_.types.given())
      return element(side_.data, static_cast<size_t>(displacement), side_.type);
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(side_.data) +
                                   static_cast<uintptr_t>(displacement));
  }

  // Most sides have one type, and a look-up costs more than all other work for a part, so the last
  // one is kept.
  void look_at(Datatype type) {
    if (type == element_.type) return;
    const size_t known = communicator_.memory().dense_bytes(type);
    const TypeShape shape = known != 0 ? TypeShape{known, true} : shape_of(type);
    element_ = {type, shape.bytes, shape.dense};
  }

  void place() {
    if (packed_) {
      size_t total = 0;
      for (size_t part = 0; part < parts_; ++part) {
        table_.at[part] = static_cast<ptrdiff_t>(total);
        total += table_.bytes[part];
      }
      data_ = communicator_.memory().scratch(which_, total);
      return;
    }
    data_ = static_cast<std::byte*>(side_.data);
    const Aint extent = !side_.types.given() ? static_cast<Aint>(element_.bytes) : 1;
    for (size_t part = 0; part < parts_; ++part)
      table_.at[part] = parted_ ? side_.displacements[part] * extent : 0;
  }

  int each(auto&& what) const {
    int first = success;
    for (size_t part = 0; part < parts_; ++part) first = first_error(first, what(part)).code;
    return first;
  }

  Communicator& communicator_;
  const Side& side_;
  const int which_;
  const bool parted_;
  const size_t parts_;
  PartTable& table_;
  struct Element {
    Datatype type = (Datatype)-1;  // no program has it
    size_t bytes = 0;              // bytes of its signature
    bool dense = false;
  } element_;  // the element of the last part that has elements
  bool packed_ = false;
  std::byte* data_ = nullptr;
};

// For a call in place: makes the side that was not given from the other one, and packs what the
// user's buffer contains.
int share(const Communicator& communicator, const Call& call, Ends& in, Ends& out) {
  const auto rank = static_cast<size_t>(communicator.group()->rank());
  if (plan::scatters(call.collective)) {
    in.lend(out, rank);
    return success;
  }
  if (plan::exchanges(call.collective)) {
    out.lend_all(in);
    return out.packed() ? out.pack_all() : success;
  }
  out.lend(in, rank);
  return out.packed() ? out.pack_part(rank) : success;
}

// The bytes of the longest part if all ranks know them beforehand, else unknown_length.
[[gnu::always_inline]] inline size_t known_longest(Communicator& communicator, const Call& call) {
  // Only in an allgatherv do all ranks have the counts of all parts.
  const plan::CollectiveProperties& is = plan::properties_of(call.collective);
  if (is.rooted || is.parted_in) return group::unknown_length;
  const size_t* const bytes = communicator.memory().parts(1).bytes.data();
  return *std::max_element(bytes, bytes + communicator.group()->ranks());
}

Served run_any(Communicator& communicator, const Call& call, const Roles& roles) {
  group::Group& group = *communicator.group();
  Ends in(communicator, call.in, 0, plan::parted_in(call.collective));
  Ends out(communicator, call.out, 1, plan::parted_out(call.collective));
  if ((roles.uses_in && !in.measure()) || (roles.uses_out && !out.measure()))
    return Reason::wrong_arguments;
  const size_t longest = known_longest(communicator, call);
  if (longest == 0) return success;  // all ranks know it, so no rank waits
  if (roles.uses_in && roles.uses_out && aliased(communicator, call))
    return Reason::wrong_arguments;
  int packing = roles.uses_in && in.packed() ? in.pack_all() : success;
  if (roles.in_place) packing = first_error(packing, share(communicator, call, in, out)).code;
  const exec::VParts parts{roles.uses_in || roles.in_place ? in.parts() : exec::Parts{},
                           roles.uses_out || roles.in_place ? out.parts() : exec::Parts{}};
  const int code = communicator.finish(
      group.run({call.collective, in.data(), out.data(), 0, call.root, nullptr, &parts, longest}));
  if (roles.uses_out && out.packed() && code == success)
    packing = first_error(packing, out.unpack_all()).code;
  communicator.memory().release_scratch();
  return first_error(code, packing);
}

// Does the same as share() for sides that need no packing.
void share_plain(const Call& call, size_t rank, exec::VParts& parts, const void*& from, void*& to) {
  if (plan::scatters(call.collective)) {
    to = static_cast<std::byte*>(call.in.data) + parts.in.at[rank];
    parts.out = {&at_the_start, parts.in.bytes + rank};
  } else if (plan::exchanges(call.collective)) {
    from = call.out.data;
    parts.in = parts.out;
  } else {
    from = static_cast<std::byte*>(call.out.data) + parts.out.at[rank];
    parts.in = {&at_the_start, parts.out.bytes + rank};
  }
}

// True if this rank's part has one address on both sides. For sides that need no packing.
inline bool may_alias(const Call& call, size_t rank, const exec::VParts& parts, const void* from,
                      const void* to) {
  if (from == nullptr || to == nullptr) return false;
  if (plan::exchanges(call.collective)) return from == to;
  if (plan::scatters(call.collective))
    return static_cast<const std::byte*>(from) + parts.in.at[rank] == to;
  return static_cast<const std::byte*>(to) + parts.out.at[rank] == from;
}

}  // namespace

Served v_parts_by_group(Communicator& communicator, const Call& call) {
  group::Group& group = *communicator.group();
  if (!group.serves_v(call.collective)) return Reason::v_between_nodes;
  if (plan::rooted(call.collective) && (call.root < 0 || call.root >= group.ranks()))
    return Reason::wrong_arguments;
  const Roles roles = roles_of(communicator.group()->rank() == call.root, call);
  exec::VParts parts;
  size_t only[2];
  if (roles.uses_in) {
    const Plain measured = measure_plain(communicator, call.in, plan::parted_in(call.collective),
                                         communicator.memory().parts(0), only[0], parts.in);
    if (measured != Plain::yes)
      return measured == Plain::no ? run_any(communicator, call, roles) : Reason::wrong_arguments;
  }
  if (roles.uses_out) {
    const Plain measured = measure_plain(communicator, call.out, plan::parted_out(call.collective),
                                         communicator.memory().parts(1), only[1], parts.out);
    if (measured != Plain::yes)
      return measured == Plain::no ? run_any(communicator, call, roles) : Reason::wrong_arguments;
  }
  const size_t longest = known_longest(communicator, call);
  if (longest == 0) return success;  // all ranks know it, so no rank waits
  const void* from = roles.uses_in ? call.in.data : nullptr;
  void* to = roles.uses_out ? call.out.data : nullptr;
  if (may_alias(call, static_cast<size_t>(group.rank()), parts, from, to) &&
      aliased(communicator, call)) [[unlikely]]
    return Reason::wrong_arguments;
  if (roles.in_place) share_plain(call, static_cast<size_t>(group.rank()), parts, from, to);
  return communicator.finish(
      group.run({call.collective, from, to, 0, call.root, nullptr, &parts, longest}));
}

}  // namespace tutti::mpi
