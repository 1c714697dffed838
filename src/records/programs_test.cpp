// Random programs that are right by MPI's rules, played by one thread: ranks start and complete
// collectives and exchange messages in orders of their own. No rank may get stuck, and no record
// may change before all ranks have read it. Programs with a broken protocol must be found.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/sanitized.h"
#include "records/test_ranks.h"

namespace tutti::records {
namespace {

struct Event {
  enum class Kind { start, complete, send, receive } kind;
  uint64_t number = 0;  // the number of the operation or of the message
};

// Returns the events of each rank, in its order. All events have one global order in which an
// operation completes after all ranks have started it and a message is received after it was sent,
// so MPI promises that the program ends.
std::vector<std::vector<Event>> random_program(int ranks, uint64_t operations, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<Event>> scripts(static_cast<size_t>(ranks));
  std::vector<uint64_t> started(static_cast<size_t>(ranks), 0);
  std::vector<std::vector<uint64_t>> open(static_cast<size_t>(ranks));
  uint64_t messages = 0;
  for (size_t left = static_cast<size_t>(ranks) * operations; left > 0;) {
    const size_t rank = random() % static_cast<unsigned>(ranks);
    const unsigned choice = random() % 5;
    if (choice == 0) {
      const size_t other = random() % static_cast<unsigned>(ranks);
      scripts[rank].push_back({Event::Kind::send, messages});
      scripts[other].push_back({Event::Kind::receive, messages++});
    } else if (choice < 3 && started[rank] < operations) {
      scripts[rank].push_back({Event::Kind::start, started[rank]});
      open[rank].push_back(started[rank]++);
    } else if (!open[rank].empty()) {
      const size_t which = random() % open[rank].size();
      const uint64_t number = open[rank][which];
      if (*std::min_element(started.begin(), started.end()) <= number) continue;
      scripts[rank].push_back({Event::Kind::complete, number});
      open[rank].erase(open[rank].begin() + static_cast<ptrdiff_t>(which));
      --left;
    }
  }
  return scripts;
}

enum class Protocol {
  right,
  start_waits,       // a start waits until the rank's last operation could complete
  freed_on_entering  // memory is used again once all ranks have started an operation
};

size_t bytes_of(size_t rank, uint64_t number) { return 20000 + 997 * ((rank + number) % 13); }

std::byte datum(size_t rank, uint64_t number) {
  return static_cast<std::byte>(1 + rank * 89 + number * 7);
}

// Plays a program; returns what went wrong, or nothing.
std::string play(const std::vector<std::vector<Event>>& scripts, Protocol protocol) {
  TestRanks ranks({.ranks = static_cast<int>(scripts.size())});
  std::vector<size_t> at(scripts.size(), 0);
  std::vector<bool> sent(1 << 16, false);
  const auto all_started = [&](size_t rank, uint64_t number) {
    for (int peer = 0; peer < ranks.ranks(); ++peer)
      if (!ranks[static_cast<int>(rank)].has(peer, number)) return false;
    return true;
  };
  // Says for every rank that it is done with what it has only entered.
  const auto forge = [&] {
    for (int rank = 0; rank < ranks.ranks(); ++rank)
      shm::publish(ranks.ledger(rank).taken, ranks[rank].issued(rank));
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t rank = 0; rank < scripts.size(); ++rank) {
      Sequence& own = ranks[static_cast<int>(rank)];
      while (at[rank] < scripts[rank].size()) {
        const Event& event = scripts[rank][at[rank]];
        if (event.kind == Event::Kind::receive && !sent[event.number]) break;
        if (event.kind == Event::Kind::send) sent[event.number] = true;
        if (event.kind == Event::Kind::start) {
          if (protocol == Protocol::start_waits && event.number > 0 &&
              !all_started(rank, event.number - 1))
            break;
          if (protocol == Protocol::freed_on_entering) forge();
          const size_t bytes = bytes_of(rank, event.number);
          std::fill_n(own.prepare(bytes), bytes, datum(rank, event.number));
          own.publish(bytes);
        }
        if (event.kind == Event::Kind::complete) {
          if (!all_started(rank, event.number)) break;
          for (size_t peer = 0; peer < scripts.size(); ++peer) {
            const std::byte* const data = own.record(static_cast<int>(peer), event.number).data;
            const size_t bytes = bytes_of(peer, event.number);
            if (std::count(data, data + bytes, datum(peer, event.number)) !=
                static_cast<ptrdiff_t>(bytes))
              return "operation " + std::to_string(event.number) + " of rank " +
                     std::to_string(peer) + " changed before rank " + std::to_string(rank) +
                     " read it";
          }
          own.done(event.number);
        }
        ++at[rank];
        moved = true;
      }
    }
  }
  for (size_t rank = 0; rank < scripts.size(); ++rank)
    if (at[rank] < scripts[rank].size())
      return "rank " + std::to_string(rank) + " is stuck at event " + std::to_string(at[rank]);
  return "";
}

TEST(Programs, EveryProgramThatIsRightEndsWithTheRightData) {
  // One thread plays all ranks, so there are no races to find.
  const unsigned programs = looks_for_races ? 8 : 60;
  for (unsigned seed = 0; seed < programs; ++seed)
    ASSERT_EQ(play(random_program(2 + static_cast<int>(seed % 4), 60, seed), Protocol::right), "")
        << "seed " << seed;
}

TEST(Programs, AStartThatWaitsIsFound) {
  int found = 0;
  for (unsigned seed = 0; seed < 20; ++seed)
    found += play(random_program(3, 60, seed), Protocol::start_waits).find("is stuck") !=
             std::string::npos;
  EXPECT_GT(found, 10);
}

TEST(Programs, MemoryThatIsFreedOnEnteringIsFound) {
  int found = 0;
  for (unsigned seed = 0; seed < 20; ++seed)
    found +=
        play(random_program(3, 60, seed), Protocol::freed_on_entering).find("changed before") !=
        std::string::npos;
  EXPECT_GT(found, 10);
}

}  // namespace
}  // namespace tutti::records
