#include "team/store.h"

#include <utility>

#include "base/error.h"

namespace tutti::team {

StoreBootstrap::StoreBootstrap(Store& store, std::string name, int rank, int ranks,
                               Store::Clock::time_point deadline)
    : store_(store), name_(std::move(name)), rank_(rank), ranks_(ranks), deadline_(deadline) {}

std::string StoreBootstrap::key(int rank) const {
  return name_ + "." + std::to_string(steps_) + "." + std::to_string(rank);
}

void StoreBootstrap::get(int rank, void* data, size_t bytes) {
  if (store_.get(key(rank), data, bytes, deadline_)) return;
  throw Error(Code::unavailable, "rank " + std::to_string(rank) + " of team \"" + name_ +
                                     "\" has not come to " + store_.name() + " in time; start " +
                                     std::to_string(ranks_) +
                                     " ranks with the same store and name");
}

void StoreBootstrap::broadcast(void* data, size_t bytes) {
  ++steps_;
  if (rank_ == 0)
    store_.set(key(0), data, bytes);
  else
    get(0, data, bytes);
}

bool StoreBootstrap::all(bool own) {
  ++steps_;
  if (rank_ != 0) {
    store_.set(key(rank_), &own, sizeof own);
    return own;
  }
  for (int rank = 1; rank < ranks_; ++rank) {
    bool its = false;
    get(rank, &its, sizeof its);
    own = own && its;
  }
  return own;
}

}  // namespace tutti::team
