// The queue of one client and one server: a ring of entries in shared memory, with which the client
// hands over transfers and learns of their completion.
//
// Entry p % entries has the transfer of position p = 0, 1, 2, ... Its stamp says what has become of
// it:
//
//   posted(p)    by the client, after it has written the transfer
//   taken(p, g)  by a server that begins the transfer; g tells it from servers before and after it
//   away(p, g)   by that server, before it gives the transfer to a network: nobody can call it back
//   done(p)      by the server, after the transfer; or by the client before it executes the
//                transfer itself, from posted(p), or from the stamps of server g if that has died
//
// A server that follows one that has died makes posted(p) of its predecessor's taken(p, g), and
// leaves away(p, g) to the client. Each change of hands is a compare-and-exchange, so exactly one
// of client and server executes a transfer, except for the part that a server has executed that
// then died. Transfers that are away end in any order.
//
// The client uses an entry again after it has released it: when it knows that the transfer is
// complete. So at most as many transfers are outstanding as there are entries, and a client whose
// next entry is not released must do without the server. One cache line carries the request to the
// server and the completion back.
//
// The producer belongs to the client's thread and the consumer to the server's. Both are templates
// over the atomic operations and over what an entry carries, so that tests run them in all
// interleavings. Source: the message queues of "Exploiting Communication Concurrency", section 3,
// where a handle also is an entry, which the client's check of completion gives back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/line.h"
#include "rma/transfer.h"
#include "shm/doorbell.h"

namespace tutti::rma {

// The values of an entry's stamp. 0: not used yet.
constexpr uint64_t posted_step = 1 << 16;  // from one position's stamps to the next one's
constexpr uint64_t generations = posted_step / 2 - 2;
constexpr uint64_t posted(uint64_t position) { return posted_step * position + 1; }
constexpr uint64_t taken(uint64_t position, uint64_t generation) {
  return posted_step * position + 2 + generation % generations;
}
constexpr uint64_t away(uint64_t position, uint64_t generation) {
  return taken(position, generation) + generations;
}
constexpr uint64_t done(uint64_t position) { return posted_step * position + posted_step - 1; }
// True if a server has the transfer, which may be away.
constexpr bool is_taken(uint64_t stamp) {
  return stamp % posted_step >= 2 && stamp % posted_step < 2 + 2 * generations;
}
constexpr bool is_away(uint64_t stamp) {
  return is_taken(stamp) && stamp % posted_step >= 2 + generations;
}
constexpr bool is_of(uint64_t stamp, uint64_t generation) {
  return is_taken(stamp) && (stamp % posted_step - 2) % generations == generation % generations;
}

template <class Atomics, class Content>
struct alignas(line_size) BasicEntry {
  typename Atomics::Word stamp;
  Content content;
};

template <class Atomics, class Content>
class BasicProducer {
 public:
  using Entry = BasicEntry<Atomics, Content>;
  // `count` entries, a power of two, which outlive the producer. All are zero at first. A producer
  // may follow one that has released everything: it goes on at next_position().
  BasicProducer(Entry* entries, size_t count, uint64_t next = 0)
      : entries_(entries), next_(next), in_use_(count, false) {}

  // True if post() may be called: the next entry is released.
  bool has_room() const { return !in_use_[next_ & mask()]; }
  // Hands the content over, and returns its position. There must be room.
  uint64_t post(const Content& content) {
    Entry& entry = entries_[next_ & mask()];
    in_use_[next_ & mask()] = true;
    entry.content = content;
    Atomics::publish(entry.stamp, posted(next_));
    return next_++;
  }
  // True from the post until the release of the position.
  bool is_outstanding(uint64_t position) const {
    return position < next_ && next_ - position <= in_use_.size() && in_use_[position & mask()];
  }
  // True if the server has completed it; what it has written is then visible.
  bool is_done(uint64_t position) const {
    return Atomics::observe(entries_[position & mask()].stamp) == done(position);
  }
  // True if a server has begun it, and has not completed it.
  bool is_taken(uint64_t position) const {
    return rma::is_taken(Atomics::observe(entries_[position & mask()].stamp));
  }
  uint64_t stamp(uint64_t position) const {
    return Atomics::observe(entries_[position & mask()].stamp);
  }
  // True if the server has not begun it, and will not: the client must do the work itself.
  bool take_back(uint64_t position) {
    return Atomics::take(entries_[position & mask()].stamp, posted(position), done(position));
  }
  // `stamp` is of a server that had begun it and has died. True if no other server has it now, nor
  // will have: the client must do the work again.
  bool take_over(uint64_t position, uint64_t stamp) {
    return Atomics::take(entries_[position & mask()].stamp, stamp, done(position));
  }
  const Content& content(uint64_t position) const { return entries_[position & mask()].content; }
  // The client knows that the work is done. The entry is free.
  void release(uint64_t position) { in_use_[position & mask()] = false; }

 private:
  uint64_t mask() const { return in_use_.size() - 1; }

  Entry* const entries_;
  uint64_t next_;
  std::vector<bool> in_use_;  // indexed by entry: posted, and not released
};

// The first position that no producer has posted yet.
template <class Atomics, class Content>
uint64_t next_position(const BasicEntry<Atomics, Content>* entries, size_t count) {
  uint64_t next = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t stamp = Atomics::observe(entries[i].stamp);
    if (stamp != 0) next = std::max(next, stamp / posted_step + 1);
  }
  return next;
}

template <class Atomics, class Content>
class BasicConsumer {
 public:
  using Entry = BasicEntry<Atomics, Content>;
  // A consumer may follow one that has ended, with another generation: it goes on with what is
  // posted, and with what the other one has taken and not completed.
  BasicConsumer(Entry* entries, size_t count, uint64_t generation = 0)
      : entries_(entries), mask_(count - 1), generation_(generation) {
    uint64_t last = 0;
    for (size_t i = 0; i < count; ++i) {
      const uint64_t stamp = Atomics::observe(entries[i].stamp);
      const uint64_t position = stamp / posted_step;
      if (rma::is_taken(stamp) && !is_away(stamp))
        Atomics::take(entries[i].stamp, stamp, posted(position));
      last = std::max(last, position);
    }
    if (last >= count) next_ = last - count + 1;
  }

  // The next entry's content, which this server has taken; null if nothing is posted. finish() or
  // send_away() must follow before the next take(). Data that the server writes into it is visible
  // to a client that finds it done.
  Content* take() {
    for (;; ++next_) {
      Entry& entry = entries_[next_ & mask_];
      const uint64_t stamp = Atomics::observe(entry.stamp);
      if (stamp < posted(next_)) return nullptr;
      // A larger stamp means that the client has taken the entry back, and perhaps used it again.
      if (stamp == posted(next_) &&
          Atomics::take(entry.stamp, posted(next_), taken(next_, generation_)))
        return &entry.content;
    }
  }
  void finish() { finish(next_++); }
  // The content goes to a network next. Returns its position, for finish().
  uint64_t send_away() {
    Atomics::publish(entries_[next_ & mask_].stamp, away(next_, generation_));
    return next_++;
  }
  Content& content(uint64_t position) { return entries_[position & mask_].content; }
  void finish(uint64_t position) {
    Atomics::publish(entries_[position & mask_].stamp, done(position));
  }
  // True if take() would find something, or is about to.
  bool has_next() const { return Atomics::observe(entries_[next_ & mask_].stamp) >= posted(next_); }

 private:
  Entry* const entries_;
  const uint64_t mask_;
  const uint64_t generation_;
  uint64_t next_ = 0;
};

using Entry = BasicEntry<shm::MachineAtomics, Transfer>;
using Producer = BasicProducer<shm::MachineAtomics, Transfer>;
using Consumer = BasicConsumer<shm::MachineAtomics, Transfer>;
static_assert(sizeof(Entry) == line_size);
static_assert(offsetof(Entry, content) + sizeof(Transfer) <= 64, "a request is one cache line");

}  // namespace tutti::rma
