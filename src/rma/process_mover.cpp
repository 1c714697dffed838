#include "rma/process_mover.h"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tutti::rma {
namespace {

// One side of a transfer: the memory of a rank, and where it is here (null: in another process).
struct Side {
  const Peer* peer;
  uint64_t address;
  int64_t stride;
  std::byte* here;
};

Code code_of(int error) {
  if (error == EFAULT || error == EINVAL) return Code::invalid_argument;
  return error == ESRCH ? Code::dead_peer : Code::unavailable;
}

// Copies between memory of this process and of another one.
template <class Call>
Code by_system(Call call, const Peer& peer, std::byte* here, uint64_t there, size_t bytes) {
  if (peer.process == 0) return Code::unavailable;
  while (bytes > 0) {
    const iovec local{here, bytes};
    const iovec remote{reinterpret_cast<void*>(there), bytes};
    const ssize_t done = call(static_cast<pid_t>(peer.process), &local, 1, &remote, 1, 0);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return code_of(errno);
    if (done == 0) return Code::invalid_argument;
    here += done;
    there += static_cast<uint64_t>(done);
    bytes -= static_cast<size_t>(done);
  }
  return Code::ok;
}

Code read(const Side& from, uint64_t at, std::byte* to, size_t bytes) {
  return by_system(process_vm_readv, *from.peer, to, at, bytes);
}
Code write(const Side& to, uint64_t at, std::byte* from, size_t bytes) {
  return by_system(process_vm_writev, *to.peer, from, at, bytes);
}

// Both sides are in other processes: through a buffer of this thread.
Code through_buffer(const Side& to, uint64_t to_at, const Side& from, uint64_t from_at,
                    size_t bytes) {
  constexpr size_t most = 16 * 1024;
  alignas(64) std::byte buffer[most];
  for (size_t done = 0; done < bytes; done += most) {
    const size_t part = std::min(most, bytes - done);
    if (const Code code = read(from, from_at + done, buffer, part); code != Code::ok) return code;
    if (const Code code = write(to, to_at + done, buffer, part); code != Code::ok) return code;
  }
  return Code::ok;
}

Code copy_block(const Side& to, const Side& from, int64_t block, size_t bytes) {
  const auto offset = [block](const Side& side) {
    return static_cast<uint64_t>(block * side.stride);
  };
  const uint64_t to_at = to.address + offset(to), from_at = from.address + offset(from);
  if (to.here != nullptr) return read(from, from_at, to.here + offset(to), bytes);
  if (from.here != nullptr) return write(to, to_at, from.here + offset(from), bytes);
  return through_buffer(to, to_at, from, from_at, bytes);
}

}  // namespace

Extent extent_of(uint64_t start, int64_t stride, const Transfer& transfer) {
  if (transfer.blocks == 0 || transfer.block_bytes == 0) return {start, 0};
  const int64_t reach = stride * (static_cast<int64_t>(transfer.blocks) - 1);
  const uint64_t first = reach < 0 ? start - static_cast<uint64_t>(-reach) : start;
  return {first, static_cast<uint64_t>(reach < 0 ? -reach : reach) + transfer.block_bytes};
}

Code ProcessMover::move(const Transfer& transfer, int caller) {
  if (transfer.bytes() == 0) return Code::ok;
  const auto side = [&](int rank, uint64_t address, int64_t stride) {
    const Peer& peer = peers_[static_cast<size_t>(rank)];
    const Extent extent = extent_of(address, stride, transfer);
    const bool mapped = peer.here(extent.first, extent.bytes) != nullptr;
    return Side{&peer, address, stride,
                mapped ? reinterpret_cast<std::byte*>(address + peer.shift) : nullptr};
  };
  const int rank = rank_of_.empty() ? caller : rank_of_[static_cast<size_t>(caller)];
  const Side local = side(rank, transfer.local, transfer.local_stride);
  const Side remote = side(transfer.target, transfer.remote, transfer.remote_stride);
  const bool puts = is_put(transfer.kind);
  const Side &to = puts ? remote : local, &from = puts ? local : remote;
  if (to.here != nullptr && from.here != nullptr) {
    copy_blocks(transfer, to.here, from.here);
    return Code::ok;
  }
  for (uint32_t block = 0; block < transfer.blocks; ++block) {
    const Code code = copy_block(to, from, block, transfer.block_bytes);
    if (code != Code::ok) return code;
  }
  return Code::ok;
}

Code ProcessMover::move_carried(Transfer& transfer) {
  const Peer& peer = peers_[static_cast<size_t>(transfer.target)];
  const size_t bytes = transfer.block_bytes;
  const bool puts = is_put(transfer.kind);
  std::byte* const there = peer.here(transfer.remote, bytes);
  if (there != nullptr) {
    std::memcpy(puts ? there : transfer.carried(), puts ? transfer.carried() : there, bytes);
    return Code::ok;
  }
  const Side remote{&peer, transfer.remote, 0, nullptr};
  return puts ? write(remote, transfer.remote, transfer.carried(), bytes)
              : read(remote, transfer.remote, transfer.carried(), bytes);
}

void forget_others(std::vector<Peer>& peers) {
  for (Peer& peer : peers)
    if (!peer.is_of_this_process()) peer = {};
}

}  // namespace tutti::rma
