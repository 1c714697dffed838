// Where the data of operands lies while programs run, and who reads it there, found from the
// programs of all ranks. A VirtualRun owns it; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "model/lengths.h"
#include "model/links.h"
#include "model/predict.h"

namespace tutti::model {

class DataPlaces {
 public:
  // The link through which ranks read a rank's writes, and the costs of its level.
  struct Readers {
    size_t link = 0;
    const LevelCost* cost = nullptr;
  };

  // Keeps references to both.
  DataPlaces(const Question& question, const Links& links);

  // True if readers find the data in a user's buffer.
  bool is_in_place(const plan::Operand& operand) const;
  // The rank whose cache has a source's bytes: its owner, or until that has read them once, the
  // rank that wrote them there.
  int32_t holder_of(int32_t rank, const plan::Operand& source, int32_t blocks,
                    int64_t segment) const;
  void note_read(int32_t rank, const plan::Step& step, int64_t segment);
  bool is_read_by_owner(const plan::Operand& operand, int32_t blocks) const;
  // No costs: writing there is as writing to memory of its own.
  Readers readers_of(int32_t rank, const plan::Operand& to) const;
  // True if a slot's data lies in memory because its writer's stores went past the cache.
  bool is_past_cache(int32_t writer, const plan::Operand& source, double bytes, double whole) const;

  // True if a writer bypasses its cache, which it decides by timing a plain copy now and then.
  static bool goes_past_cache(const LevelCost& cost, double bytes, double whole);

 private:
  // The place of an operand's bytes: a block of a rank's space.
  using Place = std::tuple<int32_t, plan::Space, int32_t>;
  // The state of a block that another rank than its owner writes: that rank, and the last segment
  // of the block that the owner has read.
  struct Pushed {
    int32_t writer = -1;
    int64_t read = -1;
  };

  // Those who read a rank's slots where writing for them costs most; likewise those who read its
  // buffers in place.
  void find_readers();
  void add_reader(int32_t reader, const plan::Operand& source, const plan::Step& step);
  Place place_of(const plan::Operand& operand, int32_t further) const;
  // Finds the blocks that another rank than their owner writes, and those that copies write.
  void find_pushes();
  // Finds the blocks that their owner combines from.
  void find_own_reads();
  bool any_add_same() const;

  const Question& question_;
  const std::vector<plan::Program>& programs_;
  const Links& links_;
  // Indexed by rank; without costs writing to its slot is a copy.
  std::vector<Readers> slot_readers_;
  std::map<Place, Readers> read_in_place_;
  std::set<Place> own_reads_;
  std::map<Place, Pushed> pushed_;
  std::set<Place> copied_;
};

}  // namespace tutti::model
