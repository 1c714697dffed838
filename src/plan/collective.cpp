#include "plan/collective.h"

#include "base/error.h"

namespace tutti::plan {

std::string collective_names() {
  std::string text;
  for (const CollectiveProperties& one : collective_properties)
    text.append(text.empty() ? "" : ", ").append(one.name);
  return text;
}

Collective collective_named(std::string_view word) {
  for (size_t i = 0; i < collective_properties.size(); ++i) {
    if (collective_properties[i].name == word) return static_cast<Collective>(i);
  }
  throw Error(Code::invalid_argument, "there is no collective '" + std::string(word.substr(0, 40)) +
                                          "'; it is one of " + collective_names());
}

int64_t Definition::item_in(int32_t rank, int32_t block) const {
  if (exchanges(collective)) return int64_t{rank} * ranks + block;
  return parted(collective) && !parted_in(collective) ? rank : block;
}

int64_t Definition::item_out(int32_t rank, int32_t block) const {
  if (exchanges(collective)) return int64_t{block} * ranks + rank;
  return parted(collective) && !parted_out(collective) ? rank : block;
}

RankRange Definition::sources(int32_t rank, int32_t block) const {
  if (combines(collective)) {
    switch (properties_of(collective).combined) {
      case Combined::all: return {0, ranks};
      case Combined::up_to_rank: return {0, rank + 1};
      case Combined::before_rank: return {0, rank};
    }
  }
  if (parted_out(collective)) return {block, block + 1};
  return rooted(collective) ? RankRange{root, root + 1} : RankRange{0, ranks};
}

int32_t Definition::alias(int32_t rank, int32_t block) const {
  if (scatters(collective)) return rank == root && block == rank ? 0 : -1;
  // In place, the own part of a gather or an allgather is the rank's part of `out`.
  if (parted_out(collective) && !parted_in(collective))
    return !rooted(collective) || rank == root ? rank : -1;
  return block < out_blocks() ? block : -1;
}

}  // namespace tutti::plan
