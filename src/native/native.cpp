// The C API: every function one expression behind a guard; exceptions become status here and only here.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "base/options.h"
#include "group/group.h"
#include "topo/shape.h"
#include "topo/tree.h"
#include "tutti/tutti.h"

namespace {

using tutti::Code;
using tutti::Error;

thread_local std::string last_error;

tutti_status report(Code code, std::string message) {
  last_error = std::move(message);
  return static_cast<tutti_status>(code);
}

template <class Body>
tutti_status guarded(Body body) {
  try {
    return body();
  } catch (const Error& error) {
    return report(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return report(Code::unavailable, "out of memory");
  } catch (const std::exception& error) {
    return report(Code::internal, error.what());
  }
}

void require(bool holds, const char* message) {
  if (!holds) throw Error(Code::invalid_argument, message);
}

struct FreeAligned {
  void operator()(std::byte* memory) const { operator delete[](memory, std::align_val_t{tutti::shm::line_size}); }
};

constexpr int max_team = 4096;

}  // namespace

struct tutti_team {
  explicit tutti_team(int ranks)
      : layout(tutti::shm::Layout::fit(ranks, tutti::options().shm_bytes_per_rank)),
        areas(new(std::align_val_t{tutti::shm::line_size}) std::byte[layout.bytes()]),
        joined(static_cast<size_t>(ranks)) {
    std::memset(areas.get(), 0, layout.bytes());
    const auto wait = tutti::options().wait;
    const bool crowded = static_cast<size_t>(ranks) > tutti::topo::binding().size();
    style = wait == tutti::WaitChoice::spin    ? tutti::exec::WaitStyle::spin
            : wait == tutti::WaitChoice::yield ? tutti::exec::WaitStyle::yield
            : crowded                          ? tutti::exec::WaitStyle::yield
                                               : tutti::exec::WaitStyle::spin;
  }
  tutti::shm::Layout layout;
  std::unique_ptr<std::byte[], FreeAligned> areas;
  tutti::exec::WaitStyle style;
  std::vector<std::atomic<bool>> joined;
};

struct tutti_group {
  tutti::group::Group group;
};

namespace {

tutti::exec::Combine combine_of(tutti_type type, tutti_op op) {
  using tutti::kernels::Op;
  using tutti::kernels::Type;
  static constexpr Type types[] = {Type::int8,   Type::int16,  Type::int32,  Type::int64,   Type::uint8,
                                   Type::uint16, Type::uint32, Type::uint64, Type::float32, Type::float64};
  static constexpr Op ops[] = {Op::sum, Op::prod, Op::max, Op::min, Op::land, Op::lor, Op::lxor, Op::band, Op::bor, Op::bxor};
  require(static_cast<unsigned>(type) < std::size(types), "unknown type; see tutti_type");
  require(static_cast<unsigned>(op) < std::size(ops), "unknown operation; see tutti_op");
  tutti::exec::Combine combine;
  combine.kernel = tutti::kernels::find_reduce(types[type], ops[op]);
  combine.element = tutti::kernels::size(types[type]);
  require(combine.kernel != nullptr, "logical and bitwise operations need an integer type");
  return combine;
}

void require_buffers(const void* in, const void* out, size_t count, size_t element) {
  if (count == 0) return;
  require(in != nullptr && out != nullptr, "a buffer is null while its count is not 0");
  require(count <= SIZE_MAX / 2 / element, "the count is out of range");
  const auto a = reinterpret_cast<uintptr_t>(in);
  const auto b = reinterpret_cast<uintptr_t>(out);
  const size_t bytes = count * element;
  require(a == b || a + bytes <= b || b + bytes <= a, "in and out overlap; pass the same address, or separate buffers");
}

void require_root(const tutti_group* group, int root) {
  if (root >= 0 && root < group->group.ranks()) return;
  throw Error(Code::invalid_argument, "root " + std::to_string(root) + " is out of range; ranks are 0 to " +
                                          std::to_string(group->group.ranks() - 1));
}

tutti_status outcome(const tutti_group* group, Code code) {
  return code == Code::ok ? TUTTI_OK : report(code, group->group.failure());
}

}  // namespace

extern "C" {

tutti_status tutti_team_create(int ranks, tutti_team** team) {
  return guarded([&] {
    require(team != nullptr, "team is null; pass the address of a tutti_team*");
    require(ranks >= 1 && ranks <= max_team, "the number of ranks is out of range; 1 to 4096 are possible");
    *team = new tutti_team(ranks);
    return TUTTI_OK;
  });
}

void tutti_team_free(tutti_team* team) { delete team; }

tutti_status tutti_team_join(tutti_team* team, int rank, tutti_group** group) {
  return guarded([&] {
    require(team != nullptr && group != nullptr, "team or group is null");
    require(rank >= 0 && rank < team->layout.ranks, "the rank is out of range; 0 to the team's size less 1 are possible");
    require(!team->joined[static_cast<size_t>(rank)].exchange(true), "this rank has joined already; each joins once");
    tutti::group::Group::Settings settings;
    settings.areas = team->areas.get();
    settings.layout = team->layout;
    settings.rank = rank;
    settings.style = team->style;
    settings.check = tutti::options().check;
    settings.overrides = tutti::group::overrides_of(tutti::options());
    if (settings.overrides.library != nullptr) settings.shape = tutti::topo::shape_of_node(tutti::topo::binding());
    *group = new tutti_group{tutti::group::Group(settings)};
    return TUTTI_OK;
  });
}

void tutti_group_free(tutti_group* group) { delete group; }

int tutti_group_rank(const tutti_group* group) { return group == nullptr ? -1 : group->group.rank(); }
int tutti_group_size(const tutti_group* group) { return group == nullptr ? -1 : group->group.ranks(); }

tutti_status tutti_barrier(tutti_group* group) {
  return guarded([&] {
    require(group != nullptr, "group is null");
    return outcome(group, group->group.barrier());
  });
}

tutti_status tutti_bcast(tutti_group* group, void* data, size_t bytes, int root) {
  return guarded([&] {
    require(group != nullptr, "group is null");
    require_root(group, root);
    require(data != nullptr || bytes == 0, "data is null while bytes is not 0");
    return outcome(group, group->group.bcast(data, bytes, root));
  });
}

tutti_status tutti_reduce(tutti_group* group, const void* in, void* out, size_t count, tutti_type type, tutti_op op,
                          int root) {
  return guarded([&] {
    require(group != nullptr, "group is null");
    require_root(group, root);
    const tutti::exec::Combine combine = combine_of(type, op);
    const bool receives = group->group.rank() == root;
    require_buffers(in, receives ? out : in, count, combine.element);
    return outcome(group, group->group.reduce(in, receives ? out : nullptr, count, combine, root));
  });
}

tutti_status tutti_allreduce(tutti_group* group, const void* in, void* out, size_t count, tutti_type type, tutti_op op) {
  return guarded([&] {
    require(group != nullptr, "group is null");
    const tutti::exec::Combine combine = combine_of(type, op);
    require_buffers(in, out, count, combine.element);
    return outcome(group, group->group.allreduce(in, out, count, combine));
  });
}

const char* tutti_error_message(void) { return last_error.c_str(); }

const char* tutti_standing(const tutti_group* group, int rank) {
  if (group == nullptr || rank < 0 || rank >= group->group.ranks()) {
    last_error = "no such rank";
  } else {
    last_error = group->group.standing(rank);
  }
  return last_error.c_str();
}

const char* tutti_version(void) { return TUTTI_VERSION; }

}  // extern "C"
