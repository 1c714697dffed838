// A call whose buffers are in a GPU's memory, which processors and other ranks cannot read. It is
// made with copies of the buffers in the host's memory.
//
// Only this rank knows where its buffers are, so nothing else about the call changes: the other
// ranks cannot tell. Calls that the host makes get the buffers as the program gave them.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "mpi/collectives/call.h"

namespace tutti::mpi {

// One object for one call, used by one thread at a time. The program's buffers outlive it, or
// bring_back() is not called.
class StagedCall {
 public:
  // Null if no buffer that the call uses at this rank is in a GPU's memory. Says once if one is.
  // Throws bad_alloc.
  static std::unique_ptr<StagedCall> of(const Call& call, Comm comm);

  // The call, with the copies' addresses. It lives as long as this object.
  const Call& call() const { return call_; }
  // Copies the program's data, also of buffers of results, which may have gaps.
  void fetch() noexcept;
  // Copies the results to the program's buffers. False, and has said so once, if this or fetch()
  // has failed.
  bool bring_back() noexcept;

 private:
  // A buffer of the program's in a GPU's memory, from its first byte to its last.
  struct Copy {
    std::byte* on_gpu = nullptr;
    std::vector<std::byte> bytes{};
    bool has_results = false;
  };
  explicit StagedCall(const Call& call) : call_(call) {}
  void stage(Side& side, ptrdiff_t begin, ptrdiff_t end, bool has_results);

  Call call_;
  std::vector<Copy> copies_;
  bool failed_ = false;
};

}  // namespace tutti::mpi
