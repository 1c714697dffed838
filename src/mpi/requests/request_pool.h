// The objects of one class of non-blocking requests. A completed one serves another start, with its
// handle, so that no start makes a handle of the host's as long as some object is idle.
//
// There is one pool for each class, which is never destroyed, because exit handlers may still call
// MPI. The objects are destroyed when MPI ends. Any thread.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "mpi/job/thrown.h"
#include "mpi/requests/own_request.h"

namespace tutti::mpi {

// Request: an OwnRequest that makes the pool its friend, with a member handle_ and a constructor
// without arguments.
template <class Request>
class RequestPool {
 public:
  static RequestPool& instance() {
    static RequestPool& made = *new RequestPool;
    return made;
  }

  // An idle object, or a new one with a handle; null, with an MPI error code that was raised on the
  // communicator, if there is none. Throws bad_alloc.
  Request* take(Comm comm, int* code) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!idle_.empty()) {
        Request* const taken = idle_.back();
        idle_.pop_back();
        return taken;
      }
      idle_.reserve(made_ + 1);  // giving it back must need no memory
      ++made_;
    }
    Request* made = nullptr;
    try {
      made = new Request;
      *code = take_handle(made, &made->handle_);
    } catch (...) {
      destroy(made);
      throw;
    }
    if (*code == success) return made;
    destroy(made);
    raise(comm, *code);
    return nullptr;
  }

  void give_back(Request* request) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back(request);
  }

  // Call it when MPI ends: destroys the idle objects. Returns how many others there are, which the
  // program has not completed, or which other threads keep. They are not the pool's any more.
  size_t end() noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    shm::store_relaxed(ends_, ends() + 1);
    for (Request* const one : idle_) delete one;
    const size_t others = std::exchange(made_, 0) - idle_.size();
    idle_.clear();
    return others;
  }
  // How often MPI has ended. The handle of an object that was taken before the last end is freed.
  uint64_t ends() const { return shm::load_relaxed(ends_); }

 private:
  RequestPool() = default;
  void destroy(Request* made) noexcept {
    delete made;
    const std::lock_guard<std::mutex> lock(mutex_);
    --made_;
  }

  shm::Word ends_{0};
  std::mutex mutex_;
  std::vector<Request*> idle_;
  size_t made_ = 0;  // and not destroyed
};

}  // namespace tutti::mpi
