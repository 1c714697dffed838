// The C API of teams and collectives: every function is one expression behind a guard (guard.h).
#include <string>

#include "base/options.h"
#include "api/arguments.h"
#include "api/collective_call.h"
#include "api/guard.h"
#include "api/processes.h"
#include "api/serving.h"
#include "api/team.h"
#include "topo/description.h"
#include "topo/shape.h"
#include "topo/tree.h"
#include "tutti/tutti.h"

namespace {

using tutti::api::Buffer;
using tutti::api::bytes_of;
using tutti::api::combine_of;
using tutti::api::guarded;
using tutti::api::is_root;
using tutti::api::kind_of;
using tutti::api::last_error;
using tutti::api::outcome;
using tutti::api::ready;
using tutti::api::require;
using tutti::api::require_buffers;
using tutti::api::require_group;
using tutti::api::require_root;
using tutti::plan::Collective;

// A buffer of all ranks' parts. The call's other buffer may be this rank's part of it.
Buffer all_parts(const tutti_group* group, const void* data, size_t part_bytes) {
  const size_t bytes = bytes_of(part_bytes, 1, group->ranks);
  return {data, bytes, static_cast<size_t>(group->rank) * part_bytes};
}

constexpr const char* in_is_own_part = "in = out + rank * part_bytes";
constexpr const char* out_is_own_part = "out = in + rank * part_bytes";

tutti_group* join(tutti::api::ThreadTeam& team, int rank) {
  require(rank >= 0 && rank < team.layout.ranks,
          "the rank is out of range; 0 to the team's size - 1 are possible");
  require(tutti::shm::claim(team.joined[static_cast<size_t>(rank)], 1),
          "this rank has joined already; each joins once");
  tutti::group::Group::Settings settings;
  settings.areas = team.areas.get();
  settings.layout = team.layout;
  settings.rank = rank;
  settings.style = team.style;
  settings.name_of_kind = tutti::api::name_of_reduction;
  settings.check = tutti::options().check;
  settings.reach.one_process = settings.reach.ordinary = true;
  settings.reach.own_bytes = SIZE_MAX;
  settings.reach.mapped.resize(static_cast<size_t>(team.layout.ranks));
  tutti::topo::check_given(tutti::options().topology);
  if (!tutti::options().saturation.empty()) tutti::api::saturation_maps();
  settings.overrides = tutti::group::overrides_of(tutti::options());
  if (settings.overrides.library != nullptr)
    settings.shape = tutti::topo::shape_of_node(tutti::topo::binding_of_process());
  if (team.trace != nullptr) settings.tracer = team.trace->join(rank);
  auto* const group = new tutti_group(team, settings);
  team.bindings[static_cast<size_t>(rank)] = tutti::topo::binding();
  tutti::shm::add(team.present, 1);
  return group;
}

}  // namespace

extern "C" {

tutti_status tutti_team_create(int ranks, tutti_team** team) {
  return guarded([&] {
    require(team != nullptr, "team is null; pass the address of a tutti_team*");
    require(ranks >= 1 && ranks <= tutti::api::max_team,
            "the number of ranks is out of range; 1 to 4096 are possible");
    *team = new tutti::api::ThreadTeam(ranks);
    return TUTTI_OK;
  });
}

void tutti_team_free(tutti_team* team) {
  if (team == nullptr) return;
  if (tutti::api::ThreadTeam* const threads = team->threads()) {
    delete threads;
    return;
  }
  tutti::api::ProcessTeam* const processes = team->processes();
  if (processes != nullptr && processes->is_own()) delete processes;
}

tutti_status tutti_team_join(tutti_team* team, int rank, tutti_group** group) {
  return guarded([&] {
    require(team != nullptr && group != nullptr, "team or group is null");
    if (tutti::api::ProcessTeam* const processes = team->processes()) {
      *group = processes->join(rank).release();
      return TUTTI_OK;
    }
    tutti::api::ThreadTeam* const threads = team->threads();
    require(threads != nullptr,
            "the team is of MPI processes; tutti_group_of_comm makes their groups");
    *group = join(*threads, rank);
    return TUTTI_OK;
  });
}

void tutti_group_free(tutti_group* group) {
  if (group == nullptr) return;
  if (group->processes == nullptr || group->processes->is_own()) delete group;
}

int tutti_group_rank(const tutti_group* group) { return group == nullptr ? -1 : group->rank; }
int tutti_group_size(const tutti_group* group) { return group == nullptr ? -1 : group->ranks; }

tutti_status tutti_barrier(tutti_group* group) {
  return guarded([&] {
    require_group(group);
    return outcome(group, ready(group).run({}));
  });
}

tutti_status tutti_bcast(tutti_group* group, void* data, size_t bytes, int root) {
  return guarded([&] {
    require_group(group);
    require_root(group, root);
    require(data != nullptr || bytes == 0, "data is null while bytes is not 0");
    return outcome(group, ready(group).run({Collective::bcast, data, data, bytes, root}));
  });
}

tutti_status tutti_reduce(tutti_group* group, const void* in, void* out, size_t count,
                          tutti_type type, tutti_op op, int root) {
  return guarded([&] {
    require_group(group);
    require_root(group, root);
    const tutti::exec::Combine combine = combine_of(type, op);
    const size_t bytes = bytes_of(count, combine.element, 1);
    if (!is_root(group, root)) out = nullptr;
    require_buffers({in, bytes}, is_root(group, root) ? Buffer{out, bytes} : Buffer{});
    return outcome(group, ready(group).run({Collective::reduce, in, out, count, root, &combine},
                                           kind_of(type, op)));
  });
}

tutti_status tutti_allreduce(tutti_group* group, const void* in, void* out, size_t count,
                             tutti_type type, tutti_op op) {
  return guarded([&] {
    require_group(group);
    const tutti::exec::Combine combine = combine_of(type, op);
    const size_t bytes = bytes_of(count, combine.element, 1);
    require_buffers({in, bytes}, {out, bytes});
    return outcome(group, ready(group).run({Collective::allreduce, in, out, count, 0, &combine},
                                           kind_of(type, op)));
  });
}

tutti_status tutti_gather(tutti_group* group, const void* in, void* out, size_t part_bytes,
                          int root) {
  return guarded([&] {
    require_group(group);
    require_root(group, root);
    const Buffer all = all_parts(group, out, part_bytes);
    if (!is_root(group, root)) out = nullptr;
    require_buffers({in, part_bytes}, is_root(group, root) ? all : Buffer{}, in_is_own_part);
    return outcome(group, ready(group).run({Collective::gather, in, out, part_bytes, root}));
  });
}

tutti_status tutti_scatter(tutti_group* group, const void* in, void* out, size_t part_bytes,
                           int root) {
  return guarded([&] {
    require_group(group);
    require_root(group, root);
    const Buffer all = all_parts(group, in, part_bytes);
    if (!is_root(group, root)) in = nullptr;
    require_buffers(is_root(group, root) ? all : Buffer{}, {out, part_bytes}, out_is_own_part);
    return outcome(group, ready(group).run({Collective::scatter, in, out, part_bytes, root}));
  });
}

tutti_status tutti_allgather(tutti_group* group, const void* in, void* out, size_t part_bytes) {
  return guarded([&] {
    require_group(group);
    require_buffers({in, part_bytes}, all_parts(group, out, part_bytes), in_is_own_part);
    return outcome(group, ready(group).run({Collective::allgather, in, out, part_bytes}));
  });
}

tutti_status tutti_alltoall(tutti_group* group, const void* in, void* out, size_t part_bytes) {
  return guarded([&] {
    require_group(group);
    require_buffers(all_parts(group, in, part_bytes), all_parts(group, out, part_bytes));
    return outcome(group, ready(group).run({Collective::alltoall, in, out, part_bytes}));
  });
}

tutti_status tutti_reduce_scatter(tutti_group* group, const void* in, void* out, size_t count,
                                  tutti_type type, tutti_op op) {
  return guarded([&] {
    require_group(group);
    const tutti::exec::Combine combine = combine_of(type, op);
    const size_t all_bytes = bytes_of(count, combine.element, group->ranks);
    require_buffers({in, all_bytes}, {out, count * combine.element});
    return outcome(group,
                   ready(group).run({Collective::reduce_scatter, in, out, count, 0, &combine},
                                    kind_of(type, op)));
  });
}

tutti_status tutti_scan(tutti_group* group, const void* in, void* out, size_t count,
                        tutti_type type, tutti_op op) {
  return guarded([&] {
    require_group(group);
    const tutti::exec::Combine combine = combine_of(type, op);
    const size_t bytes = bytes_of(count, combine.element, 1);
    require_buffers({in, bytes}, {out, bytes});
    return outcome(group, ready(group).run({Collective::scan, in, out, count, 0, &combine},
                                           kind_of(type, op)));
  });
}

tutti_status tutti_exscan(tutti_group* group, const void* in, void* out, size_t count,
                          tutti_type type, tutti_op op) {
  return guarded([&] {
    require_group(group);
    const tutti::exec::Combine combine = combine_of(type, op);
    const size_t bytes = bytes_of(count, combine.element, 1);
    if (group->rank == 0) out = nullptr;
    require_buffers({in, bytes}, group->rank == 0 ? Buffer{} : Buffer{out, bytes});
    return outcome(group, ready(group).run({Collective::exscan, in, out, count, 0, &combine},
                                           kind_of(type, op)));
  });
}

const char* tutti_error_message(void) { return last_error.c_str(); }

const char* tutti_standing(const tutti_group* group, int rank) {
  if (group == nullptr || rank < 0 || rank >= group->ranks) {
    last_error = "no such rank";
  } else if (!group->group) {
    last_error = "an MPI process, whose collectives are MPI's";
  } else {
    last_error = group->group->standing(rank);
  }
  return last_error.c_str();
}

const char* tutti_version(void) { return TUTTI_VERSION; }

}  // extern "C"
