// The collectives as plans see them: who has which buffer, in how many blocks, and what `out` must
// hold at the end.
//
// A vector collective has one vector at each rank, cut into as many blocks as the plan chooses. A
// parted collective has a buffer of one part for each rank on one side or on both; the parts, all
// of one length, are the plan's blocks. A side that is not parted is a single part, block 0.
//
//   barrier         Blocks have no bytes; `in` of a rank is its arrival, and `out` its exit.
//   bcast           `in` of the root is the data, and is the root's `out` too (one user buffer).
//                   The other ranks have no `in`.
//   reduce          `in` of every rank; `out` of the root only.
//   allreduce       `in` and `out` of every rank.
//   gather          `in` of every rank is its part; `out` of the root only: block r is rank r's
//                   part.
//   scatter         `in` of the root only: block r is for rank r; `out` of every rank is its part.
//   allgather       A gather whose `out` every rank has.
//   alltoall        Block j of rank r's `in` is block r of rank j's `out`.
//   reduce_scatter  Blocks r of all ranks' `in`, combined, are rank r's `out`
//                   (MPI_Reduce_scatter_block).
//   scan            `out` of rank r combines `in` of ranks 0 to r.
//   exscan          `out` of rank r combines `in` of ranks 0 to r - 1; rank 0 has no `out`.
//
// Source: MPI 4.1, chapter 6. Pure functions of plain data; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tutti::plan {

enum class Collective : uint8_t {
#define TUTTI_COLLECTIVE(name, ...) name,
#include "base/collectives.inc.h"
#undef TUTTI_COLLECTIVE
};

// The ranks whose data a result combines: all of them, those up to the rank, or those before it.
enum class Combined : uint8_t { all, up_to_rank, before_rank };

// The properties of a collective. Short calls look them up.
struct CollectiveProperties {
  std::string_view name;
  bool rooted = false;      // one rank is the root
  bool combines = false;    // an operation combines the ranks' data
  bool parted_in = false;   // `in` has a part for each rank
  bool parted_out = false;  // `out` has a part for each rank
  bool has_data = true;
  bool one_buffer = false;  // the root's `in` is its `out`
  Combined combined = Combined::all;
};
inline constexpr auto collective_properties = std::to_array<CollectiveProperties>({
#define TUTTI_COLLECTIVE(its_name, variable, words, ...) {.name = #its_name, __VA_ARGS__},
#include "base/collectives.inc.h"
#undef TUTTI_COLLECTIVE
});
inline constexpr int collective_count = collective_properties.size();

constexpr const CollectiveProperties& properties_of(Collective collective) {
  return collective_properties[static_cast<size_t>(collective)];
}

constexpr std::string_view name(Collective collective) { return properties_of(collective).name; }
// Throws Error(invalid_argument) naming the accepted words.
Collective collective_named(std::string_view word);
// All names, "barrier, bcast, ...", for messages.
std::string collective_names();

// True if the collective has a root.
constexpr bool rooted(Collective collective) { return properties_of(collective).rooted; }
// True if it combines data with an operation.
constexpr bool combines(Collective collective) { return properties_of(collective).combines; }
// True if the buffer has a part for each rank.
constexpr bool parted_in(Collective collective) { return properties_of(collective).parted_in; }
constexpr bool parted_out(Collective collective) { return properties_of(collective).parted_out; }
// True if what a rank gets combines the data of some ranks only, those before it.
constexpr bool is_scan(Collective collective) {
  return properties_of(collective).combined != Combined::all;
}
constexpr bool parted(Collective collective) {
  return parted_in(collective) || parted_out(collective);
}

constexpr bool has_data(Collective collective) { return properties_of(collective).has_data; }
constexpr bool one_buffer(Collective collective) { return properties_of(collective).one_buffer; }
// True if every rank's result combines the data of all ranks.
constexpr bool combines_all(Collective collective) {
  return combines(collective) && properties_of(collective).combined == Combined::all;
}
// True if rank 0 has no result.
constexpr bool skips_rank_0(Collective collective) {
  return properties_of(collective).combined == Combined::before_rank;
}
// True if trees serve it: the root, or every rank, has one vector.
constexpr bool has_trees(Collective collective) {
  return !parted(collective) && properties_of(collective).combined == Combined::all;
}

// True of collectives in which, in this order, the root receives a part from each rank, the root
// sends a part to each rank, and every rank sends a part to each rank.
constexpr bool gathers(Collective collective) {
  return rooted(collective) && parted_out(collective);
}
constexpr bool scatters(Collective collective) {
  return rooted(collective) && parted_in(collective);
}
constexpr bool exchanges(Collective collective) {
  return parted_in(collective) && parted_out(collective);
}

// Ranks low .. high - 1.
struct RankRange {
  int32_t low = 0;
  int32_t high = 0;
  bool operator==(const RankRange&) const = default;
};

// A collective with its ranks, its root (0 where it has none) and the blocks of its plan.
struct Definition {
  Collective collective{};
  int32_t ranks = 1;
  int32_t root = 0;
  int32_t blocks = 1;

  // True if the rank's result needs all ranks, so that it ends only after each of them has begun.
  bool needs_all(int32_t rank) const {
    const bool all_give =
        !has_data(collective) || !(one_buffer(collective) || scatters(collective));
    const bool takes = !rooted(collective) || rank == root;
    const bool of_all = properties_of(collective).combined == Combined::all;
    return all_give && takes && (of_all || rank == ranks - 1);
  }

  bool has_in(int32_t rank) const {
    return !(one_buffer(collective) || scatters(collective)) || rank == root;
  }
  bool has_out(int32_t rank) const {
    if (skips_rank_0(collective)) return rank > 0;
    const bool root_only = gathers(collective) || (rooted(collective) && combines(collective));
    return !root_only || rank == root;
  }
  int32_t in_blocks() const { return parted(collective) && !parted_in(collective) ? 1 : blocks; }
  int32_t out_blocks() const { return parted(collective) && !parted_out(collective) ? 1 : blocks; }

  // Every block of data has an item number, which stays the same from `in` to `out`; blocks of
  // different ranks that may be combined with each other have the same number. item_in is the item
  // that a block of a rank's `in` holds, item_out the item that belongs in a block of its `out`.
  int64_t item_in(int32_t rank, int32_t block) const;
  int64_t item_out(int32_t rank, int32_t block) const;
  // The ranks whose data a block of a rank's `out` must hold.
  RankRange sources(int32_t rank, int32_t block) const;
  // The block of a rank's `out` that is the same memory as block `block` of its `in` if the rank
  // passes one buffer; -1: none.
  int32_t alias(int32_t rank, int32_t block) const;
};

}  // namespace tutti::plan
