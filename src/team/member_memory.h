// How a member of a team reaches the other members' memory.
//
// Each member offers its memory (introduction.h), all others try to reach it, and the kinds of
// reach that work for all members are kept. So all members have the same. Constant once it is
// settled; then any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "exec/reach.h"
#include "shm/heap.h"
#include "team/introduction.h"

namespace tutti::team {

class MemberMemory {
 public:
  MemberMemory() = default;
  MemberMemory(const MemberMemory&) = delete;
  ~MemberMemory();

  // Tries every kind of reach to every member, and introduces what works. `system_copies`: whether
  // rules ask for copies by the system; none: they do not. `meet` waits for all members; it is
  // called only if TUTTI_REACH asks for these copies.
  void attempt(std::span<Introduction> members, int own,
               const std::function<exec::SystemCopies()>& system_copies,
               const std::function<void()>& meet);
  // Keeps what all members have introduced as working.
  void settle(std::span<const Introduction> members, int own);

  // True if all members have mapped each other's heaps.
  bool direct() const { return !heaps_.empty(); }
  // How these members reach each other's buffers; only by the slots if there are none.
  exec::Reach reach(const std::vector<int>& members) const;

  // The memory of a member, for one-sided transfers.
  struct Memory {
    std::byte* mapped = nullptr;  // where its heap is mapped here; null: it is not
    uint64_t heap = 0;            // where its heap is there
    uint64_t bytes = 0;           // bytes of the heap
    int64_t process = 0;          // 0: this process does not know its number
    // The place from which others map the heap; `bytes` is 0: it is not mapped.
    shm::Heap::Location location{};
  };
  std::vector<Memory> memories() const;

 private:
  // Indexed by member: the address at which its heap is mapped here; for members of this
  // process, its heap's own address. Empty unless all members have mapped all heaps.
  std::vector<std::byte*> heaps_;
  std::vector<shm::PeerHeap> peers_;
  std::vector<Memory> told_;  // indexed by member: its heap and process; `mapped` is not set
  bool ordinary_ = false;     // heaps_ is not empty, and malloc takes from the heaps at all members
  // Indexed by member: the memory that process_vm_readv reads; empty if it may not everywhere.
  std::vector<exec::Reach::OfProcess> others_;
};

}  // namespace tutti::team
