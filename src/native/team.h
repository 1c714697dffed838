// A team of thread ranks and their groups: what the C API's opaque handles are. Internal to
// src/native.
//
// A team is made by one thread, joined by each rank once, and freed after all groups. Its levels
// are found by the first collective call that comes when all have joined, and constant from then
// on.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "group/group.h"
#include "placement/levels.h"

struct tutti_team {
  explicit tutti_team(int ranks);

  struct FreeAligned {
    void operator()(std::byte* memory) const {
      operator delete[](memory, std::align_val_t{tutti::shm::line_size});
    }
  };

  tutti::shm::Layout layout;
  std::unique_ptr<std::byte[], FreeAligned> areas;
  tutti::exec::WaitStyle style;
  std::vector<std::atomic<bool>> joined;
  // Each rank writes its own before it counts itself present; read when all are.
  std::vector<std::vector<int>> bindings;
  std::atomic<int> present{0};
  std::once_flag levels_found;
  tutti::placement::Levels levels;
};

struct tutti_group {
  tutti::group::Group group;
  tutti_team* team;
  bool knows_levels = false;  // set by the first collective call
};

namespace tutti::native {

// Of a group's first collective call: waits until all ranks have joined, since all must choose by
// the same levels, which are those of all ranks' bindings.
void find_levels(tutti_group& group);

}  // namespace tutti::native
