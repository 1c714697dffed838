#include "rma/transfer.h"

#include <cstring>

#include "kernels/kernels.h"

namespace tutti::rma {

void copy_blocks(const Transfer& transfer, std::byte* to, const std::byte* from) {
  const bool puts = is_put(transfer.kind);
  const auto from_stride = puts ? transfer.local_stride : transfer.remote_stride;
  const auto to_stride = puts ? transfer.remote_stride : transfer.local_stride;
  if (transfer.blocks == 1) return kernels::copy(to, from, transfer.block_bytes);
  for (uint32_t block = 0; block < transfer.blocks; ++block) {
    kernels::copy(to, from, transfer.block_bytes);
    from += from_stride;
    to += to_stride;
  }
}

Code MemoryMover::move(const Transfer& transfer, int) {
  const bool puts = is_put(transfer.kind);
  copy_blocks(transfer, reinterpret_cast<std::byte*>(puts ? transfer.remote : transfer.local),
              reinterpret_cast<const std::byte*>(puts ? transfer.local : transfer.remote));
  return Code::ok;
}

Code MemoryMover::move_carried(Transfer& transfer) {
  auto* const there = reinterpret_cast<std::byte*>(transfer.remote);
  const bool puts = is_put(transfer.kind);
  std::memcpy(puts ? there : transfer.carried(), puts ? transfer.carried() : there,
              transfer.block_bytes);
  return Code::ok;
}

}  // namespace tutti::rma
