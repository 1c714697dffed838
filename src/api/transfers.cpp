// The C API of one-sided transfers and servers: every function is one expression behind a guard.
#include <cstdint>
#include <cstring>
#include <string>

#include "api/arguments.h"
#include "api/guard.h"
#include "api/team.h"
#include "rma/signal.h"
#include "tutti/tutti.h"

namespace {

using tutti::api::guarded;
using tutti::api::require;
using tutti::api::require_group;
using tutti::rma::Client;
using tutti::rma::Handle;
using tutti::rma::Kind;
using tutti::rma::Outcome;
using tutti::rma::Transfer;

constexpr int max_servers = 64;

void require_target(const tutti_group* group, int target) {
  if (target >= 0 && target < group->ranks) return;
  throw tutti::Error(tutti::Code::invalid_argument, "target " + std::to_string(target) +
                                                        " is out of range; ranks are 0 to " +
                                                        std::to_string(group->ranks - 1));
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
tutti::api::Buffer extent_of(const Side& side, const Blocks& blocks) {
  if (blocks.bytes == 0 || blocks.count == 0) return {side.start, 0};
  ptrdiff_t reach = 0;
  const auto last = static_cast<ptrdiff_t>(blocks.count - 1);
  require(!__builtin_mul_overflow(side.stride, last, &reach) &&
              static_cast<size_t>(reach < 0 ? -reach : reach) <= SIZE_MAX / 4,
          "a stride is out of range; blocks * stride must be at most SIZE_MAX / 4 bytes");
  return {side.start, static_cast<size_t>(reach < 0 ? -reach : reach) + blocks.bytes};
}

void require_buffer(const tutti::api::Buffer& buffer, const char* message) {
  require(buffer.data != nullptr || buffer.bytes == 0, message);
}
constexpr const char* to_is_null = "to is null while its length is not 0; pass its address";
constexpr const char* overlap = "to and from overlap; pass separate buffers";
constexpr const char* from_is_null = "from is null while its length is not 0; pass its address";

// Blocks of the two sides may lie between each other.
void require_blocks(const Side& to, const Side& from, const Blocks& blocks) {
  tutti::api::bytes_of(blocks.count, blocks.bytes, 1);
  require(blocks.count <= INT32_MAX, "blocks is out of range; at most 2^31 - 1 are possible");
  require_buffer(extent_of(to, blocks), to_is_null);
  require_buffer(extent_of(from, blocks), from_is_null);
}

// The addresses of two processes say nothing about an overlap.
void require_bytes(const tutti_group* group, int target, const void* to, const void* from,
                   size_t bytes) {
  require(bytes <= SIZE_MAX / 2, "the length is out of range; at most SIZE_MAX / 2 bytes");
  require_buffer({to, bytes}, to_is_null);
  require_buffer({from, bytes}, from_is_null);
  if (!group->one_sided.peer(target).is_of_this_process()) return;
  const auto a = reinterpret_cast<uintptr_t>(to), b = reinterpret_cast<uintptr_t>(from);
  require(bytes == 0 || a >= b + bytes || b >= a + bytes, overlap);
}

// Checks the target's memory before anything is handed to anybody.
void require_reach(const tutti_group* group, const Transfer& transfer, int rank) {
  using tutti::Code;
  group->one_sided.require_begun();
  const tutti::rma::Peer& peer = group->one_sided.peer(rank);
  const tutti::rma::Extent extent =
      tutti::rma::extent_of(transfer.remote, transfer.remote_stride, transfer);
  if (extent.bytes == 0 || peer.here(extent.first, extent.bytes) != nullptr) return;
  const std::string of = " of rank " + std::to_string(rank);
  if (peer.elsewhere && group->one_sided.far() != nullptr) return;  // `far` judges it
  if (peer.elsewhere)
    throw tutti::Error(Code::unavailable,
                       "rank " + std::to_string(rank) +
                           " is not reached: it shares no MPI_COMM_WORLD with this rank, or this "
                           "process was forked or is simulated; use messages");
  if (extent.first - peer.first < peer.bytes)
    throw tutti::Error(Code::invalid_argument, "the transfer goes beyond the end of the heap" + of +
                                                   "; use addresses of one tutti_alloc");
  if (peer.process == 0)
    throw tutti::Error(Code::unavailable,
                       "the memory" + of +
                           " is not in its shared heap, and the system's copies are not permitted; "
                           "take it from tutti_alloc, or start with tutti-run --shared-heap");
}

Transfer transfer_of(const tutti_group* group, Kind kind, int target, const Side& to,
                     const Side& from, const Blocks& blocks) {
  const bool puts = kind == Kind::put;
  const Side& local = puts ? from : to;
  const Side& remote = puts ? to : from;
  const Transfer transfer{.local = reinterpret_cast<uint64_t>(local.start),
                          .remote = reinterpret_cast<uint64_t>(remote.start),
                          .block_bytes = blocks.bytes,
                          .local_stride = local.stride,
                          .remote_stride = remote.stride,
                          .blocks = static_cast<uint32_t>(blocks.count),
                          .kind = kind,
                          .target = group->one_sided.target(target)};
  require_reach(group, transfer, target);
  return transfer;
}

Transfer contiguous(const tutti_group* group, Kind kind, int target, const void* to,
                    const void* from, size_t bytes) {
  require_group(group);
  require_target(group, target);
  require_bytes(group, target, to, from, bytes);
  return transfer_of(group, kind, target, {to, 0}, {from, 0}, {bytes, 1});
}

Transfer strided(const tutti_group* group, Kind kind, int target, const Side& to, const Side& from,
                 const Blocks& blocks) {
  require_group(group);
  require_target(group, target);
  require_blocks(to, from, blocks);
  return transfer_of(group, kind, target, to, from, blocks);
}

// A handle of the C API: the position, and the tag of its client with 1 + the server.
constexpr int server_bits = 16;
constexpr int32_t far_ranks = (1 << server_bits) - 2;  // in the place of a server
tutti_handle told(const Handle& handle, uint64_t tag) {
  if (handle.server < 0) return {};
  return {{handle.position, (tag << server_bits) + static_cast<uint64_t>(handle.server) + 1}};
}
bool is_of_none(const tutti_handle& handle) { return handle.place[1] == 0; }
constexpr const char* is_over =
    "the handle is of no transfer that is outstanding: it was completed already, or it is of "
    "another group or from before the servers were started";

// The number of an outstanding transfer with a rank of another node; 0: the handle is of another
// one.
uint64_t far_number(tutti_group* group, const tutti_handle& handle) {
  tutti::rma::FarRanks* const far = group->one_sided.far();
  const uint64_t place = told({.server = far_ranks}, group->one_sided.tag()).place[1];
  if (far == nullptr || handle.place[1] != place) return 0;
  require(far->is_outstanding(handle.place[0]), is_over);
  return handle.place[0];
}

// The outstanding transfer of a handle that is not all zero, and not of another node's rank.
Handle outstanding(tutti_group* group, const tutti_handle& handle) {
  Client& client = group->one_sided.client();
  const Handle found = {
      static_cast<int32_t>(handle.place[1] & ((uint64_t{1} << server_bits) - 1)) - 1,
      handle.place[0]};
  require(handle.place[1] >> server_bits == group->one_sided.tag() && client.is_outstanding(found),
          is_over);
  return found;
}

// The status of a transfer that was executed.
tutti_status ended(tutti::Code code) {
  if (code == tutti::Code::ok) return TUTTI_OK;
  const char* why = "the system does not permit a transfer; `tutti doctor` says more";
  if (code == tutti::Code::invalid_argument)
    why = "a transfer names memory that its owner does not have; nothing or a part of it was moved";
  if (code == tutti::Code::dead_peer) why = "the target of a transfer has ended";
  return tutti::api::report(code, why);
}

tutti_status ended(const Outcome& outcome) {
  if (outcome.code == tutti::Code::ok) return TUTTI_OK;
  return tutti::api::report(outcome.code, outcome.why);
}

bool is_far(const tutti_group* group, int target) {
  return group->one_sided.peer(target).elsewhere;
}

tutti_status start_far(tutti_group* group, int target, const Transfer& transfer,
                       tutti_handle* handle) {
  Outcome outcome;
  const uint64_t number = group->one_sided.far()->start(transfer, target, &outcome);
  if (handle != nullptr) {
    *handle = {};
    if (number != 0)
      *handle = told({.server = far_ranks, .position = number}, group->one_sided.tag());
  }
  return ended(outcome);
}

tutti_status start(tutti_group* group, int target, const Transfer& transfer, tutti_handle* handle) {
  if (is_far(group, target)) return start_far(group, target, transfer, handle);
  const Handle started = group->one_sided.client().start(transfer);
  if (handle != nullptr) *handle = told(started, group->one_sided.tag());
  return ended(started.code);
}

// Waits for all transfers of the group.
tutti_status wait_for_all(tutti_group* group) {
  const tutti_status near = ended(group->one_sided.client().wait_for_all());
  if (group->one_sided.far() == nullptr) return near;
  const Outcome far = group->one_sided.far()->wait_for_all();
  return near != TUTTI_OK ? near : ended(far);
}

tutti_status execute(tutti_group* group, int target, const Transfer& transfer) {
  const tutti_status before = wait_for_all(group);
  tutti_status status = TUTTI_OK;
  if (is_far(group, target)) {
    Outcome outcome;
    tutti::rma::FarRanks& far = *group->one_sided.far();
    const uint64_t number = far.start(transfer, target, &outcome);
    status = ended(number == 0 ? outcome : far.wait(number));
  } else {
    status = ended(group->one_sided.client().execute(transfer));
  }
  return status == TUTTI_OK ? before : status;
}

constexpr const char* misaligned =
    "signal is not aligned to 8 bytes; pass the address of a uint64_t";

// The memory of a rank in which puts with a signal have their data and their signal. The group has
// one-sided transfers with the rank.
tutti::rma::Extent memory_for_signals(const tutti_group* group, int rank) {
  const tutti::api::OneSided& side = group->one_sided;
  const tutti::rma::Peer& peer = side.peer(rank);
  if (peer.is_of_this_process()) return side.own_heap();
  if (peer.elsewhere) return side.far()->heap(rank);
  return {peer.first, peer.bytes};
}

// The caller executes it unless the target is on another node (rma/signal.h).
tutti_status put_signal(tutti_group* group, int target, void* to, const void* from, size_t bytes,
                        uint64_t* signal, tutti_handle* handle) {
  require_group(group);
  require_target(group, target);
  require_bytes(group, target, to, from, bytes);
  const auto there = reinterpret_cast<uint64_t>(to), address = reinterpret_cast<uint64_t>(signal);
  require(signal != nullptr, "signal is null; pass its address at the target");
  require(address % alignof(tutti::shm::Word) == 0, misaligned);
  require(bytes == 0 || (address - there >= bytes && there - address >= sizeof *signal),
          "signal and to overlap; pass a signal of its own");
  tutti::api::OneSided& side = group->one_sided;
  side.require_begun();
  const tutti::rma::Peer& peer = side.peer(target);
  if (!peer.elsewhere || side.far() != nullptr) {
    const tutti::rma::Extent heap = memory_for_signals(group, target);
    tutti::rma::require_in_heap(heap, {there, bytes}, "to", target);
    tutti::rma::require_in_heap(heap, {address, sizeof *signal}, "signal", target);
  }
  Transfer transfer = transfer_of(group, Kind::put, target, {to, 0}, {from, 0}, {bytes, 1});
  if (handle != nullptr) *handle = {};
  if (peer.elsewhere) {
    transfer.kind = Kind::put_signal;
    transfer.remote_stride = static_cast<int64_t>(address);
    return start_far(group, target, transfer, handle);
  }
  side.count_copy();
  const tutti::Code code = side.client().execute(transfer);
  auto* const word = reinterpret_cast<tutti::shm::Word*>(peer.here(address, sizeof *signal));
  if (code == tutti::Code::ok) tutti::shm::add(*word, bytes);
  return ended(code);
}

// The general path, apart from the short one, whose callers then save no registers.
template <Kind kind>
[[gnu::noinline]] tutti_status started(tutti_group* group, int target, void* to, const void* from,
                                       size_t bytes, tutti_handle* handle) {
  return guarded([&] {
    return start(group, target, contiguous(group, kind, target, to, from, bytes), handle);
  });
}

[[gnu::noinline]] tutti_status copied(void* to, const void* from, size_t bytes) {
  std::memcpy(to, from, bytes);
  return TUTTI_OK;
}

// Copies a short transfer itself if it needs nobody else: the memory of both sides is mapped here,
// and no server gets it. If anything is unusual, the general path judges the arguments.
constexpr size_t most_short = 256;
template <Kind kind>
inline tutti_status transfer(tutti_group* group, int target, void* to, const void* from,
                             size_t bytes, tutti_handle* handle) {
  constexpr bool puts = kind == Kind::put;
  if (group == nullptr || static_cast<unsigned>(target) >= static_cast<unsigned>(group->ranks) ||
      bytes > most_short) [[unlikely]]
    return started<kind>(group, target, to, from, bytes, handle);
  tutti::api::OneSided& side = group->one_sided;
  auto* const there = side.here(target, puts ? to : from, bytes);
  const auto local = reinterpret_cast<uint64_t>(puts ? from : to);
  const uint64_t distance = reinterpret_cast<uint64_t>(there) - local;
  if (there == nullptr || local == 0 || distance + bytes - 1 < 2 * bytes - 1 ||
      !side.executes(bytes)) [[unlikely]]
    return started<kind>(group, target, to, from, bytes, handle);
  auto* const here = reinterpret_cast<std::byte*>(local);
  std::byte* const destination = puts ? there : here;
  const std::byte* const source = puts ? here : there;
  side.count_copy();
  if (handle != nullptr) *handle = {};
  if (bytes != sizeof(uint64_t)) return copied(destination, source, bytes);
  std::memcpy(destination, source, sizeof(uint64_t));  // one load and one store
  return TUTTI_OK;
}

void require_team(const tutti_team* team) {
  require(team != nullptr, "team is null; tutti_team_create makes one");
}

tutti_status set_enabled(tutti_team* team, bool enabled) {
  require_team(team);
  team->enable_servers(enabled);
  return TUTTI_OK;
}

tutti_status keep_awake(tutti_team* team, bool awake) {
  require_team(team);
  team->keep_servers_awake(awake);
  return TUTTI_OK;
}

}  // namespace

extern "C" {

tutti_status tutti_put(tutti_group* group, int target, void* to, const void* from, size_t bytes,
                       tutti_handle* handle) {
  return transfer<Kind::put>(group, target, to, from, bytes, handle);
}

tutti_status tutti_get(tutti_group* group, int target, void* to, const void* from, size_t bytes,
                       tutti_handle* handle) {
  return transfer<Kind::get>(group, target, to, from, bytes, handle);
}

tutti_status tutti_put_signal(tutti_group* group, int target, void* to, const void* from,
                              size_t bytes, uint64_t* signal, tutti_handle* handle) {
  return guarded([&] { return put_signal(group, target, to, from, bytes, signal, handle); });
}

tutti_status tutti_signal_wait(tutti_group* group, const uint64_t* signal, uint64_t least) {
  return guarded([&] {
    require_group(group);
    require(signal != nullptr, "signal is null; pass its address");
    require(reinterpret_cast<uint64_t>(signal) % alignof(tutti::shm::Word) == 0, misaligned);
    const tutti::api::OneSided& side = group->one_sided;
    side.require_begun();
    const auto address = reinterpret_cast<uint64_t>(signal);
    tutti::rma::require_in_heap(memory_for_signals(group, group->rank), {address, sizeof *signal},
                                "signal", group->rank);
    return ended(side.wait_for_signal(*reinterpret_cast<const tutti::shm::Word*>(signal), least));
  });
}

tutti_status tutti_put_strided(tutti_group* group, int target, void* to, ptrdiff_t to_stride,
                               const void* from, ptrdiff_t from_stride, size_t block_bytes,
                               size_t blocks, tutti_handle* handle) {
  return guarded([&] {
    return start(group, target,
                 strided(group, Kind::put, target, {to, to_stride}, {from, from_stride},
                         {block_bytes, blocks}),
                 handle);
  });
}

tutti_status tutti_get_strided(tutti_group* group, int target, void* to, ptrdiff_t to_stride,
                               const void* from, ptrdiff_t from_stride, size_t block_bytes,
                               size_t blocks, tutti_handle* handle) {
  return guarded([&] {
    return start(group, target,
                 strided(group, Kind::get, target, {to, to_stride}, {from, from_stride},
                         {block_bytes, blocks}),
                 handle);
  });
}

tutti_status tutti_put_strict(tutti_group* group, int target, void* to, const void* from,
                              size_t bytes) {
  return guarded([&] {
    return execute(group, target, contiguous(group, Kind::put, target, to, from, bytes));
  });
}

tutti_status tutti_get_strict(tutti_group* group, int target, void* to, const void* from,
                              size_t bytes) {
  return guarded([&] {
    return execute(group, target, contiguous(group, Kind::get, target, to, from, bytes));
  });
}

tutti_status tutti_test(tutti_group* group, tutti_handle* handle, int* complete) {
  return guarded([&] {
    require_group(group);
    require(handle != nullptr && complete != nullptr,
            "handle or complete is null; pass their addresses");
    tutti::Code code = tutti::Code::ok;
    if (const uint64_t number = is_of_none(*handle) ? 0 : far_number(group, *handle); number != 0) {
      Outcome outcome;
      *complete = group->one_sided.far()->test(number, &outcome) ? 1 : 0;
      if (*complete != 0) *handle = {};
      return ended(outcome);
    }
    if (group->one_sided.far() != nullptr) group->one_sided.far()->drive();
    *complete =
        is_of_none(*handle) || group->one_sided.client().test(outstanding(group, *handle), &code);
    if (*complete != 0) *handle = {};
    return ended(code);
  });
}

tutti_status tutti_wait(tutti_group* group, tutti_handle* handle) {
  return guarded([&] {
    require_group(group);
    require(handle != nullptr, "handle is null; pass its address");
    if (is_of_none(*handle)) return TUTTI_OK;
    if (const uint64_t number = far_number(group, *handle); number != 0) {
      *handle = {};
      return ended(group->one_sided.far()->wait(number));
    }
    const Handle waited = outstanding(group, *handle);
    *handle = {};
    return ended(group->one_sided.client().wait(waited));
  });
}

tutti_status tutti_wait_all(tutti_group* group) {
  return guarded([&] {
    require_group(group);
    return wait_for_all(group);
  });
}

tutti_status tutti_fence(tutti_group* group) { return tutti_wait_all(group); }

size_t tutti_most_outstanding(const tutti_group* group) {
  return group == nullptr ? 0 : group->one_sided.most_outstanding();
}

tutti_status tutti_servers_start(tutti_team* team, int servers, tutti_serve serve) {
  return guarded([&] {
    require_team(team);
    require(servers >= 1 && servers <= max_servers,
            "the number of servers is out of range; 1 to 64 are possible");
    require(serve >= TUTTI_SERVE_ALL && serve <= TUTTI_SERVE_NONE,
            "unknown value of serve; see tutti_serve");
    team->start_servers(servers, serve);
    return TUTTI_OK;
  });
}

tutti_status tutti_servers_stop(tutti_team* team) {
  return guarded([&] {
    require_team(team);
    team->stop_servers();
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
  return guarded([&] { return keep_awake(team, true); });
}

tutti_status tutti_servers_sleep(tutti_team* team) {
  return guarded([&] { return keep_awake(team, false); });
}

int tutti_servers_count(const tutti_team* team) {
  return team == nullptr ? 0 : const_cast<tutti_team*>(team)->count_servers();
}

}  // extern "C"
