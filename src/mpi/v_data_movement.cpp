#include <algorithm>

#include "mpi/packing.h"
#include "mpi/v_collectives.h"
#include "mpi/part_table.h"
#include "mpi/route.h"
#include "mpi/types.h"

namespace tutti::mpi {
namespace {

// What of a call matters to one rank.
struct Roles {
  bool in_place = false;
  bool uses_in = true, uses_out = true;  // the side's arguments are given and matter
};

Roles roles_of(bool at_root, const VMove& move) {
  Roles roles;
  if (move.collective == Collective::scatter) {
    roles.in_place = at_root && move.out.data == MPI_IN_PLACE;
    roles.uses_in = at_root;
    roles.uses_out = !roles.in_place;
    return roles;
  }
  const bool rooted = move.collective == Collective::gather;
  roles.in_place = (!rooted || at_root) && move.in.data == MPI_IN_PLACE;
  roles.uses_in = !roles.in_place;
  roles.uses_out = !rooted || at_root;
  return roles;
}

// The same memory for this rank's part on both sides, as a host sees it: by the size of the type,
// not by its extent, and of an alltoall where one array says what is sent and received. A wider
// notion than the host's would leave this rank alone on the host.
[[gnu::cold]] bool aliased(const Communicator& communicator, const VMove& move) {
  if (!host_judges_aliases(move.collective) || move.in.type != move.out.type ||
      move.in.types != move.out.types)
    return false;
  if (move.collective == Collective::alltoall)  // no buffer at all is none that is given twice
    return move.in.data != nullptr && move.in.counts.is(move.out.counts) &&
           move.in.data == move.out.data;
  const bool scatters = move.collective == Collective::scatter;
  const VSide& parts = scatters ? move.in : move.out;
  const VSide& alone = scatters ? move.out : move.in;
  const auto rank = static_cast<size_t>(communicator.group()->rank());
  if (alone.count == 0 || parts.counts[rank] == 0) return false;
  const auto at = parts.displacements[rank] * static_cast<MPI_Aint>(signature_bytes(parts.type));
  return alone.data == static_cast<std::byte*>(parts.data) + at;
}

// What short calls have: one predefined type without gaps, and counts that cannot sum up beyond a
// size_t. Then the user's memory is what groups see, and a part takes some ten instructions.
enum class Plain : uint8_t { no, wrong, yes };

constexpr ptrdiff_t at_the_start = 0;  // where a buffer's only part is

// `bytes`: of the side's only part.
inline Plain measure_one(const VSide& side, size_t element, size_t& bytes) {
  if (side.count < 0 || side.count > INT_MAX) return side.count < 0 ? Plain::wrong : Plain::no;
  bytes = static_cast<size_t>(side.count) * element;
  return side.count == 0 || side.data != nullptr ? Plain::yes : Plain::wrong;
}

Plain measure_parts(const Communicator& communicator, const VSide& side, size_t element,
                    PartTable& table) {
  const int* const counts = side.counts.plain();
  const int* const displacements = side.displacements.plain();
  if (counts == nullptr || displacements == nullptr) return Plain::no;
  const auto parts = static_cast<size_t>(communicator.group()->ranks());
  table.hold(parts);
  size_t* const bytes = table.bytes.data();
  ptrdiff_t* const at = table.at.data();
  int all = 0;  // negative where one is, 0 where all are
  for (size_t part = 0; part < parts; ++part) {
    all |= counts[part];
    bytes[part] = static_cast<size_t>(static_cast<unsigned>(counts[part])) * element;
    at[part] = displacements[part] * static_cast<ptrdiff_t>(element);
  }
  return all == 0 || (all > 0 && side.data != nullptr) ? Plain::yes : Plain::wrong;
}

// `only` holds the bytes of a side of one part.
[[gnu::always_inline]] inline Plain measure_plain(Communicator& communicator, const VSide& side,
                                                  bool parted, PartTable& table, size_t& only,
                                                  exec::Parts& parts) {
  const size_t element = side.types == nullptr ? communicator.dense_bytes(side.type) : 0;
  if (element == 0 || side.data == MPI_IN_PLACE) return Plain::no;
  if (!parted) {
    parts = {&at_the_start, &only};
    return measure_one(side, element, only);
  }
  const Plain measured = measure_parts(communicator, side, element, table);
  parts = {table.at.data(), table.bytes.data()};
  return measured;
}

// One side as bytes: the user's memory, or scratch with its parts packed one behind the other.
class Ends {
 public:
  Ends(Communicator& communicator, const VSide& side, int which, bool parted)
      : communicator_(communicator),
        side_(side),
        which_(which),
        parted_(parted),
        parts_(parted ? static_cast<size_t>(communicator.group()->ranks()) : 1),
        table_(communicator.parts(which)) {}

  // False where an argument is wrong.
  bool measure() {
    if (side_.data == MPI_IN_PLACE) return false;
    if (parted_ && (!side_.counts.given() || !side_.displacements.given())) return false;
    table_.hold(parts_);
    size_t total = 0;
    for (size_t part = 0; part < parts_; ++part) {
      if (count(part) < 0) return false;
      // Some programs give no type where they have no elements, which is one rank's own matter: it
      // must not leave the others.
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

  // The other side of a rank that passes one buffer: one part of this, or all.
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
    if (table_.bytes[part] == 0) return MPI_SUCCESS;
    return pack(address(part), static_cast<size_t>(count(part)), side_.type_of(part),
                communicator_.handle(), data_ + table_.at[part], table_.bytes[part]);
  }
  int pack_all() const {
    return each([this](size_t part) -> int { return pack_part(part); });
  }
  int unpack_all() const {
    return each([this](size_t part) -> int {
      if (table_.bytes[part] == 0) return MPI_SUCCESS;
      return unpack(data_ + table_.at[part], address(part), static_cast<size_t>(count(part)),
                    side_.type_of(part), communicator_.handle(), table_.bytes[part]);
    });
  }

  bool packed() const { return packed_; }
  std::byte* data() const { return data_; }
  exec::Parts parts() const { return {table_.at.data(), table_.bytes.data()}; }

 private:
  MPI_Count count(size_t part) const { return parted_ ? side_.counts[part] : side_.count; }

  void* address(size_t part) const {
    if (!parted_) return side_.data;
    const MPI_Aint displacement = side_.displacements[part];
    if (side_.types == nullptr)
      return element(side_.data, static_cast<size_t>(displacement), side_.type);
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(side_.data) +
                                   static_cast<uintptr_t>(displacement));
  }

  // Most sides have one type, and to look it up costs more than all else of a part.
  void look_at(MPI_Datatype type) {
    if (type == element_.type) return;
    const size_t known = communicator_.dense_bytes(type);
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
      data_ = communicator_.scratch(which_, total);
      return;
    }
    data_ = static_cast<std::byte*>(side_.data);
    const MPI_Aint extent = side_.types == nullptr ? static_cast<MPI_Aint>(element_.bytes) : 1;
    for (size_t part = 0; part < parts_; ++part)
      table_.at[part] = parted_ ? side_.displacements[part] * extent : 0;
  }

  int each(auto&& what) const {
    int first = MPI_SUCCESS;
    for (size_t part = 0; part < parts_; ++part) first = first_error(first, what(part)).code;
    return first;
  }

  Communicator& communicator_;
  const VSide& side_;
  const int which_;
  const bool parted_;
  const size_t parts_;
  PartTable& table_;
  struct Element {
    MPI_Datatype type = (MPI_Datatype)-1;  // that no program has
    size_t bytes = 0;                      // of its signature
    bool dense = false;
  } element_;  // the type of the last part that has elements
  bool packed_ = false;
  std::byte* data_ = nullptr;
};

// Makes the one side from the other, packing what the user's buffer holds there.
int share(const Communicator& communicator, const VMove& move, Ends& in, Ends& out) {
  const auto rank = static_cast<size_t>(communicator.group()->rank());
  if (move.collective == Collective::scatter) {
    in.lend(out, rank);
    return MPI_SUCCESS;
  }
  if (move.collective == Collective::alltoall) {
    out.lend_all(in);
    return out.packed() ? out.pack_all() : MPI_SUCCESS;
  }
  out.lend(in, rank);
  return out.packed() ? out.pack_part(rank) : MPI_SUCCESS;
}

// What all ranks know beforehand of the longest part.
size_t known_longest(Communicator& communicator, const VMove& move, const PartTable& out) {
  if (move.collective != Collective::allgather) return group::Group::unknown;
  return *std::max_element(out.bytes.data(), out.bytes.data() + communicator.group()->ranks());
}

Served move_any(Communicator& communicator, const VMove& move, const Roles& roles) {
  group::Group& group = *communicator.group();
  Ends in(communicator, move.in, 0, plan::parted_in(move.collective));
  Ends out(communicator, move.out, 1, plan::parted_out(move.collective));
  if ((roles.uses_in && !in.measure()) || (roles.uses_out && !out.measure()))
    return Reason::wrong_arguments;
  const size_t longest = known_longest(communicator, move, communicator.parts(1));
  if (longest == 0) return MPI_SUCCESS;  // all ranks know, and nobody waits for anybody
  if (roles.uses_in && roles.uses_out && aliased(communicator, move))
    return Reason::wrong_arguments;
  int packing = roles.uses_in && in.packed() ? in.pack_all() : MPI_SUCCESS;
  if (roles.in_place) packing = first_error(packing, share(communicator, move, in, out)).code;
  const exec::VParts parts{roles.uses_in || roles.in_place ? in.parts() : exec::Parts{},
                           roles.uses_out || roles.in_place ? out.parts() : exec::Parts{}};
  const int code = communicator.finish(
      group.v_collective(move.collective, in.data(), out.data(), parts, longest, move.root));
  if (roles.uses_out && out.packed() && code == MPI_SUCCESS)
    packing = first_error(packing, out.unpack_all()).code;
  communicator.release_scratch();
  return first_error(code, packing);
}

// As share(), of sides that need no packing.
void share_plain(const VMove& move, size_t rank, exec::VParts& parts, const void*& from,
                 void*& to) {
  if (move.collective == Collective::scatter) {
    to = static_cast<std::byte*>(move.in.data) + parts.in.at[rank];
    parts.out = {&at_the_start, parts.in.bytes + rank};
  } else if (move.collective == Collective::alltoall) {
    from = move.out.data;
    parts.in = parts.out;
  } else {
    from = static_cast<std::byte*>(move.out.data) + parts.out.at[rank];
    parts.in = {&at_the_start, parts.out.bytes + rank};
  }
}

// Whether one address is given for this rank's part on both sides; of sides that need no packing.
inline bool may_alias(const VMove& move, size_t rank, const exec::VParts& parts, const void* from,
                      const void* to) {
  if (from == nullptr || to == nullptr) return false;
  if (move.collective == Collective::alltoall) return from == to;
  if (move.collective == Collective::scatter)
    return static_cast<const std::byte*>(from) + parts.in.at[rank] == to;
  return static_cast<const std::byte*>(to) + parts.out.at[rank] == from;
}

Served move_by_group(Communicator& communicator, const VMove& move) {
  group::Group& group = *communicator.group();
  if (!group.on_one_node()) return Reason::v_between_nodes;
  if (plan::rooted(move.collective) && (move.root < 0 || move.root >= group.ranks()))
    return Reason::wrong_arguments;
  const Roles roles = roles_of(communicator.group()->rank() == move.root, move);
  exec::VParts parts;
  size_t only[2];
  if (roles.uses_in) {
    const Plain measured = measure_plain(communicator, move.in, plan::parted_in(move.collective),
                                         communicator.parts(0), only[0], parts.in);
    if (measured != Plain::yes)
      return measured == Plain::no ? move_any(communicator, move, roles) : Reason::wrong_arguments;
  }
  if (roles.uses_out) {
    const Plain measured = measure_plain(communicator, move.out, plan::parted_out(move.collective),
                                         communicator.parts(1), only[1], parts.out);
    if (measured != Plain::yes)
      return measured == Plain::no ? move_any(communicator, move, roles) : Reason::wrong_arguments;
  }
  const size_t longest = known_longest(communicator, move, communicator.parts(1));
  if (longest == 0) return MPI_SUCCESS;  // all ranks know, and nobody waits for anybody
  const void* from = roles.uses_in ? move.in.data : nullptr;
  void* to = roles.uses_out ? move.out.data : nullptr;
  if (may_alias(move, static_cast<size_t>(group.rank()), parts, from, to) &&
      aliased(communicator, move)) [[unlikely]]
    return Reason::wrong_arguments;
  if (roles.in_place) share_plain(move, static_cast<size_t>(group.rank()), parts, from, to);
  return communicator.finish(
      group.v_collective(move.collective, from, to, parts, longest, move.root));
}

// For the report: a part that this rank surely has.
size_t part_to_report(const VMove& move) {
  const bool by_in = move.collective == Collective::scatter ? move.out.data == MPI_IN_PLACE
                                                            : move.in.data != MPI_IN_PLACE;
  const bool one_part =
      by_in ? !plan::parted_in(move.collective) : !plan::parted_out(move.collective);
  const VSide& side = move.collective == Collective::scatter && !by_in ? move.out
                      : by_in                                          ? move.in
                                                                       : move.out;
  if (one_part) return bytes_to_report(side.count, side.type);
  return side.counts.given() && (side.types == nullptr || side.types[0] != host().type_null)
             ? bytes_to_report(side.counts[0], side.type_of(0))
             : 0;
}

// Of a side that matters at this rank.
bool wrong(const VSide& side, bool parted, int ranks) {
  if (!parted) return side.count < 0 || side.type == host().type_null;
  if (!side.counts.given()) return true;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto part = static_cast<size_t>(rank);
    if (side.counts[part] < 0 || side.type_of(part) == host().type_null) return true;
  }
  return false;
}

bool refused(MPI_Comm communicator, const VMove& move) {
  if (no_such_root(communicator, move.root)) return true;
  int rank = 0, ranks = 0;
  if (!ranks_of(communicator, &rank, &ranks)) return false;
  const Roles roles = roles_of(move.root == rank, move);
  return (roles.uses_in && wrong(move.in, plan::parted_in(move.collective), ranks)) ||
         (roles.uses_out && wrong(move.out, plan::parted_out(move.collective), ranks));
}

}  // namespace

int v_move(const VMove& move, MPI_Comm communicator, HostCall by_host) {
  const bool reports = recording() || tracer() != nullptr;
  return route(
      communicator, {move.collective, reports ? part_to_report(move) : 0, move.root, true},
      [&](Communicator& known) { return move_by_group(known, move); }, by_host,
      [&] { return refused(communicator, move); });
}

}  // namespace tutti::mpi
