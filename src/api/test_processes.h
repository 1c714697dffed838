// Ranks that are forked processes of a team without MPI, or threads of these, for tests.
//
// In such a process a failed requirement prints its line and ends the process, because gtest's
// macros would only be seen there. Whoever starts processes looks at how they end.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tutti/tutti.h"

#define REQUIRE(condition)                                                    \
  do {                                                                        \
    if (!(condition)) {                                                       \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, \
                   tutti_error_message());                                    \
      _exit(1);                                                               \
    }                                                                         \
  } while (false)

namespace tutti::test {

class Directory {
 public:
  Directory() {
    char name[] = "/tmp/tutti-processes-XXXXXX";
    path = mkdtemp(name);
  }
  ~Directory() { std::filesystem::remove_all(path); }
  std::string path;
};

inline pid_t start(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child != 0) return child;
  alarm(60);
  body();
  _exit(0);
}

inline int status_of(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

struct Rank {
  tutti_team* team = nullptr;
  tutti_group* group = nullptr;

  Rank() = default;
  Rank(const std::string& place, const std::string& name, int rank, int ranks,
       double seconds = 20) {
    tutti_store* store = nullptr;
    REQUIRE(tutti_store_open(place.c_str(), rank, seconds, &store) == TUTTI_OK);
    REQUIRE(tutti_team_create_by(store, name.c_str(), rank, ranks, seconds, &team) == TUTTI_OK);
    REQUIRE(tutti_team_join(team, rank, &group) == TUTTI_OK);
    tutti_store_close(store);
  }
  ~Rank() {
    tutti_group_free(group);
    tutti_team_free(team);
  }
};

inline void complete(tutti_request* request) {
  REQUIRE(tutti_request_wait(&request, 20) == TUTTI_OK);
  REQUIRE(request == nullptr);
}

// Runs a body in a process for each rank; all must succeed.
inline void in_processes(int ranks, const std::string& place,
                         const std::function<void(Rank&)>& body) {
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank)
    children.push_back(start([&] {
      Rank own(place, "all", rank, ranks);
      body(own);
    }));
  for (const pid_t child : children) EXPECT_EQ(status_of(child), 0);
}

inline int sum_of(const std::vector<int>& threads) {
  int ranks = 0;
  for (const int count : threads) ranks += count;
  return ranks;
}

// The ranks first to first + count - 1, each a thread of this process.
inline void be_threads(const std::string& place, int first, int count, int ranks,
                       const std::function<void(Rank&)>& body) {
  std::vector<std::thread> threads;
  for (int rank = first; rank < first + count; ++rank)
    threads.emplace_back([&, rank] {
      Rank own(place, "all", rank, ranks);
      body(own);
    });
  for (std::thread& thread : threads) thread.join();
}

// Runs a body in so many threads of each process; all must succeed.
inline void in_threads(const std::vector<int>& threads, const std::string& place,
                       const std::function<void(Rank&)>& body) {
  std::vector<pid_t> children;
  int first = 0;
  for (const int count : threads) {
    children.push_back(start([&] { be_threads(place, first, count, sum_of(threads), body); }));
    first += count;
  }
  for (const pid_t child : children) EXPECT_EQ(status_of(child), 0);
}

}  // namespace tutti::test
