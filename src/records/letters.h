// Letters: messages between two processes of a team, in the order of a sender's letters with one
// tag to one receiver.
//
// The sender copies its data into its arena and enters the place into its directory, under a key
// that both ends compute: the receiver, the tag, and the number of the letter among those of the
// two with this tag. So sending waits for nobody, whatever the receiver does. The receiver finds
// the letter there, copies it and closes its entry; the sender then uses the memory again.
//
// The directory and the arena outlive the object. Any thread may call its functions; they lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/parts.h"
#include "records/directory.h"

namespace tutti::records {

class Letters {
 public:
  Letters(Directory& directory, Arena& arena) : directory_(directory), arena_(arena) {}
  Letters(const Letters&) = delete;

  // Throws Error(unavailable) or bad_alloc if there is no memory; nothing has been sent then.
  // `parallel`: the threads that copy long data; null: the calling one alone.
  void send(int to, uint32_t tag, const void* data, size_t bytes,
            const kernels::Parallel* parallel = nullptr);

  // The number of the next letter of a member with this tag: nobody else gets that letter.
  uint64_t claim(int from, uint32_t tag);
  // A letter that has come. Its data is valid until it is closed.
  struct Letter {
    const std::byte* data = nullptr;
    size_t bytes = 0;
    Directory::Entry* entry = nullptr;
  };
  // False if it has not come. Throws Error(unavailable) if the sender's memory cannot be mapped.
  bool find(int from, uint32_t tag, uint64_t number, Letter* letter);
  // The next letter of the member, which is claimed if it has come.
  bool find_next(int from, uint32_t tag, Letter* letter);
  static void close(const Letter& letter) { shm::publish(letter.entry->closed, 1); }

  // True if the receivers have read all letters that this process has sent.
  bool all_read() noexcept;

 private:
  struct Sent {
    Directory::Entry* entry;
    Arena::Block block;
  };
  using Ends = std::pair<int, uint32_t>;  // the other member, and the tag
  void end_read(size_t most) noexcept;

  Directory& directory_;
  Arena& arena_;
  std::mutex mutex_;                     // guards what follows
  std::map<Ends, uint64_t> sent_count_;  // the letters so far
  std::map<Ends, uint64_t> claimed_;
  std::vector<Sent> sent_;  // those that may not be read yet
  size_t next_ = 0;         // the one of them to be looked at next
};

}  // namespace tutti::records
