// How processes reach each other before they share memory.
//
// A team (node_team.h) is formed by its functions, and does not use it later. All ranks call the
// same functions in the same order. One thread at a time.
#pragma once

#include <cstddef>

namespace tutti::team {

class Bootstrap {
 public:
  virtual ~Bootstrap() = default;

  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  // Gives rank 0's bytes to all ranks. Where that fails, a rank's bytes stay as they are.
  virtual void broadcast(void* data, size_t bytes) = 0;
  // At rank 0: true if all ranks have passed true. Orders what they did before it. The others may
  // return at once; they get any value.
  virtual bool all(bool own) = 0;
};

}  // namespace tutti::team
