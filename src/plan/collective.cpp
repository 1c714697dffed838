#include "plan/collective.h"

#include <array>

#include "base/error.h"

namespace tutti::plan {
namespace {

struct Properties {
  std::string_view name;
  bool rooted, combines, parted_in, parted_out;
};

constexpr std::array<Properties, collective_count> properties = {{
    {"barrier", false, false, false, false},
    {"bcast", true, false, false, false},
    {"reduce", true, true, false, false},
    {"allreduce", false, true, false, false},
    {"gather", true, false, false, true},
    {"scatter", true, false, true, false},
    {"allgather", false, false, false, true},
    {"alltoall", false, false, true, true},
    {"reduce_scatter", false, true, true, false},
    {"scan", false, true, false, false},
    {"exscan", false, true, false, false},
}};

const Properties& of(Collective collective) { return properties[static_cast<size_t>(collective)]; }

}  // namespace

std::string_view name(Collective collective) { return of(collective).name; }
bool rooted(Collective collective) { return of(collective).rooted; }
bool combines(Collective collective) { return of(collective).combines; }
bool parted_in(Collective collective) { return of(collective).parted_in; }
bool parted_out(Collective collective) { return of(collective).parted_out; }

std::string collective_names() {
  std::string text;
  for (const Properties& one : properties) text.append(text.empty() ? "" : ", ").append(one.name);
  return text;
}

Collective collective_named(std::string_view word) {
  for (size_t i = 0; i < properties.size(); ++i) {
    if (properties[i].name == word) return static_cast<Collective>(i);
  }
  throw Error(Code::invalid_argument,
              "there is no collective '" + std::string(word.substr(0, 40)) + "'; it is one of " + collective_names());
}

bool Definition::has_in(int32_t rank) const {
  const bool root_only = collective == Collective::bcast || collective == Collective::scatter;
  return !root_only || rank == root;
}

bool Definition::has_out(int32_t rank) const {
  if (collective == Collective::exscan) return rank > 0;
  const bool root_only = collective == Collective::reduce || collective == Collective::gather;
  return !root_only || rank == root;
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
