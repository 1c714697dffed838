// A directory: where the processes of a team tell each other, by keys, where in their arenas
// something is that they share.
//
// A key is a name that all who need it can compute by themselves, such as that of a communicator
// (communicators/lineage.h in src/mpi). So nobody has to send it, and nobody waits: a process
// enters what it has under the key, and another finds it there once it looks.
//
// Each member of the team has a page in memory that all members map, with a first table of entries.
// Further tables, each four times as long, lie in its arena. Only the member writes its tables. An
// entry is found in one of a few lines that its key selects, so finding costs as little among many
// entries as among few.
//
// A process has one directory for each of its teams. The pages and the arena outlive it. Any thread
// may call its functions; they lock. The memory at an entry's place is valid as long as the entry,
// so whoever finds an entry must know why its owner does not remove it (ledgers_by_key.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "records/arena.h"
#include "shm/ledger.h"
#include "shm/order.h"

namespace tutti::records {

// The first word is not 0.
struct Key {
  uint64_t words[2] = {0, 0};
  bool operator==(const Key&) const = default;
};

class Directory {
 public:
  struct alignas(line_size) Entry {
    shm::Word key[2];       // the first is 0 while the entry is free, and is written last
    shm::ArenaPlace place;  // or other plain bytes, as whoever enters and finds the key agree
    shm::Word closed;       // for whoever enters; 0 at first
  };
  static_assert(sizeof(Entry) == line_size, "an entry fills a line");

  static constexpr int most_tables = 10;
  static constexpr uint64_t first_entries = 16;
  // The entries of a table: 16, 64, 256, 1024, ...
  static constexpr uint64_t entries_of(int table) {
    return table == 0 ? first_entries : uint64_t{64} << (2 * (table - 1));
  }

  // A member's page. All zero at first.
  struct alignas(line_size) Page {
    shm::Word process;            // pid
    shm::Word missing_types;      // the types that its MPI library lacks (mpi/abi/types.h)
    shm::Word ended;              // 1: the member has left the team, and its arena may be gone
    shm::Word announces_no_more;  // 1: it enters no announcements any more
    shm::Word reads_no_more;      // 1: it reads none any more
    struct Table {
      shm::Word made;  // 1: the table is there
      shm::ArenaPlace entries;
    } tables[most_tables - 1];  // those after the first one
    Entry first[first_entries];
  };

  // `pages`: of all members, by their ranks in the team. `own`: this process's rank there.
  Directory(Page* pages, int members, int own, Arena& arena);
  Directory(const Directory&) = delete;

  // Enters something under a key that this process has not entered. Throws Error(unavailable) or
  // bad_alloc if there is no memory.
  Entry& enter(const Key& key, const shm::ArenaPlace& place);
  // The entry becomes free. No member may look at it afterwards.
  void remove(Entry& entry) noexcept;
  // A member's entry under a key; null if it has none, and possibly if the member has left. Throws
  // Error(unavailable) or bad_alloc if this process cannot map the member's tables.
  Entry* find(int member, const Key& key);
  // Returns the address of an entry's place in this process. May throw as find().
  const std::byte* address(const Entry& entry) { return arena_.address(entry.place); }

  // True if a member has left the team. Nobody needs what was in its arena.
  bool has_left(int member) const { return shm::observe(pages_[member].ended) != 0; }

  const Page& page(int member) const { return pages_[member]; }
  int own() const { return own_; }
  // The members' word on announcements (team/announcements.h).
  void announce_no_more() noexcept { shm::publish(pages_[own_].announces_no_more, 1); }
  bool announces_no_more(int member) const {
    return shm::observe(pages_[member].announces_no_more) != 0;
  }
  void read_no_more() noexcept { shm::publish(pages_[own_].reads_no_more, 1); }
  bool reads_no_more(int member) const { return shm::observe(pages_[member].reads_no_more) != 0; }

 private:
  Entry* table(int member, int which);
  Entry* make_table(int which);

  Page* const pages_;
  const int own_;
  Arena& arena_;
  std::mutex mutex_;  // guards what follows, and this process's tables
  // Indexed by member: the addresses of its tables after the first, as far as this process has
  // looked.
  std::vector<std::vector<Entry*>> tables_;
};

}  // namespace tutti::records
