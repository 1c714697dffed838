// Reach: how a channel accesses other ranks' buffers without the slots. Slots always work.
//
// Ranks find their reach out when they make a group, and all have the same kinds of it. This is
// plain data, which the channel copies. Source: the design of HMPI's shared heap (HMPI 2.1): one
// range of addresses a rank, mapped by all others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::exec {

// When ranks try whether they may use the system's copies.
enum class SystemCopies {
  never,
  where_quick,  // default rules ask for them, where they are quick and the node has few ranks
  always,       // the user's rules ask for them
};

struct Reach {
  // `direct`: the range of this rank's addresses that every other rank of the group has mapped, and
  // by rank where that rank's range is mapped here (this rank's own entry: own_base). No entries:
  // no direct reach. Thread ranks share all addresses: the range is everything, and every entry is
  // null. `one_process`: the ranks are threads, so all buffers are reached but for those that a
  // plan needs in slots.
  bool one_process = false;
  // True if ranks reach all memory that the program allocates, because ranks are threads or malloc
  // takes memory from ranges that are mapped. The same at all ranks.
  bool ordinary = false;
  std::byte* own_base = nullptr;
  size_t own_bytes = 0;
  std::vector<std::byte*> mapped;
  // `cma`: by rank the process whose memory process_vm_readv reads, and a descriptor of the file of
  // that memory (/proc/PID/mem), which was opened when the system permitted it; -1: none. The file
  // serves when the permission for `cma` has gone since, by PR_SET_DUMPABLE, other credentials or a
  // filter of system calls. No entries: not permitted.
  struct OfProcess {
    int64_t process = 0;
    int file = -1;
  };
  std::vector<OfProcess> memories;
  bool cma_unasked = false;  // `cma` serves long messages although no rule asks for it
};

}  // namespace tutti::exec
