// The buffers of a collective that outlives its call, as its operation needs them
// (records::Operation): where blocks are, how long they are, and how elements are combined.
//
// It has copies of all that it needs of the program's arguments, apart from the buffers themselves:
// MPI lets a program change arrays of counts and free types, operations and the communicator while
// the operation is under way. Types and operations are held until release() (abi/held.h). Packing
// uses a communicator of this process alone. One thread at a time uses it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "records/operation.h"
#include "mpi/host/host_op.h"
#include "mpi/collectives/call.h"
#include "mpi/communicators/communicator.h"
#include "report/reason.h"

namespace tutti::mpi {

class CallBuffers {
 public:
  CallBuffers() = default;
  ~CallBuffers() { release(); }
  CallBuffers(const CallBuffers&) = delete;

  // Describes the buffers of a call on a communicator that has a group. Returns Reason::none, or
  // why the host must make the call. Throws bad_alloc.
  Reason describe(Communicator& communicator, const Call& call);
  // The same for a call among neighbours, by the blocks that this rank gives and gets. A blocking
  // call needs no handle held.
  Reason describe_neighbours(Communicator& communicator, const Call& call, size_t given, size_t got,
                             bool blocking);
  // Bytes of the first block that has any, for the report; 0 if none has.
  size_t first_bytes() const { return std::max(in_.first_bytes(), out_.first_bytes()); }
  // Sets the operation's buffers. The operation then refers to this object.
  void give_to(records::Operation& operation);
  // True if nothing but the addresses of the buffers would change for a call with the same
  // arguments elsewhere in memory: no type is the program's own, no data is packed or in place.
  bool is_plain() const {
    return !v_form_ && !in_place_ && in_.is_dense() && out_.is_dense() && !has_derived() &&
           host_op_ == nullptr;
  }
  // For a plain call: how many bytes lie between both buffers if this rank's part has one address
  // on both sides, which the host may call an error.
  ptrdiff_t alias() const { return alias_; }
  // True if the description serves any number of starts, after hold_again() for each.
  bool serves_again() const { return host_op_ == nullptr && !holds_op_; }
  // Holds the types of the description again, after release(). Throws bad_alloc.
  void hold_again() {
    if (has_derived()) hold_types();
  }
  // The first error of the host's reductions.
  int take_error() { return host_op_ == nullptr ? success : host_op_->take_error(); }
  // Lets the types and the operation go. The object may then describe another call.
  void release() noexcept;

 private:
  // One side of the call. Either all blocks have the same type and count and are adjacent, or each
  // has its own.
  class SideLayout final : public records::Packing {
   public:
    // Forgets what it has. `in_memory`: the bytes of an element as it lies in memory, for a kernel,
    // which combines elements there; 0: elements with gaps are packed.
    void clear(size_t in_memory);
    // Both return false if an argument is wrong.
    bool describe_equal(Communicator& communicator, void* data, Count count, Datatype type,
                        size_t blocks);
    // `may_be_absolute`: with MPI_BOTTOM, displacements may be addresses, also for named types.
    bool describe_own(Communicator& communicator, const Side& side, size_t blocks,
                      bool may_be_absolute);
    // Becomes a side that has only this block of another one.
    void use_block(const SideLayout& other, size_t block);
    void use_all(const SideLayout& other);
    // Gives the operation's parts, for a call of a v-form.
    exec::Parts list();

    size_t first_bytes() const;
    std::byte* data() const { return static_cast<std::byte*>(data_); }
    size_t bytes() const { return bytes_; }  // bytes of a block, where all are equal
    bool is_dense() const { return dense_; }
    const std::vector<Datatype>& derived() const { return derived_; }

    int pack(int32_t block, std::byte* to, size_t bytes) override;
    int unpack(const std::byte* from, int32_t block, size_t bytes) override;

   private:
    struct Block {
      void* at = nullptr;
      size_t count = 0;
      Datatype type{};
      size_t bytes = 0;
    };
    struct Element {
      size_t bytes = 0;
      bool dense = true;
      bool named = true;
    };
    Element look_at(Communicator& communicator, Datatype type);
    Block block(int32_t index) const;

    void* data_ = nullptr;
    size_t count_ = 0;
    Datatype type_{};
    size_t in_memory_ = 0;
    size_t bytes_ = 0;
    bool dense_ = true;
    std::vector<Block> blocks_;  // none: all are equal
    std::vector<ptrdiff_t> at_;  // the places of list()
    std::vector<size_t> lengths_;
    std::vector<Datatype> derived_;  // the types that the program may free
  };

  void clear(const Call& call);
  Reason describe_sides(Communicator& communicator, const Call& call);
  Reason choose_combine(Communicator& communicator, const Call& call);
  bool describe_combined(Communicator& communicator, const Call& call);
  bool describe_moved(Communicator& communicator, const Call& call);
  void hold_handles(const Call& call);
  void hold_types();
  bool has_derived() const { return !in_.derived().empty() || !out_.derived().empty(); }

  SideLayout in_, out_;
  bool v_form_ = false;
  bool in_place_ = false, keeps_own_ = false;
  static constexpr ptrdiff_t no_alias = PTRDIFF_MIN;
  ptrdiff_t alias_ = no_alias;
  const exec::Combine* combine_ = nullptr;
  exec::Combine host_combine_;
  std::unique_ptr<HostReduction> host_op_;
  exec::VParts parts_;
  std::vector<Datatype> held_types_;
  Op held_op_{};
  bool holds_op_ = false;
};

}  // namespace tutti::mpi
