// The queue in interleavings of its atomic operations with few preemptions, and the doorbell in
// all.
#include "rma/queue.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rma/test_interleavings.h"

namespace tutti::rma {
namespace {

using test::Explorer;
using test::exploring;
using test::SimulatedAtomics;
using test::SimulatedData;
using test::SimulatedWord;

// A client and a server with one queue, and what has become of each item of work.
template <class Atomics>
struct Meeting {
  using Producer = BasicProducer<Atomics, SimulatedData>;
  using Consumer = BasicConsumer<Atomics, SimulatedData>;
  static constexpr size_t most_items = 4;

  explicit Meeting(size_t entry_count)
      : entries(entry_count), producer(entries.data(), entry_count) {}

  void execute(int item) {
    const auto at = static_cast<size_t>(item);
    results[at].set(item + 100);
    ++times[at];
  }
  // Waits for the completion, or takes the item back.
  void complete(uint64_t position, int item, bool takes_back) {
    if (takes_back && producer.take_back(position)) {
      execute(producer.content(position).get());
    } else {
      while (!producer.is_done(position)) exploring->pause();
    }
    if (results[static_cast<size_t>(item)].get() != item + 100) exploring->fail("a wrong result");
    producer.release(position);
  }
  // The same for a client that knows when the first server, of generation 0, has died: it then
  // takes over what that one had begun.
  void complete_or_take_over(uint64_t position, int item) {
    while (!producer.is_done(position)) {
      const bool died = Atomics::observe(dead) != 0;
      const uint64_t stamp = producer.stamp(position);
      if (died && is_of(stamp, 0) && producer.take_over(position, stamp)) {
        execute(producer.content(position).get());
        break;
      }
      exploring->pause();
    }
    if (results[static_cast<size_t>(item)].get() != item + 100) exploring->fail("a wrong result");
    producer.release(position);
  }
  // Begins an item and dies.
  void die() {
    Consumer consumer(entries.data(), entries.size(), 0);
    while (consumer.take() == nullptr) exploring->pause();
    Atomics::publish(dead, 1);
  }
  // Sends so many items away, and ends them in the opposite order.
  void serve_backwards(int items) {
    Consumer consumer(entries.data(), entries.size());
    std::vector<std::pair<uint64_t, int>> away;
    while (static_cast<int>(away.size()) < items) {
      if (const SimulatedData* const content = consumer.take()) {
        const int item = content->get();
        away.emplace_back(consumer.send_away(), item);
      } else {
        exploring->pause();
      }
    }
    for (; !away.empty(); away.pop_back()) {
      execute(away.back().second);
      consumer.finish(away.back().first);
    }
  }
  // Sends an item away and dies.
  void die_with_an_item_away() {
    Consumer consumer(entries.data(), entries.size(), 0);
    while (consumer.take() == nullptr) exploring->pause();
    consumer.send_away();
    Atomics::publish(dead, 1);
  }
  // Until the client has posted all, or for so many items.
  void serve(int items = most_items, uint64_t generation = 0) {
    Consumer consumer(entries.data(), entries.size(), generation);
    while (items > 0) {
      const bool ends = Atomics::observe(stop) != 0;
      if (const SimulatedData* const content = consumer.take()) {
        execute(content->get());
        consumer.finish();
        --items;
      } else if (ends) {
        return;
      } else {
        exploring->pause();
      }
    }
  }
  std::string verdict(int items) const {
    for (int item = 0; item < items; ++item) {
      const int count = times[static_cast<size_t>(item)];
      if (count != 1)
        return "item " + std::to_string(item) + " was executed " + std::to_string(count) + " times";
    }
    return "";
  }

  std::vector<BasicEntry<Atomics, SimulatedData>> entries;
  Producer producer;
  SimulatedWord stop, dead;
  std::array<SimulatedData, most_items> results;
  std::array<int, most_items> times{};
};

// The client posts and completes one item after another.
template <class Atomics>
Explorer::Run one_after_another(const std::shared_ptr<Meeting<Atomics>>& meeting, int items,
                                bool takes_back) {
  return {{[=] {
             for (int item = 0; item < items; ++item)
               meeting->complete(meeting->producer.post(SimulatedData(item)), item, takes_back);
             Atomics::publish(meeting->stop, 1);
           },
           [=] { meeting->serve(); }},
          [=] { return meeting->verdict(items); }};
}
template <class Atomics>
Explorer::Run one_after_another(size_t entries, int items, bool takes_back) {
  return one_after_another(std::make_shared<Meeting<Atomics>>(entries), items, takes_back);
}

// The client keeps two items outstanding, and completes the younger one first.
Explorer::Run two_outstanding(bool takes_back) {
  auto meeting = std::make_shared<Meeting<SimulatedAtomics>>(2);
  return {{[=] {
             const uint64_t first = meeting->producer.post(SimulatedData(0));
             const uint64_t second = meeting->producer.post(SimulatedData(1));
             if (meeting->producer.has_room()) exploring->fail("a full queue has room");
             meeting->complete(second, 1, takes_back);
             if (meeting->producer.has_room()) exploring->fail("the next entry is in use");
             meeting->complete(first, 0, false);
             meeting->complete(meeting->producer.post(SimulatedData(2)), 2, takes_back);
             SimulatedAtomics::publish(meeting->stop, 1);
           },
           [=] { meeting->serve(); }},
          [=] { return meeting->verdict(3); }};
}

// In all interleavings with at most five preemptions of one item, and three of two.
TEST(QueueInInterleavings, WorkIsDoneOnceAndSeen) {
  for (const bool takes_back : {false, true}) {
    for (const int items : {1, 2}) {
      const Explorer::Result result = Explorer::explore(
          [&] { return one_after_another<SimulatedAtomics>(1, items, takes_back); },
          {.preemptions = items == 1 ? 5u : 3u});
      EXPECT_EQ(result.failure, "");
      EXPECT_GT(result.interleavings, 100u);
      RecordProperty("interleavings", static_cast<int>(result.interleavings));
    }
  }
}

TEST(QueueInInterleavings, EntriesAreUsedAgain) {
  for (const bool takes_back : {false, true}) {
    const Explorer::Result result =
        Explorer::explore([&] { return two_outstanding(takes_back); }, {.preemptions = 2});
    EXPECT_EQ(result.failure, "");
    EXPECT_GT(result.interleavings, 300u);
  }
}

// A server that follows another one goes on where that one has ended.
TEST(QueueInInterleavings, AServerMayFollowAnother) {
  const auto make = [] {
    auto meeting = std::make_shared<Meeting<SimulatedAtomics>>(2);
    Explorer::Run run = one_after_another(meeting, 3, true);
    run.threads[1] = [=] {
      meeting->serve(1);
      meeting->serve();
    };
    return run;
  };
  const Explorer::Result result = Explorer::explore(make, {.preemptions = 2});
  EXPECT_EQ(result.failure, "");
  EXPECT_GT(result.interleavings, 100u);
}

// A server dies with an item, and another one follows it. Client and successor both know of the
// death, and one of them does the work.
Explorer::Run a_death(uint64_t generation_of_successor, int items) {
  auto meeting = std::make_shared<Meeting<SimulatedAtomics>>(2);
  return {{[=] {
             for (int item = 0; item < items; ++item)
               meeting->complete_or_take_over(meeting->producer.post(SimulatedData(item)), item);
             SimulatedAtomics::publish(meeting->stop, 1);
           },
           [=] {
             meeting->die();
             meeting->serve(meeting->most_items, generation_of_successor);
           }},
          [=] { return meeting->verdict(items); }};
}

// In all interleavings with at most three preemptions of one item, and one of two.
TEST(QueueInInterleavings, WorkOfADeadServerIsDoneOnce) {
  for (const int items : {1, 2}) {
    const Explorer::Result result =
        Explorer::explore([&] { return a_death(1, items); }, {.preemptions = items == 1 ? 3u : 1u});
    EXPECT_EQ(result.failure, "");
    EXPECT_GT(result.interleavings, 10u);
    RecordProperty("interleavings", static_cast<int>(result.interleavings));
  }
}

// The successor leaves an item alone that was away: it stays with the client.
TEST(QueueInInterleavings, ASuccessorLeavesWhatWasAway) {
  const auto make = [] {
    auto meeting = std::make_shared<Meeting<SimulatedAtomics>>(2);
    return Explorer::Run{{[=] {
                            const uint64_t away = meeting->producer.post(SimulatedData(0));
                            const uint64_t next = meeting->producer.post(SimulatedData(1));
                            meeting->complete(next, 1, false);
                            meeting->complete_or_take_over(away, 0);
                            SimulatedAtomics::publish(meeting->stop, 1);
                          },
                          [=] {
                            meeting->die_with_an_item_away();
                            meeting->serve(meeting->most_items, 1);
                          }},
                         [=] { return meeting->verdict(2); }};
  };
  const Explorer::Result result = Explorer::explore(make, {.preemptions = 2});
  EXPECT_EQ(result.failure, "");
  EXPECT_GT(result.interleavings, 10u);
}

TEST(QueueInInterleavings, ItemsThatAreAwayEndInAnyOrder) {
  const auto make = [] {
    auto meeting = std::make_shared<Meeting<SimulatedAtomics>>(2);
    return Explorer::Run{{[=] {
                            const uint64_t first = meeting->producer.post(SimulatedData(0));
                            const uint64_t second = meeting->producer.post(SimulatedData(1));
                            meeting->complete(second, 1, false);
                            meeting->complete(first, 0, false);
                          },
                          [=] { meeting->serve_backwards(2); }},
                         [=] { return meeting->verdict(2); }};
  };
  const Explorer::Result result = Explorer::explore(make, {.preemptions = 3});
  EXPECT_EQ(result.failure, "");
  EXPECT_GT(result.interleavings, 10u);
}

// A client that takes the successor for the dead server.
TEST(QueueInInterleavings, TheExplorerFindsWhyGenerationsAreCounted) {
  const Explorer::Result result =
      Explorer::explore([] { return a_death(0, 1); }, {.preemptions = 3});
  EXPECT_NE(result.failure.find("twice"), std::string::npos) << result.failure;
}

// Taking that is not one operation.
struct TakesInTwoSteps : SimulatedAtomics {
  static bool take(Word& word, uint64_t from, uint64_t to) {
    if (observe(word) != from) return false;
    publish(word, to);
    return true;
  }
};

TEST(QueueInInterleavings, TheExplorerFindsWorkThatIsDoneTwice) {
  const Explorer::Result result =
      Explorer::explore([] { return one_after_another<TakesInTwoSteps>(1, 1, true); }, {});
  EXPECT_NE(result.failure.find("plain data is written twice"), std::string::npos)
      << result.failure;
}

// A stamp that is stored before its content is complete orders nothing: here a release that is not
// one, because it does not carry what the thread knows.
struct PublishesNothing : SimulatedAtomics {
  static void publish(Word& word, uint64_t value) {
    exploring->change(word, "relaxed store", [=](uint64_t) { return value; });
  }
};

TEST(QueueInInterleavings, TheExplorerFindsARace) {
  const Explorer::Result result =
      Explorer::explore([] { return one_after_another<PublishesNothing>(1, 1, false); }, {});
  EXPECT_NE(result.failure.find("a race"), std::string::npos) << result.failure;
}

// One thread publishes and rings; the other sleeps unless it sees what is published.
template <class Atomics>
Explorer::Run publish_and_sleep() {
  struct Shared {
    shm::BasicDoorbell<Atomics> doorbell;
    SimulatedWord word;
  };
  auto shared = std::make_shared<Shared>();
  return {{[=] {
             Atomics::publish(shared->word, 1);
             shared->doorbell.wake();
           },
           [=] {
             const auto is_there = [&] { return Atomics::observe(shared->word) != 0; };
             while (!is_there())
               shared->doorbell.sleep_unless(is_there, std::chrono::nanoseconds(-1));
           }},
          [] { return std::string(); }};
}

struct WithoutFence : SimulatedAtomics {
  static void fence_before_looking() {}
};

TEST(DoorbellInAllInterleavings, NoWakeUpIsLost) {
  EXPECT_EQ(Explorer::explore(&publish_and_sleep<SimulatedAtomics>, {}).failure, "");
  const std::string lost = Explorer::explore(&publish_and_sleep<WithoutFence>, {}).failure;
  EXPECT_NE(lost.find("deadlock"), std::string::npos) << lost;
}

}  // namespace
}  // namespace tutti::rma
