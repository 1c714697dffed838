#include "report/board.h"

#include <algorithm>

#include "base/process.h"

namespace tutti::report {
namespace {

enum State : uint64_t { free_place, entered, left };

template <class Words, class Combine>
void add_words(const Words& from, Words& to, Combine combine) {
  const auto* one = reinterpret_cast<const uint64_t*>(&from);
  auto* sum = reinterpret_cast<uint64_t*>(&to);
  for (size_t word = 0; word < sizeof(Words) / sizeof(uint64_t); ++word)
    sum[word] = combine(sum[word], one[word]);
}

}  // namespace

struct Board::Head {
  shm::Word leavings;  // so far
  shm::Word written;   // the leavings that the last report had
};

// A process writes its own place; others read its numbers after it has left.
struct Board::Place {
  shm::Word state;
  shm::Word process, started;  // ProcessId
  shm::Word rank;
  Numbers numbers;
  Most most;
};

size_t Board::bytes(int places) {
  return sizeof(Head) + sizeof(Place) * static_cast<size_t>(places);
}

Board::Board(std::byte* memory, int places, int own)
    : memory_(memory), places_(places), own_(own) {}

Board::Place& Board::place(int number) const {
  return reinterpret_cast<Place*>(memory_ + sizeof(Head))[number];
}

int Board::place_of_this_process(std::byte* memory, int places) {
  const ProcessId self = this_process();
  const Board board(memory, places, 0);
  for (int number = 0; number < places; ++number) {
    const Place& one = board.place(number);
    if (shm::observe(one.state) == free_place ||
        (shm::load_relaxed(one.process) == static_cast<uint64_t>(self.number) &&
         shm::load_relaxed(one.started) == self.started))
      return number;
  }
  return -1;
}

bool Board::has_died(const Place& place) {
  return process_is_gone(
      {static_cast<int64_t>(shm::load_relaxed(place.process)), shm::load_relaxed(place.started)});
}

void Board::enter(int rank) {
  const ProcessId self = this_process();
  Place& own = place(own_);
  shm::store_relaxed(own.process, static_cast<uint64_t>(self.number));
  shm::store_relaxed(own.started, self.started);
  shm::store_relaxed(own.rank, static_cast<uint64_t>(rank));
  shm::publish(own.state, entered);
}

// If two processes leave at once, at least one of them sees that the other has left. Whoever sees
// that all have left also sees all the leavings, so only one of them may write.
void Board::leave(const Numbers& numbers, const Most& most) {
  Place& own = place(own_);
  own.numbers = numbers;
  own.most = most;
  shm::add(reinterpret_cast<Head*>(memory_)->leavings, 1);
  shm::publish(own.state, left);
  shm::fence_before_looking();
}

bool Board::nobody_comes(bool look) const {
  for (int number = 0; number < places_; ++number) {
    const Place& other = place(number);
    if (shm::observe(other.state) == entered && !(look && has_died(other))) return false;
  }
  return true;
}

bool Board::some_died() const {
  for (int number = 0; number < places_; ++number) {
    const Place& other = place(number);
    if (shm::observe(other.state) == entered && has_died(other)) return true;
  }
  return false;
}

bool Board::all_ended() const {
  for (int number = 0; number < places_; ++number) {
    const Place& one = place(number);
    if (shm::observe(one.state) != free_place && !has_died(one)) return false;
  }
  return true;
}

bool Board::may_write() {
  auto& head = *reinterpret_cast<Head*>(memory_);
  const uint64_t leavings = shm::observe(head.leavings);
  const uint64_t written = shm::observe(head.written);
  return written < leavings && shm::take(head.written, written, leavings);
}

Board::Sum Board::sum() const {
  Sum sum{};
  for (int number = 0; number < places_; ++number) {
    const Place& one = place(number);
    const uint64_t state = shm::observe(one.state);
    if (state == free_place) continue;
    (state == left ? sum.ranks : sum.missing)
        .push_back(static_cast<int>(shm::load_relaxed(one.rank)));
    if (state != left) continue;
    add_words(one.numbers, sum.numbers, [](uint64_t a, uint64_t b) { return a + b; });
    add_words(one.most, sum.most, [](uint64_t a, uint64_t b) { return std::max(a, b); });
  }
  return sum;
}

}  // namespace tutti::report
