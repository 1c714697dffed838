// Announcements: how rank 0 of a communicator with a lineage tells the other ranks where their
// shared memory is, without a message.
//
// Rank 0 enters the grant into its directory, under a key that all ranks compute alike. It waits
// for nobody. The others find the grant there once it is announced, so a rank that comes late finds
// it as well as one that comes early. The entry is used again when all of them have read it. A
// process without memory for an entry announces nothing more, and says so in its page of the
// directory.
//
// A team has one object, which lives as long as the team's directory. Any thread may call its
// functions; they lock.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "records/directory.h"
#include "team/area_pool.h"

namespace tutti::team {

class Announcements {
 public:
  // `directory` outlives the object.
  explicit Announcements(records::Directory& directory) : directory_(directory) {}
  Announcements(const Announcements&) = delete;

  // An announcement, as one rank sees it. Its words are valid until all readers have read it.
  struct Announced {
    AreaGrant grant;              // the grant of memory in the node's segment; without a lineage
    shm::Word* closed = nullptr;  // how many ranks have called close(); null: there is no entry

    // For each reader, once it needs the announcement no more; also for rank 0 if all wait for all.
    void close() const { shm::add(*closed, 1); }
  };

  // For rank 0: announces a grant under a key that it has not used. The memory is used again when
  // close() was called so many times. Without memory the result is a postponed grant, and this
  // process announces nothing any more.
  Announced announce(const records::Key& key, const AreaGrant& grant, int closes) noexcept;
  // For the readers: true if the member has announced a grant under the key, or announces nothing
  // any more; then `found` is the grant, or a postponed one. May throw as records::Directory::find.
  bool find(int member, const records::Key& key, Announced* found);
  // True if nobody needs an announcement of this process any more. Until then its directory must
  // stay.
  bool all_closed() noexcept;

 private:
  struct Made {
    records::Directory::Entry* entry;
    uint64_t closes;
  };
  void end_closed(size_t most) noexcept;

  records::Directory& directory_;
  std::mutex mutex_;  // guards what follows
  std::vector<Made> made_;
  size_t next_ = 0;  // the one of them to be looked at next
};

}  // namespace tutti::team
