// The lineage of a communicator: a key that all of its ranks compute alike from how it was made, so
// that they need not send each other anything. Two communicators that have a rank in common never
// have the same key.
//
// The key of MPI_COMM_WORLD is fixed. The others follow from the parent's key and the number of the
// making among the parent's, which all ranks of the parent count alike, because MPI orders the
// collectives of a communicator. The parts of one split have the same key, and no rank is in two of
// them. MPI_Comm_create_group is no collective on the parent, so its makings are counted for each
// group and tag. A communicator that was made in another way (from spawned processes, say) has no
// lineage before it has set up; rank 0 then tells the others a key.
//
// Plain values. Whoever uses a key with ranks of a team must know that they are in the same one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "records/directory.h"
#include "mpi/job/team.h"

namespace tutti::mpi {

struct Lineage {
  static constexpr int bits_of_step = 16;
  static constexpr uint64_t largest_step = (uint64_t{1} << bits_of_step) - 1;

  records::Key key;  // all 0: no lineage
  // The team in whose directories the ranks find each other. Null: the world's, if all are in it.
  std::shared_ptr<Team> team;

  // For people: the numbers of the makings that lead here from MPI_COMM_WORLD, each in
  // bits_of_step, the last one lowest. 0: it is not made so, or has no place for them.
  uint64_t path = 0;

  bool known() const { return key.words[0] != 0; }
};

inline constexpr records::Key key_of_world{{1, 1}};

inline uint64_t path_of_child(const Lineage& from, uint64_t number) {
  const bool has_path = from.path != 0 || from.key == key_of_world;
  const bool has_place = from.path >> (64 - Lineage::bits_of_step) == 0;
  if (!has_path || !has_place || number > Lineage::largest_step) return 0;
  return from.path << Lineage::bits_of_step | number;
}

// How a communicator comes from what `from` names.
// `granted`: no communicator, but the grant that rank 0 announces (team/announcements.h).
enum class Descent : uint64_t { made_by_all = 1, made_by_group, set_up, traced, granted };

inline records::Key key_of_child(const records::Key& from, Descent descent, uint64_t number) {
  records::Key child = from;
  uint64_t salt = 0x9E3779B97F4A7C15u * static_cast<uint64_t>(descent);
  for (uint64_t& word : child.words) {
    // Vigna's splitmix64, whose steps are bijections, over the parent's word and the number.
    for (const uint64_t more : {number, salt}) {
      word += more + 0x9E3779B97F4A7C15u;
      word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9u;
      word = (word ^ word >> 27) * 0x94D049BB133111EBu;
      word ^= word >> 31;
    }
    salt += 0xD1B54A32D192ED03u;
  }
  if (child.words[0] == 0) child.words[0] = 1;
  return child;
}

// The lineage of one communicator, and those of the communicators that are made from it. The
// registry's lock guards next_child.
class Ancestry {
 public:
  Ancestry() = default;
  explicit Ancestry(Lineage born) : born_(std::move(born)) {}

  // The lineage since its making, which does not change once anything uses it.
  const Lineage& born() const { return born_; }
  // Set-up gives a lineage to one that was born without.
  void set_up_with(Lineage lineage) { got_ = std::move(lineage); }

  // The lineage of the next communicator that the program makes by a collective on this one.
  Lineage next_child() {
    const Lineage& from = born_.known() ? born_ : got_;
    if (!from.known()) return {};
    const uint64_t number = ++children_;
    return {key_of_child(from.key, Descent::made_by_all, number), from.team,
            path_of_child(from, number)};
  }
  // The same for MPI_Comm_create_group of the ranks with this hash. Ranks may call it while other
  // ranks set up, so a lineage that set-up gives does not count.
  Lineage next_child(uint64_t group, int tag) {
    if (!born_.known()) return {};
    const uint32_t number = ++children_of_groups_[{group, tag}];
    const records::Key of_group = key_of_child(born_.key, Descent::made_by_group, group);
    return {key_of_child(of_group, Descent::made_by_group,
                         static_cast<uint64_t>(static_cast<uint32_t>(tag)) << 32 | number),
            born_.team, 0};
  }

 private:
  Lineage born_, got_;
  uint64_t children_ = 0;
  std::map<std::pair<uint64_t, int>, uint32_t>
      children_of_groups_;  // keys: a group's hash, and a tag
};

}  // namespace tutti::mpi
