#include "plan/record_program.h"

#include <algorithm>
#include <string>
#include <utility>

#include "plan/blocks.h"
#include "plan/fault.h"
#include "plan/text.h"

namespace tutti::plan {
namespace {

// The contents of a block while the plan is walked.
struct Place {
  enum class Kind : uint8_t {
    nowhere,
    given,  // they are a block of the `in` of `rank`
    taken,  // a take has written them to this block
  };
  Kind kind = Kind::nowhere;
  int32_t rank = 0;
  int32_t block = 0;
};

class Deriver {
 public:
  explicit Deriver(const Plan& plan)
      : plan_(plan),
        places_(plan, BlockTable<Place>::Aliasing::none),
        programs_(static_cast<size_t>(plan.ranks)),
        read_by_others_(static_cast<size_t>(plan.ranks)),
        read_by_owner_(static_cast<size_t>(plan.ranks)) {}

  std::vector<RecordProgram> run() {
    for (index_ = 0; index_ < plan_.transfers.size(); ++index_) {
      const Transfer& transfer = plan_.transfers[index_];
      if (transfer.kind == TransferKind::token) continue;
      for (int32_t i = 0; i < transfer.dst.count; ++i) derive(transfer, i);
    }
    for (int32_t rank = 0; rank < plan_.ranks; ++rank) finish(rank);
    for (RecordProgram& program : programs_) find_places(program);
    for (const RecordProgram& program : programs_)
      for (const int32_t from : program.awaits) ++programs_[static_cast<size_t>(from)].read_by;
    for (RecordProgram& program : programs_) program.note_properties();
    return std::move(programs_);
  }

 private:
  bool is_in(const Region& region) const {
    return region.buffer == Buffer::in ||
           (region.buffer == Buffer::out && one_buffer(plan_.collective) &&
            region.rank == plan_.root);
  }

  Place place_of(const Region& region, int32_t block) {
    if (is_in(region)) return {Place::Kind::given, region.rank, block};
    return places_.at(region.rank, region.buffer, block);
  }

  // The source as the rank that executes the transfer reads it.
  TakeSource source_of(const Transfer& transfer, const Region& region, int32_t block) {
    const Place place = place_of(region, block);
    if (place.kind == Place::Kind::given) return {place.rank, place.block};
    if (region.rank == transfer.dst.rank) return {-1, block, 0, region.buffer};
    refuse(tutti::plan::place(plan_, index_),
           shortened(transfer) + ": rank " + std::to_string(transfer.dst.rank) +
               " reads the result of a reduction of rank " + std::to_string(region.rank) +
               ", so the plan does not fit records; each rank must reduce the `in` of the others "
               "by itself");
  }

  // One block of a transfer.
  void derive(const Transfer& transfer, int32_t i) {
    const Region& dst = transfer.dst;
    const int32_t block = dst.first + i * dst.stride;
    std::vector<TakeSource> sources;
    for (const Region& src : transfer.src)
      sources.push_back(source_of(transfer, src, src.first + i * src.stride));
    Place& place = places_.at(dst.rank, dst.buffer, block);
    const bool copies = sources.size() == 1;
    if (copies && sources[0].rank >= 0)
      place = {Place::Kind::given, sources[0].rank, sources[0].block};
    else
      place = {Place::Kind::taken, dst.rank, block};
    // A copy into `tmp` is left out: whoever reads it reads the record from which it came.
    if (copies && sources[0].rank >= 0 && dst.buffer == Buffer::tmp) return;
    RecordProgram& program = programs_[static_cast<size_t>(dst.rank)];
    program.takes.push_back({dst.buffer, block, static_cast<int32_t>(program.sources.size()),
                             static_cast<int32_t>(sources.size())});
    if (dst.buffer == Buffer::tmp) program.tmp_blocks = std::max(program.tmp_blocks, block + 1);
    for (const TakeSource& source : sources) {
      program.sources.push_back(source);
      if (source.rank < 0) continue;
      auto& read = source.rank == dst.rank ? read_by_owner_ : read_by_others_;
      read[static_cast<size_t>(source.rank)].push_back(source.block);
      if (source.rank != dst.rank) program.awaits.push_back(source.rank);
    }
  }

  static void sort_out(std::vector<int32_t>& numbers) {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  }

  void finish(int32_t rank) {
    const auto at = static_cast<size_t>(rank);
    RecordProgram& program = programs_[at];
    program.collective = plan_.collective;
    program.ranks = plan_.ranks;
    program.rank = rank;
    program.root = plan_.root;
    program.blocks = plan_.blocks;
    program.parted = parted(plan_.collective);
    sort_out(program.awaits);
    sort_out(read_by_others_[at]);
    program.gives = read_by_others_[at];
    program.gives.insert(program.gives.end(), read_by_owner_[at].begin(), read_by_owner_[at].end());
    sort_out(program.gives);
    for (const int32_t block : program.gives)
      program.given_to_others.push_back(
          std::binary_search(read_by_others_[at].begin(), read_by_others_[at].end(), block));
  }

  void find_places(RecordProgram& program) const {
    const auto gives_of = [&](int32_t rank) -> const std::vector<int32_t>& {
      return programs_[static_cast<size_t>(rank)].gives;
    };
    for (TakeSource& source : program.sources) {
      if (source.rank < 0) continue;
      const std::vector<int32_t>& gives = gives_of(source.rank);
      source.place = static_cast<int32_t>(
          std::lower_bound(gives.begin(), gives.end(), source.block) - gives.begin());
    }
    for (const int32_t rank : program.awaits)
      program.awaited_blocks.push_back(static_cast<int32_t>(gives_of(rank).size()));
  }

  const Plan& plan_;
  BlockTable<Place> places_;
  std::vector<RecordProgram> programs_;
  // Indexed by rank: the blocks of its `in` that others read, and those that it reads itself.
  std::vector<std::vector<int32_t>> read_by_others_, read_by_owner_;
  size_t index_ = 0;
};

}  // namespace

void RecordProgram::note_properties() {
  is_simple = tmp_blocks == 0 && awaits.size() <= few;
  reads_own = false;
  for (TakeSource& source : sources) {
    source.awaited = -1;
    reads_own = reads_own || source.rank == rank;
    is_simple = is_simple && source.rank >= 0;
    if (source.rank < 0 || source.rank == rank) continue;
    source.awaited = static_cast<int32_t>(
        std::lower_bound(awaits.begin(), awaits.end(), source.rank) - awaits.begin());
  }
  for (const Take& take : takes)
    is_simple = is_simple && static_cast<size_t>(take.source_count) <= few;
}

std::vector<RecordProgram> make_record_program(const Plan& plan) { return Deriver(plan).run(); }

}  // namespace tutti::plan
