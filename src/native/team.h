// A team of thread ranks and their groups: the types behind the C API's opaque handles. Internal to
// src/native.
//
// One thread makes a team, each rank joins it once, and the caller frees it after all groups. The
// first collective call after all have joined finds the levels, which are constant from then on.
// Any thread may join; each group is used by one thread at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "group/group.h"
#include "native/one_sided.h"
#include "native/scratch.h"
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
  // By rank: the processing units of its thread. A rank writes its own before it increments
  // `present`; they are read when all ranks are present.
  std::vector<std::vector<int>> bindings;
  std::atomic<int> present{0};
  std::once_flag levels_found;
  tutti::placement::Levels levels;
  tutti::native::Services services;
};

struct tutti_group {
  tutti::group::Group group;
  tutti_team* team;
  tutti::native::OneSided one_sided;
  tutti::native::Scratch scratch = {};  // of reductions by users' operations
  bool knows_levels = false;            // set by the first collective call
};

namespace tutti::native {

// A group's first collective call runs it. It waits until all ranks have joined, because all ranks
// must choose algorithms by the same levels, and the levels follow from all ranks' bindings.
void find_levels(tutti_group& group);

}  // namespace tutti::native
