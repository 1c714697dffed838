// The collectives as functions, for tests: each makes a Call and runs it.
#pragma once

#include "group/group.h"

namespace tutti::group {

inline Code barrier(Group& group) { return group.run({}); }
inline Code bcast(Group& group, void* data, size_t bytes, int root) {
  return group.run({plan::Collective::bcast, data, data, bytes, root});
}
inline Code reduce(Group& group, const void* in, void* out, size_t count,
                   const exec::Combine& combine, int root) {
  return group.run({plan::Collective::reduce, in, out, count, root, &combine});
}
inline Code allreduce(Group& group, const void* in, void* out, size_t count,
                      const exec::Combine& combine) {
  return group.run({plan::Collective::allreduce, in, out, count, 0, &combine});
}
inline Code gather(Group& group, const void* in, void* out, size_t part, int root) {
  return group.run({plan::Collective::gather, in, out, part, root});
}
inline Code scatter(Group& group, const void* in, void* out, size_t part, int root) {
  return group.run({plan::Collective::scatter, in, out, part, root});
}
inline Code allgather(Group& group, const void* in, void* out, size_t part) {
  return group.run({plan::Collective::allgather, in, out, part});
}
inline Code alltoall(Group& group, const void* in, void* out, size_t part) {
  return group.run({plan::Collective::alltoall, in, out, part});
}
inline Code reduce_scatter(Group& group, const void* in, void* out, size_t count,
                           const exec::Combine& combine) {
  return group.run({plan::Collective::reduce_scatter, in, out, count, 0, &combine});
}
inline Code scan(Group& group, const void* in, void* out, size_t count,
                 const exec::Combine& combine) {
  return group.run({plan::Collective::scan, in, out, count, 0, &combine});
}
inline Code exscan(Group& group, const void* in, void* out, size_t count,
                   const exec::Combine& combine) {
  return group.run({plan::Collective::exscan, in, out, count, 0, &combine});
}

// The v-collectives, whose parts differ in length.
inline Code v_collective(Group& group, plan::Collective collective, const void* in, void* out,
                         const exec::VParts& parts, size_t longest, int root) {
  return group.run({collective, in, out, 0, root, nullptr, &parts, longest});
}
inline Code v_reduce_scatter(Group& group, const void* in, void* out, const exec::VParts& parts,
                             size_t longest, const exec::Combine& combine) {
  return group.run({plan::Collective::reduce_scatter, in, out, 0, 0, &combine, &parts, longest});
}

}  // namespace tutti::group
