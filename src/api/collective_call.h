// The common part of all collective calls of the C API, behind the guard. Internal to src/api;
// for the thread of the group.
#pragma once

#include "api/arguments.h"
#include "api/guard.h"
#include "api/team.h"

namespace tutti::api {

inline void require_collectives(const tutti_group* group) {
  require(group->group.has_value(),
          "the group is of MPI processes, whose collectives are MPI's: call MPI_Barrier and the "
          "like on its communicator");
}

// The group of a call whose arguments have been checked. The first call finds the levels.
inline group::Group& ready(tutti_group* group) {
  if (!group->knows_levels) [[unlikely]] {
    require_collectives(group);
    find_levels(*group);
  }
  return *group->group;
}

inline void require_root(const tutti_group* group, int root) { require_root(root, group->ranks); }

inline bool is_root(const tutti_group* group, int root) { return group->rank == root; }

inline tutti_status outcome(const tutti_group* group, Code code) {
  return code == Code::ok ? TUTTI_OK : report(code, group->group->failure());
}

}  // namespace tutti::api
