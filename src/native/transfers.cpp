// The C API of one-sided transfers and servers: every function is one expression behind a guard.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

#include "base/log.h"
#include "native/arguments.h"
#include "native/guard.h"
#include "native/team.h"
#include "rma/server.h"
#include "topo/tree.h"
#include "tutti/tutti.h"

namespace {

using tutti::native::guarded;
using tutti::native::require;
using tutti::native::require_group;
using tutti::rma::Client;
using tutti::rma::Handle;
using tutti::rma::Kind;
using tutti::rma::Policy;
using tutti::rma::Serve;
using tutti::rma::Transfer;

constexpr int max_servers = 64;
// Handing a transfer over takes some cache lines' way between two cores, about the time in which
// the caller copies so many bytes.
constexpr size_t most_bytes_of_own = 4096;

void require_target(const tutti_group* group, int target) {
  if (target >= 0 && target < group->group.ranks()) return;
  throw tutti::Error(tutti::Code::invalid_argument, "target " + std::to_string(target) +
                                                        " is out of range; ranks are 0 to " +
                                                        std::to_string(group->group.ranks() - 1));
}

// One side of a transfer, as the caller passes it.
struct Side {
  const void* start;
  ptrdiff_t stride;
};
struct Blocks {
  size_t bytes, count;
};

// The bytes from the first to the last one that a side touches.
tutti::native::Buffer extent_of(const Side& side, const Blocks& blocks) {
  if (blocks.bytes == 0 || blocks.count == 0) return {side.start, 0};
  ptrdiff_t reach = 0;
  const auto last = static_cast<ptrdiff_t>(blocks.count - 1);
  require(!__builtin_mul_overflow(side.stride, last, &reach) &&
              static_cast<size_t>(reach < 0 ? -reach : reach) <= SIZE_MAX / 4,
          "a stride is out of range; blocks * stride must be at most SIZE_MAX / 4 bytes");
  return {side.start, static_cast<size_t>(reach < 0 ? -reach : reach) + blocks.bytes};
}

void require_buffer(const tutti::native::Buffer& buffer, const char* message) {
  require(buffer.data != nullptr || buffer.bytes == 0, message);
}
constexpr const char* to_is_null = "to is null while its length is not 0; pass its address";
constexpr const char* from_is_null = "from is null while its length is not 0; pass its address";

// Blocks of the two sides may lie between each other.
void require_blocks(const Side& to, const Side& from, const Blocks& blocks) {
  tutti::native::bytes_of(blocks.count, blocks.bytes, 1);
  require(blocks.count <= INT32_MAX, "blocks is out of range; at most 2^31 - 1 are possible");
  require_buffer(extent_of(to, blocks), to_is_null);
  require_buffer(extent_of(from, blocks), from_is_null);
}

void require_bytes(const void* to, const void* from, size_t bytes) {
  require(bytes <= SIZE_MAX / 2, "the length is out of range; at most SIZE_MAX / 2 bytes");
  require_buffer({to, bytes}, to_is_null);
  require_buffer({from, bytes}, from_is_null);
  const auto a = reinterpret_cast<uintptr_t>(to), b = reinterpret_cast<uintptr_t>(from);
  require(bytes == 0 || a >= b + bytes || b >= a + bytes,
          "to and from overlap; pass separate buffers");
}

Transfer transfer_of(Kind kind, int target, const Side& to, const Side& from,
                     const Blocks& blocks) {
  const bool puts = kind == Kind::put;
  const Side& local = puts ? from : to;
  const Side& remote = puts ? to : from;
  return {.local = reinterpret_cast<uint64_t>(local.start),
          .remote = reinterpret_cast<uint64_t>(remote.start),
          .block_bytes = blocks.bytes,
          .local_stride = local.stride,
          .remote_stride = remote.stride,
          .blocks = static_cast<uint32_t>(blocks.count),
          .kind = kind,
          .target = target};
}

Transfer contiguous(const tutti_group* group, Kind kind, int target, const void* to,
                    const void* from, size_t bytes) {
  require_group(group);
  require_target(group, target);
  require_bytes(to, from, bytes);
  return transfer_of(kind, target, {to, 0}, {from, 0}, {bytes, 1});
}

Transfer strided(const tutti_group* group, Kind kind, int target, const Side& to, const Side& from,
                 const Blocks& blocks) {
  require_group(group);
  require_target(group, target);
  require_blocks(to, from, blocks);
  return transfer_of(kind, target, to, from, blocks);
}

// A handle of the C API: the position, and the tag of its client with 1 + the server.
constexpr int server_bits = 16;
tutti_handle told(const Handle& handle, uint64_t tag) {
  if (handle.server < 0) return {};
  return {{handle.position, (tag << server_bits) + static_cast<uint64_t>(handle.server) + 1}};
}
bool is_of_none(const tutti_handle& handle) { return handle.place[1] == 0; }

// The outstanding transfer of a handle that is not all zero.
Handle outstanding(tutti_group* group, const tutti_handle& handle) {
  Client& client = group->one_sided.client();
  const Handle found = {
      static_cast<int32_t>(handle.place[1] & ((uint64_t{1} << server_bits) - 1)) - 1,
      handle.place[0]};
  require(handle.place[1] >> server_bits == group->one_sided.tag() && client.is_outstanding(found),
          "the handle is of no transfer that is outstanding: it was completed already, or it is of "
          "another group or from before the servers were started");
  return found;
}

tutti_status start(tutti_group* group, const Transfer& transfer, tutti_handle* handle) {
  const Handle started = group->one_sided.client().start(transfer);
  if (handle != nullptr) *handle = told(started, group->one_sided.tag());
  return TUTTI_OK;
}

tutti_status execute(tutti_group* group, const Transfer& transfer) {
  Client& client = group->one_sided.client();
  client.wait_for_all();
  client.execute(transfer);
  return TUTTI_OK;
}

void require_team(const tutti_team* team) {
  require(team != nullptr, "team is null; tutti_team_create makes one");
}

// Processing units that the process may use and no rank is bound to; none if ranks are not bound.
std::vector<int> units_without_ranks(const tutti_team& team, const std::vector<int>& all) {
  if (team.present.load() < team.layout.ranks) return {};
  std::vector<int> used;
  for (const std::vector<int>& bound : team.bindings)
    if (bound.size() < all.size()) used.insert(used.end(), bound.begin(), bound.end());
  if (used.empty()) return {};
  std::sort(used.begin(), used.end());
  std::vector<int> left;
  std::set_difference(all.begin(), all.end(), used.begin(), used.end(), std::back_inserter(left));
  return left;
}

tutti::rma::ServerThreads::Settings place(const tutti_team& team, int servers) {
  const std::vector<int> all = tutti::topo::binding_of_process();
  std::vector<int> free = units_without_ranks(team, all);
  const auto count = static_cast<size_t>(servers);
  if (free.size() >= count) return {.count = servers, .units = std::move(free), .own_units = true};
  if (all.size() < count + static_cast<size_t>(team.layout.ranks))
    tutti::log_line(tutti::LogLevel::info, "%d servers share the cores of %d ranks", servers,
                    team.layout.ranks);
  return {.count = servers, .units = all};
}

// Without units of their own, servers only take time from the ranks; so a selective policy gives
// them nothing.
Policy policy_of(tutti_serve serve, const tutti_team& team, int servers) {
  Policy policy{.serve = serve == TUTTI_SERVE_ALL ? Serve::all : Serve::selective};
  const size_t units = tutti::topo::binding_of_process().size();
  if (units < static_cast<size_t>(team.layout.ranks + servers)) return policy;
  policy.puts = {{.most_bytes = most_bytes_of_own, .least_waiting = UINT32_MAX}, {}};
  policy.gets = policy.puts;
  return policy;
}

tutti_status set_enabled(tutti_team* team, bool enabled) {
  require_team(team);
  tutti::shm::store_relaxed(team->services.now().domain().enabled(), enabled ? 1 : 0);
  return TUTTI_OK;
}

}  // namespace

extern "C" {

tutti_status tutti_put(tutti_group* group, int target, void* to, const void* from, size_t bytes,
                       tutti_handle* handle) {
  return guarded(
      [&] { return start(group, contiguous(group, Kind::put, target, to, from, bytes), handle); });
}

tutti_status tutti_get(tutti_group* group, int target, void* to, const void* from, size_t bytes,
                       tutti_handle* handle) {
  return guarded(
      [&] { return start(group, contiguous(group, Kind::get, target, to, from, bytes), handle); });
}

tutti_status tutti_put_strided(tutti_group* group, int target, void* to, ptrdiff_t to_stride,
                               const void* from, ptrdiff_t from_stride, size_t block_bytes,
                               size_t blocks, tutti_handle* handle) {
  return guarded([&] {
    return start(group,
                 strided(group, Kind::put, target, {to, to_stride}, {from, from_stride},
                         {block_bytes, blocks}),
                 handle);
  });
}

tutti_status tutti_get_strided(tutti_group* group, int target, void* to, ptrdiff_t to_stride,
                               const void* from, ptrdiff_t from_stride, size_t block_bytes,
                               size_t blocks, tutti_handle* handle) {
  return guarded([&] {
    return start(group,
                 strided(group, Kind::get, target, {to, to_stride}, {from, from_stride},
                         {block_bytes, blocks}),
                 handle);
  });
}

tutti_status tutti_put_strict(tutti_group* group, int target, void* to, const void* from,
                              size_t bytes) {
  return guarded(
      [&] { return execute(group, contiguous(group, Kind::put, target, to, from, bytes)); });
}

tutti_status tutti_get_strict(tutti_group* group, int target, void* to, const void* from,
                              size_t bytes) {
  return guarded(
      [&] { return execute(group, contiguous(group, Kind::get, target, to, from, bytes)); });
}

tutti_status tutti_test(tutti_group* group, tutti_handle* handle, int* complete) {
  return guarded([&] {
    require_group(group);
    require(handle != nullptr && complete != nullptr,
            "handle or complete is null; pass their addresses");
    *complete = is_of_none(*handle) || group->one_sided.client().test(outstanding(group, *handle));
    if (*complete != 0) *handle = {};
    return TUTTI_OK;
  });
}

tutti_status tutti_wait(tutti_group* group, tutti_handle* handle) {
  return guarded([&] {
    require_group(group);
    require(handle != nullptr, "handle is null; pass its address");
    if (!is_of_none(*handle)) group->one_sided.client().wait(outstanding(group, *handle));
    *handle = {};
    return TUTTI_OK;
  });
}

tutti_status tutti_wait_all(tutti_group* group) {
  return guarded([&] {
    require_group(group);
    group->one_sided.client().wait_for_all();
    return TUTTI_OK;
  });
}

tutti_status tutti_fence(tutti_group* group) { return tutti_wait_all(group); }

size_t tutti_most_outstanding(const tutti_group* group) {
  return group == nullptr ? 0 : group->team->services.now().domain().shape().entries;
}

tutti_status tutti_servers_start(tutti_team* team, int servers, tutti_serve serve) {
  return guarded([&] {
    require_team(team);
    require(servers >= 1 && servers <= max_servers,
            "the number of servers is out of range; 1 to 64 are possible");
    require(serve >= TUTTI_SERVE_ALL && serve <= TUTTI_SERVE_NONE,
            "unknown value of serve; see tutti_serve");
    team->services.start(place(*team, servers), policy_of(serve, *team, servers));
    return set_enabled(team, serve != TUTTI_SERVE_NONE);
  });
}

tutti_status tutti_servers_stop(tutti_team* team) {
  return guarded([&] {
    require_team(team);
    team->services.stop();
    return TUTTI_OK;
  });
}

tutti_status tutti_servers_enable(tutti_team* team) {
  return guarded([&] { return set_enabled(team, true); });
}

tutti_status tutti_servers_disable(tutti_team* team) {
  return guarded([&] { return set_enabled(team, false); });
}

tutti_status tutti_servers_wake(tutti_team* team) {
  return guarded([&] {
    require_team(team);
    tutti::rma::keep_awake(team->services.now().domain(), true);
    return TUTTI_OK;
  });
}

tutti_status tutti_servers_sleep(tutti_team* team) {
  return guarded([&] {
    require_team(team);
    tutti::rma::keep_awake(team->services.now().domain(), false);
    return TUTTI_OK;
  });
}

int tutti_servers_count(const tutti_team* team) {
  return team == nullptr ? 0 : const_cast<tutti_team*>(team)->services.servers();
}

}  // extern "C"
