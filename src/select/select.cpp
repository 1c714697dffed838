#include "select/select.h"

#include <cstdint>
#include <span>

namespace tutti::select {
namespace {

using plan::Collective;

constexpr size_t any_bytes = SIZE_MAX;
constexpr int any_ranks = INT32_MAX;

struct Row {
  Collective collective;
  bool oversubscribed;  // more ranks than cores
  int ranks;            // up to
  size_t bytes;         // up to
  std::string_view algorithm;
  size_t segment_bytes;
};

// Read top to bottom; the last row of each (collective, oversubscribed) is the fallback. Measured; docs/performance.md.
constexpr Row table[] = {
    {Collective::barrier, false, 8, any_bytes, "all_read_all", 0},
    {Collective::barrier, false, any_ranks, any_bytes, "nary:8", 0},
    {Collective::barrier, true, 16, any_bytes, "all_read_all", 0},
    {Collective::barrier, true, any_ranks, any_bytes, "nary:16", 0},
    {Collective::bcast, false, 16, any_bytes, "flat", 0},
    {Collective::bcast, false, any_ranks, any_bytes, "nary:8", 0},
    {Collective::bcast, true, any_ranks, any_bytes, "flat", 0},
    {Collective::reduce, false, 16, any_bytes, "flat", 0},
    {Collective::reduce, false, any_ranks, any_bytes, "nary:8", 0},
    {Collective::reduce, true, 16, any_bytes, "flat", 0},
    {Collective::reduce, true, any_ranks, any_bytes, "nary:8", 0},
    {Collective::allreduce, false, 2, 131071, "all_read_all", 0},
    {Collective::allreduce, false, 2, any_bytes, "all_read_all", 24 * 1024},
    {Collective::allreduce, false, 8, 2048, "all_read_all", 0},
    {Collective::allreduce, false, any_ranks, 16383, "nary:8", 0},
    {Collective::allreduce, false, any_ranks, any_bytes, "tiled", 24 * 1024},
    {Collective::allreduce, true, 16, 2048, "all_read_all", 0},
    {Collective::allreduce, true, 2, any_bytes, "flat", 0},
    {Collective::allreduce, true, any_ranks, 32767, "flat", 0},
    {Collective::allreduce, true, any_ranks, any_bytes, "tiled", 24 * 1024},
    {Collective::gather, false, any_ranks, any_bytes, "flat", 0},
    {Collective::gather, true, any_ranks, any_bytes, "flat", 0},
    {Collective::scatter, false, any_ranks, any_bytes, "flat", 0},
    {Collective::scatter, true, any_ranks, any_bytes, "flat", 0},
    {Collective::allgather, false, any_ranks, any_bytes, "all_read_all", 0},
    {Collective::allgather, true, any_ranks, any_bytes, "all_read_all", 0},
    {Collective::alltoall, false, any_ranks, any_bytes, "flat", 0},
    {Collective::alltoall, true, any_ranks, any_bytes, "flat", 0},
    {Collective::reduce_scatter, false, any_ranks, any_bytes, "flat", 0},
    {Collective::reduce_scatter, true, any_ranks, any_bytes, "flat", 0},
    {Collective::scan, false, 8, 2048, "all_read_all", 0},
    {Collective::scan, false, any_ranks, any_bytes, "chain", 0},
    {Collective::scan, true, 16, 2048, "all_read_all", 0},
    {Collective::scan, true, any_ranks, any_bytes, "chain", 0},
    {Collective::exscan, false, 8, 2048, "all_read_all", 0},
    {Collective::exscan, false, any_ranks, any_bytes, "chain", 0},
    {Collective::exscan, true, 16, 2048, "all_read_all", 0},
    {Collective::exscan, true, any_ranks, any_bytes, "chain", 0},
};

// Read likewise, before that one, where results may not hang on the placement: by these algorithms every result is one
// reduce of the ranks' data, from the left. Rows for either kind of waiting.
constexpr Row left_folds[] = {
    {Collective::reduce, false, any_ranks, any_bytes, "flat", 0},
    {Collective::reduce, true, any_ranks, any_bytes, "flat", 0},
    {Collective::allreduce, false, 16, 2048, "all_read_all", 0},
    {Collective::allreduce, false, any_ranks, 16383, "flat", 0},
    {Collective::allreduce, false, any_ranks, any_bytes, "tiled", 24 * 1024},
    {Collective::allreduce, true, 16, 2048, "all_read_all", 0},
    {Collective::allreduce, true, any_ranks, 32767, "flat", 0},
    {Collective::allreduce, true, any_ranks, any_bytes, "tiled", 24 * 1024},
    {Collective::reduce_scatter, false, any_ranks, any_bytes, "flat", 0},
    {Collective::reduce_scatter, true, any_ranks, any_bytes, "flat", 0},
    {Collective::scan, false, any_ranks, any_bytes, "chain", 0},
    {Collective::scan, true, any_ranks, any_bytes, "chain", 0},
    {Collective::exscan, false, any_ranks, any_bytes, "chain", 0},
    {Collective::exscan, true, any_ranks, any_bytes, "chain", 0},
};

}  // namespace

Choice choose(Collective collective, size_t bytes, int ranks, bool oversubscribed, const Overrides& overrides) {
  Choice choice;
  size_t low = 0;
  const bool folds = plan::combines(collective) && overrides.reproducible == Reproducible::placement;
  for (const Row& row : folds ? std::span<const Row>(left_folds) : std::span<const Row>(table)) {
    if (row.collective != collective || row.oversubscribed != oversubscribed || ranks > row.ranks) continue;
    if (bytes > row.bytes) {
      low = row.bytes + 1;
      continue;
    }
    choice = {row.algorithm, row.segment_bytes, low, row.bytes};
    break;
  }
  const std::string& asked = overrides.algorithm[static_cast<size_t>(collective)];
  if (!asked.empty()) choice = {asked, choice.segment_bytes, 0, any_bytes};
  if (overrides.segment_bytes != 0) choice.segment_bytes = overrides.segment_bytes;
  return choice;
}

}  // namespace tutti::select
