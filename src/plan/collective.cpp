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
  if (collective == Collective::alltoall) return int64_t{rank} * ranks + block;
  return parted(collective) && !parted_in(collective) ? rank : block;
}

int64_t Definition::item_out(int32_t rank, int32_t block) const {
  if (collective == Collective::alltoall) return int64_t{block} * ranks + rank;
  return parted(collective) && !parted_out(collective) ? rank : block;
}

RankRange Definition::sources(int32_t rank, int32_t block) const {
  switch (collective) {
    case Collective::bcast:
    case Collective::scatter: return {root, root + 1};
    case Collective::gather:
    case Collective::allgather:
    case Collective::alltoall: return {block, block + 1};
    case Collective::scan: return {0, rank + 1};
    case Collective::exscan: return {0, rank};
    default: return {0, ranks};
  }
}

int32_t Definition::alias(int32_t rank, int32_t block) const {
  switch (collective) {
    case Collective::gather: return rank == root ? rank : -1;
    case Collective::allgather: return rank;
    case Collective::scatter: return rank == root && block == rank ? 0 : -1;
    default: return block < out_blocks() ? block : -1;
  }
}

}  // namespace tutti::plan
