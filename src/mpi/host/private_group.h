// A PrivateGroup owns a group of the host's, and frees it at its own end, on early returns and
// exceptions, too. It must end before Tutti's use of the host does, or be abandoned. One thread at
// a time uses an owner.
#pragma once

#include <utility>

#include "mpi/host/host.h"

namespace tutti::mpi {

class PrivateGroup {
 public:
  // Owns nothing. This asks no host, because it may be made before one is known.
  PrivateGroup() = default;
  // Takes a group that was just made.
  explicit PrivateGroup(Group made) : handle_(made), owns_(true) {}
  // A communicator's group. It owns nothing if the host fails.
  static PrivateGroup of(Comm communicator) {
    Group made;
    if (host().Comm_group(communicator, &made) != success) return {};
    return PrivateGroup(made);
  }
  ~PrivateGroup() { reset(); }
  PrivateGroup(PrivateGroup&& other) noexcept
      : handle_(other.handle_), owns_(std::exchange(other.owns_, false)) {}
  PrivateGroup& operator=(PrivateGroup&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(owns_, other.owns_);
    return *this;
  }

  // Only of an owner of a group.
  Group get() const { return handle_; }
  explicit operator bool() const { return owns_; }
  int size() const {
    int processes = 0;
    host().Group_size(handle_, &processes);
    return processes;
  }
  void reset() noexcept {
    if (std::exchange(owns_, false)) host().Group_free(&handle_);
  }
  // Forgets the group without freeing it.
  void abandon() noexcept { owns_ = false; }

 private:
  Group handle_{};
  bool owns_ = false;
};

}  // namespace tutti::mpi
