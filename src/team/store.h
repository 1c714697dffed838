// Stores: how processes find each other before they share memory, by values under keys.
//
// A rank sets a value once under a key, and others get it. This is all that a team needs to form
// (StoreBootstrap), and what launchers and frameworks have: a directory, a TCP server of rank 0's,
// or a store of the user's. A store outlives the bootstraps that use it. One thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "base/process.h"
#include "team/bootstrap.h"

namespace tutti::team {

class Store {
 public:
  using Clock = std::chrono::steady_clock;
  virtual ~Store() = default;

  // Throws Error(unavailable) if the store cannot be reached.
  virtual void set(const std::string& key, const void* data, size_t bytes) = 0;
  // Waits until the key has a value, which has so many bytes. False: none has come by the deadline.
  // Throws Error(unavailable) if the store cannot be reached or has a value of another length.
  virtual bool get(const std::string& key, void* data, size_t bytes,
                   Clock::time_point deadline) = 0;
  virtual std::string name() const = 0;  // for messages
};

// The longest key and value that a store must hold.
inline constexpr size_t longest_key = 256, longest_value = 4096;

// Files in a directory of this node, which must exist. Values of processes that have ended count as
// absent, so what a killed job has left does not matter. The destructor removes this process's.
std::unique_ptr<Store> make_directory_store(const std::string& directory);

// A server in rank 0's process, which ends with its store; the other ranks connect to it.
// `limit`: ranks other than 0 try for so long to reach it. Throws Error(unavailable).
std::unique_ptr<Store> make_tcp_store(const std::string& host, int port, bool serves,
                                      std::chrono::steady_clock::duration limit);

// The bootstrap of a team by a store. Keys begin with the team's name, which no other team has that
// uses the store at any time. All functions throw Error(unavailable) that names a rank if its value
// has not come by the deadline, which is one for all of them.
class StoreBootstrap final : public Bootstrap {
 public:
  StoreBootstrap(Store& store, std::string name, int rank, int ranks,
                 Store::Clock::time_point deadline);

  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }
  void broadcast(void* data, size_t bytes) override;
  bool all(bool own) override;

 private:
  std::string key(int rank) const;
  void get(int rank, void* data, size_t bytes);

  Store& store_;
  const std::string name_;
  const int rank_, ranks_;
  const Store::Clock::time_point deadline_;
  int steps_ = 0;  // the calls so far
};

}  // namespace tutti::team
