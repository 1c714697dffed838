// The messages of transfers between nodes. A transfer travels in pieces of bounded length. Each
// piece is one request of the client, with the data of a put, and one reply of the target, with the
// data of a get. The data of several blocks is packed, without gaps.
//
// All requests have one tag. The tag of a reply is the place of its piece in the client's table, so
// a client posts the receive of a reply before it sends the request. Plain values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "rma/transfer.h"

namespace tutti::rma {

// The most data in a piece. Several pieces are under way at once, so longer ones gain little. Over
// TCP, Open MPI sends less than 64 KiB without asking the receiver first, which saves a round trip.
// With MPICH such pieces could exceed the number of messages that libfabric keeps, and jobs hung
// where it was 64 (run/messages.h); pieces of 64 KiB did not.
constexpr size_t most_piece_of(bool open_mpi) { return size_t{open_mpi ? 63u : 64u} << 10; }

inline constexpr int request_tag = 0;
inline constexpr int first_reply_tag = 1;

struct Asked {
  uint64_t address = 0;  // the address of the first block, as its owner has it
  int64_t stride = 0;    // the distance of the blocks there, or the address of the signal
  uint64_t block_bytes = 0;
  uint32_t blocks = 0;
  Kind kind = Kind::put;
  uint32_t place = 0;
  uint32_t target = 0;  // the number by which the receiver knows whose memory it is
};
static_assert(sizeof(Asked) == 40, "it is sent as bytes");

struct Reply {
  uint32_t code = 0;  // a Code
  uint32_t unused = 0;
};
static_assert(sizeof(Reply) == 8, "it is sent as bytes");

// Cuts a transfer into pieces, each of which is a transfer itself: some whole blocks, or a part of
// one block. A piece has at most so many bytes.
class Cutter {
 public:
  Cutter(const Transfer& whole, size_t most_bytes) : whole_(whole), most_(most_bytes) {}
  const Transfer& whole() const { return whole_; }
  bool is_at_end() const { return block_ == whole_.blocks; }
  // The next piece; not to be called at the end.
  Transfer next() {
    Transfer piece = whole_;
    piece.local += offset(whole_.local_stride);
    piece.remote += offset(whole_.remote_stride);
    if (whole_.block_bytes > most_) {
      piece.blocks = 1;
      piece.block_bytes = std::min<uint64_t>(most_, whole_.block_bytes - in_block_);
      in_block_ += piece.block_bytes;
      if (in_block_ < whole_.block_bytes) return piece;
      in_block_ = 0;
      ++block_;
      return piece;
    }
    const uint64_t fit = most_ / whole_.block_bytes;
    piece.blocks = static_cast<uint32_t>(std::min<uint64_t>(fit, whole_.blocks - block_));
    block_ += piece.blocks;
    return piece;
  }

 private:
  uint64_t offset(int64_t stride) const {
    return static_cast<uint64_t>(stride) * block_ + in_block_;
  }
  Transfer whole_;
  size_t most_;
  uint64_t block_ = 0;
  uint64_t in_block_ = 0;
};

}  // namespace tutti::rma
