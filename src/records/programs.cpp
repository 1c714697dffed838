#include "records/programs.h"

#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "algo/algo.h"

namespace tutti::records {
namespace {

// In the plans of these algorithms every rank reads what it needs from the ranks that have it.
std::string algorithm_of_records(plan::Collective collective) {
  if (plan::parted(collective)) return "direct";
  return plan::rooted(collective) ? "flat" : "all_read_all";
}

struct Programs {
  std::mutex mutex;
  // The keys: the collective, how many ranks there are, the rank and the root.
  std::map<std::tuple<plan::Collective, int, int, int>, plan::RecordProgram> made;
};

}  // namespace

const plan::RecordProgram& program_of(plan::Collective collective, int ranks, int rank, int root) {
  static Programs& programs = *new Programs;  // never destroyed: exit handlers may still call MPI
  const std::lock_guard<std::mutex> lock(programs.mutex);
  const std::tuple key(collective, ranks, rank, root);
  if (const auto found = programs.made.find(key); found != programs.made.end())
    return found->second;
  std::vector<plan::RecordProgram> all = plan::make_record_program(
      algo::generate(collective, algorithm_of_records(collective), ranks, root));
  return programs.made.emplace(key, std::move(all[static_cast<size_t>(rank)])).first->second;
}

}  // namespace tutti::records
