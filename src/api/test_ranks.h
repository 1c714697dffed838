// Runs a function on N thread ranks of one team, for tests. If a rank does not end within the time
// limit, the program aborts with a line on the state of every rank, so that a hang always gives a
// message.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "tutti/tutti.h"

namespace tutti::test {

// `before_join` runs before each rank joins, in the same thread.
inline void spawn(int ranks, const std::function<void(tutti_group*, int)>& body,
                  std::chrono::seconds limit = std::chrono::seconds(60),
                  const std::function<void(int)>& before_join = {}) {
  tutti_team* team = nullptr;
  ASSERT_EQ(tutti_team_create(ranks, &team), TUTTI_OK) << tutti_error_message();
  std::vector<tutti_group*> groups(static_cast<size_t>(ranks), nullptr);
  for (int rank = 0; rank < ranks; ++rank) {
    if (before_join) before_join(rank);
    ASSERT_EQ(tutti_team_join(team, rank, &groups[static_cast<size_t>(rank)]), TUTTI_OK)
        << tutti_error_message();
  }
  std::mutex mutex;
  std::condition_variable ended;
  int running = ranks;
  std::thread watchdog([&] {
    std::unique_lock lock(mutex);
    if (ended.wait_for(lock, limit, [&] { return running == 0; })) return;
    std::fprintf(stderr, "thread ranks did not end within %lld s:\n",
                 static_cast<long long>(limit.count()));
    for (int rank = 0; rank < ranks; ++rank)
      std::fprintf(stderr, "  %s\n", tutti_standing(groups[0], rank));
    std::abort();
  });
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      body(groups[static_cast<size_t>(rank)], rank);
      const std::lock_guard lock(mutex);
      if (--running == 0) ended.notify_all();
    });
  }
  for (std::thread& thread : threads) thread.join();
  watchdog.join();
  for (tutti_group* group : groups) tutti_group_free(group);
  tutti_team_free(team);
}

}  // namespace tutti::test
