#include "mpi/moves.h"

#include <algorithm>

#include "mpi/packing.h"
#include "mpi/route.h"
#include "mpi/types.h"

namespace tutti::mpi {
namespace {

// The packed vector lives in the communicator's scratch for the time of one call.
Served bcast_packed(Communicator& communicator, void* data, size_t count, MPI_Datatype type,
                    size_t bytes, int root) {
  std::byte* const packed = communicator.scratch(0, bytes);
  const bool at_root = communicator.group()->rank() == root;
  int packing = MPI_SUCCESS;
  if (at_root) packing = pack(data, count, type, communicator.handle(), packed, bytes);
  const int code = communicator.finish(communicator.group()->bcast(packed, bytes, root));
  if (!at_root && code == MPI_SUCCESS)
    packing = unpack(packed, data, count, type, communicator.handle(), bytes);
  communicator.release_scratch();
  return first_error(code, packing);
}

Served bcast_by_group(Communicator& communicator, void* data, MPI_Count count, MPI_Datatype type,
                      int root) {
  if (count < 0 || type == host().type_null || root < 0 || root >= communicator.group()->ranks())
    return Reason::wrong_arguments;
  const TypeShape shape = shape_of(type);
  const size_t bytes = bytes_of(count, shape);
  if (bytes == 0) return MPI_SUCCESS;  // all ranks know, and nobody waits for anybody
  if (!shape.dense)
    return bcast_packed(communicator, data, static_cast<size_t>(count), type, bytes, root);
  if (data == nullptr && shape.named) return Reason::wrong_arguments;
  return communicator.finish(communicator.group()->bcast(data, bytes, root));
}

// What of a call with parts matters to one rank.
struct Roles {
  bool in_place = false;
  bool uses_in = true, uses_out = true;  // the side's arguments are given and matter
  bool part_of_in = false;               // the bytes of a part are those of `in`, else of `out`
  size_t in_parts = 1, out_parts = 1;
};

Roles roles_of(bool at_root, size_t ranks, const Move& move) {
  Roles roles;
  if (plan::parted_in(move.collective)) roles.in_parts = ranks;
  if (plan::parted_out(move.collective)) roles.out_parts = ranks;
  if (move.collective == Collective::scatter) {
    roles.in_place = at_root && move.out.data == MPI_IN_PLACE;
    roles.uses_in = roles.part_of_in = at_root;
    roles.uses_out = !roles.in_place;
  } else {
    const bool rooted = move.collective == Collective::gather;
    roles.in_place = (!rooted || at_root) && move.in.data == MPI_IN_PLACE;
    roles.uses_in = !roles.in_place;
    roles.uses_out = !rooted || at_root;
    roles.part_of_in = rooted && !at_root;
  }
  return roles;
}

bool wrong(const Side& side) {
  return side.count < 0 || side.type == host().type_null || side.data == MPI_IN_PLACE;
}

// A buffer that a named type needs. What MPI_BOTTOM means to other types is theirs to know.
bool missing(const Side& side, const TypeShape& shape) {
  return side.data == nullptr && side.count > 0 && shape.named;
}

// The same memory for this rank's part on both sides, as a host sees it: by the size of the type,
// not by its extent. A wider notion than the host's would leave this rank alone on the host.
bool aliased(const Communicator& communicator, const Move& move) {
  const bool same_parts =
      move.in.type == move.out.type && move.in.count == move.out.count && move.in.count > 0;
  if (!same_parts) return false;
  if (move.collective == Collective::alltoall) return move.in.data == move.out.data;
  const size_t before =
      static_cast<size_t>(communicator.group()->rank()) * bytes_of(move.in.count, move.in.type);
  if (move.collective == Collective::scatter)
    return move.out.data == static_cast<std::byte*>(move.in.data) + before;
  return move.in.data == static_cast<std::byte*>(move.out.data) + before;
}

// Where sides disagree about a part's bytes, the root of a gather or scatter comes nevertheless:
// others wait for it, and will find the mismatch. All ranks of the other two most likely err alike,
// and the host says how.
bool disagree(const Move& move, const Roles& roles, size_t in_bytes, size_t out_bytes) {
  return roles.uses_in && roles.uses_out && in_bytes != out_bytes && !plan::rooted(move.collective);
}

// A side as bytes of packed parts: the user's memory, or scratch.
struct Parts {
  std::byte* data = nullptr;
  bool packed = false;
};

// A side's type, and the bytes of one part by its own arguments.
struct SideBytes {
  TypeShape shape;
  size_t part = 0;

  SideBytes(bool matters, const Side& side)
      : shape(matters ? shape_of(side.type) : TypeShape{}), part(bytes_of(side.count, shape)) {}
};

// `part`: the bytes of one by what all ranks share.
Parts parts_of(Communicator& communicator, int scratch, const Side& side, size_t parts,
               const SideBytes& own, size_t part) {
  if (own.shape.dense && own.part == part) return {static_cast<std::byte*>(side.data), false};
  return {communicator.scratch(scratch, parts * std::max(part, own.part)), true};
}

int run(Communicator& communicator, const Move& move, const void* in, void* out, size_t part) {
  group::Group& group = *communicator.group();
  switch (move.collective) {
    case Collective::gather: return communicator.finish(group.gather(in, out, part, move.root));
    case Collective::scatter: return communicator.finish(group.scatter(in, out, part, move.root));
    case Collective::allgather: return communicator.finish(group.allgather(in, out, part));
    default: return communicator.finish(group.alltoall(in, out, part));
  }
}

// Makes the one side from the other in place, packing what the user's buffer holds there.
int share_parts(Communicator& communicator, const Move& move, size_t part, Parts& in, Parts& out) {
  const auto rank = static_cast<size_t>(communicator.group()->rank());
  if (move.collective == Collective::scatter) {
    out.data = in.data + rank * part;
    return MPI_SUCCESS;
  }
  const bool all = move.collective == Collective::alltoall;
  in.data = out.data + (all ? 0 : rank * part);
  if (!out.packed) return MPI_SUCCESS;
  const auto count = static_cast<size_t>(move.out.count);
  const size_t first = all ? 0 : rank * count;
  const size_t parts = all ? static_cast<size_t>(communicator.group()->ranks()) : 1;
  return pack(element(move.out.data, first, move.out.type), parts * count, move.out.type,
              communicator.handle(), in.data, parts * bytes_of(move.out.count, move.out.type));
}

Served run_packed(Communicator& communicator, const Move& move, const Roles& roles, size_t part,
                  const SideBytes& of_in, const SideBytes& of_out) {
  Parts in, out;
  if (roles.uses_in) in = parts_of(communicator, 0, move.in, roles.in_parts, of_in, part);
  if (roles.uses_out) out = parts_of(communicator, 1, move.out, roles.out_parts, of_out, part);
  int packing = MPI_SUCCESS;
  if (in.packed)
    packing = pack(move.in.data, roles.in_parts * static_cast<size_t>(move.in.count), move.in.type,
                   communicator.handle(), in.data, roles.in_parts * of_in.part);
  if (roles.in_place)
    packing = first_error(packing, share_parts(communicator, move, part, in, out)).code;
  const int code = run(communicator, move, in.data, out.data, part);
  if (out.packed && code == MPI_SUCCESS) {
    const int unpacking =
        unpack(out.data, move.out.data, roles.out_parts * static_cast<size_t>(move.out.count),
               move.out.type, communicator.handle(), roles.out_parts * of_out.part);
    packing = first_error(packing, unpacking).code;
  }
  communicator.release_scratch();
  return first_error(code, packing);
}

Served move_by_group(Communicator& communicator, const Move& move) {
  const int ranks = communicator.group()->ranks();
  if (plan::rooted(move.collective) && (move.root < 0 || move.root >= ranks))
    return Reason::wrong_arguments;
  const Roles roles =
      roles_of(communicator.group()->rank() == move.root, static_cast<size_t>(ranks), move);
  if ((roles.uses_in && wrong(move.in)) || (roles.uses_out && wrong(move.out)))
    return Reason::wrong_arguments;
  const SideBytes in(roles.uses_in, move.in), out(roles.uses_out, move.out);
  const size_t part = roles.part_of_in ? in.part : out.part;
  if (std::max(in.part, out.part) > most_bytes / static_cast<size_t>(ranks))
    return Reason::wrong_arguments;
  if (disagree(move, roles, in.part, out.part)) return Reason::wrong_arguments;
  if (part == 0) return MPI_SUCCESS;  // all ranks know, and nobody waits for anybody
  if ((roles.uses_in && missing(move.in, in.shape)) ||
      (roles.uses_out && missing(move.out, out.shape)))
    return Reason::wrong_arguments;
  if (roles.uses_in && roles.uses_out && host_judges_aliases(move.collective) &&
      aliased(communicator, move))
    return Reason::wrong_arguments;
  return run_packed(communicator, move, roles, part, in, out);
}

// Bytes of a part where nothing has to be judged but what every call shows: most calls. 0 where the
// general path must look: another type, a buffer that needs care, or a count so large that all
// parts together might be too many bytes.
size_t plain_part(Communicator& communicator, const Move& move) {
  const int rank = communicator.group()->rank();
  const bool rooted = plan::rooted(move.collective);
  if (rooted && (move.root < 0 || move.root >= communicator.group()->ranks())) return 0;
  const bool gathers = move.collective == Collective::gather;
  const Side& side = gathers ? move.in : move.out;
  if (side.count <= 0 || side.count > INT_MAX || !is_buffer(side.data)) return 0;
  const size_t part = communicator.dense_bytes(side.type) * static_cast<size_t>(side.count);
  if (rooted && rank != move.root) return part;
  if (!sides_agree(move.in, move.out)) return 0;
  if (move.collective == Collective::alltoall) return move.in.data != move.out.data ? part : 0;
  const bool parts_in = move.collective == Collective::scatter;
  const Side& parts = parts_in ? move.in : move.out;
  const Side& alone = parts_in ? move.out : move.in;
  return own_part(*communicator.group(), parts.data, part) != alone.data ? part : 0;
}

bool beyond_int(const Move& move) { return move.in.count > INT_MAX || move.out.count > INT_MAX; }

template <class Plain>
int rooted_by_host(const Move& move, MPI_Comm communicator, Form form, Plain* plain,
                   LargeRootedMove* large) {
  const Side& in = move.in;
  const Side& out = move.out;
  if (form == Form::large && large != nullptr)
    return large(in.data, in.count, in.type, out.data, out.count, out.type, move.root,
                 communicator);
  if (form == Form::large && beyond_int(move)) return too_many(communicator);
  return plain(in.data, static_cast<int>(in.count), in.type, out.data, static_cast<int>(out.count),
               out.type, move.root, communicator);
}

template <class Plain>
int all_by_host(const Move& move, MPI_Comm communicator, Form form, Plain* plain,
                LargeMove* large) {
  const Side& in = move.in;
  const Side& out = move.out;
  if (form == Form::large && large != nullptr)
    return large(in.data, in.count, in.type, out.data, out.count, out.type, communicator);
  if (form == Form::large && beyond_int(move)) return too_many(communicator);
  return plain(in.data, static_cast<int>(in.count), in.type, out.data, static_cast<int>(out.count),
               out.type, communicator);
}

int move_by_host(const Move& move, MPI_Comm communicator, Form form) {
  const Host& mpi = host();
  switch (move.collective) {
    case Collective::gather:
      return rooted_by_host(move, communicator, form, mpi.Gather, mpi.Gather_c);
    case Collective::scatter:
      return rooted_by_host(move, communicator, form, mpi.Scatter, mpi.Scatter_c);
    case Collective::allgather:
      return all_by_host(move, communicator, form, mpi.Allgather, mpi.Allgather_c);
    default: return all_by_host(move, communicator, form, mpi.Alltoall, mpi.Alltoall_c);
  }
}

// For the report, without the communicator's word: a side that matters at every rank, whatever the
// rank. Between the groups of an intercommunicator, none does.
size_t part_to_report(const Move& move) {
  if (move.root < 0) return 0;
  const bool by_in = move.collective == Collective::gather    ? move.in.data != MPI_IN_PLACE
                     : move.collective == Collective::scatter ? move.out.data == MPI_IN_PLACE
                                                              : false;
  const Side& side = by_in ? move.in : move.out;
  return bytes_to_report(side.count, side.type);
}

bool refused(MPI_Comm communicator, const Move& move) {
  if (no_such_root(communicator, move.root)) return true;
  int rank = 0, ranks = 0;
  if ((!wrong(move.in) && !wrong(move.out)) || !ranks_of(communicator, &rank, &ranks)) return false;
  const Roles roles = roles_of(move.root == rank, static_cast<size_t>(ranks), move);
  return (roles.uses_in && wrong(move.in)) || (roles.uses_out && wrong(move.out));
}

}  // namespace

// What is thrown, is thrown before the rank has entered; the general paths meet it again.
int bcast_by_ready(Communicator& communicator, void* data, MPI_Count count, MPI_Datatype type,
                   int root, Form form) {
  try {
    group::Group& group = *communicator.group();
    const size_t element = communicator.dense_bytes(type);
    if (element != 0 && count > 0 && data != nullptr && root >= 0 && root < group.ranks()) {
      const int code =
          communicator.finish(group.bcast(data, static_cast<size_t>(count) * element, root));
      if (code == MPI_SUCCESS)
        group.note(key_of(Collective::bcast, count, type, root), Collective::bcast,
                   static_cast<size_t>(count), element, root, nullptr);
      return code;
    }
  } catch (...) {
  }
  return bcast_by_any(data, count, type, root, communicator.handle(), form);
}

int move_by_ready(Communicator& communicator, const Move& move, Form form) {
  try {
    const Side& side = move.collective == Collective::gather ? move.in : move.out;
    if (const size_t part = plain_part(communicator, move); part != 0) {
      const int rank = communicator.group()->rank();
      const void* const in =
          move.collective == Collective::scatter && rank != move.root ? nullptr : move.in.data;
      void* const out =
          move.collective == Collective::gather && rank != move.root ? nullptr : move.out.data;
      const int code = run(communicator, move, in, out, part);
      if (code == MPI_SUCCESS)
        communicator.group()->note(key_of(move.collective, side.count, side.type, move.root),
                                   move.collective, part, 1, move.root, nullptr);
      return code;
    }
  } catch (...) {
  }
  return move_by_any(move, communicator.handle(), form);
}

int bcast_by_any(void* data, MPI_Count count, MPI_Datatype type, int root, MPI_Comm communicator,
                 Form form) {
  return route(
      communicator, {Collective::bcast, bytes_to_report(count, type), root},
      [&](Communicator& known) { return bcast_by_group(known, data, count, type, root); },
      [&]() -> int {
        if (form == Form::large && host().Bcast_c != nullptr)
          return host().Bcast_c(data, count, type, root, communicator);
        if (form == Form::large && count > INT_MAX) return too_many(communicator);
        return host().Bcast(data, static_cast<int>(count), type, root, communicator);
      },
      [&] { return count < 0 || type == host().type_null || no_such_root(communicator, root); });
}

int move_by_any(const Move& move, MPI_Comm communicator, Form form) {
  return route(
      communicator, {move.collective, part_to_report(move), move.root},
      [&](Communicator& known) { return move_by_group(known, move); },
      [&] { return move_by_host(move, communicator, form); },
      [&] { return refused(communicator, move); });
}

}  // namespace tutti::mpi
