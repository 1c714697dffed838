// The system's copies in teams of processes without MPI.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "api/test_processes.h"
#include "tutti/tutti.h"

// The bytes that the library has copied by the system.
static size_t copied_by_system = 0;

// The library calls this function in the place of libc's.
extern "C" [[gnu::visibility("default")]] ssize_t process_vm_readv(pid_t process, const iovec* here,
                                                                   unsigned long pieces,
                                                                   const iovec* there,
                                                                   unsigned long others,
                                                                   unsigned long flags) {
  const long copied = syscall(SYS_process_vm_readv, process, here, pieces, there, others, flags);
  if (copied > 0) copied_by_system += static_cast<size_t>(copied);
  return copied;
}

namespace {

using namespace tutti::test;

// True if the system lets this process read that one's memory.
bool may_read(pid_t process) {
  static int value = 0;
  int found = 0;
  const iovec here = {&found, sizeof found}, there = {&value, sizeof value};
  return syscall(SYS_process_vm_readv, process, &here, 1, &there, 1, 0) == sizeof found;
}

// True if the system permits it only to processes that are named, as ranks name each other once
// they have chosen how collectives copy.
bool needs_names() {
  int scope = 0;
  return std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope && scope == 1;
}

// This process has not read the variables before.
TEST(Processes, UseTheSystemsCopiesWhereATableAsksForThem) {
  const Directory tables, directory;
  const std::string table = tables.path + "/by-system.map";
  std::ofstream(table) << "tutti-map 1\nalltoall -> builtin:flat reach cma\n";
  setenv("TUTTI_TABLE", table.c_str(), 1);
  in_processes(3, directory.path, [](Rank& own) {
    constexpr size_t count = 30000;
    const int rank = tutti_group_rank(own.group);
    const pid_t process = getpid();
    pid_t processes[3];
    REQUIRE(tutti_allgather(own.group, &process, processes, sizeof process) == TUTTI_OK);
    const bool permitted = !needs_names() && std::all_of(processes, processes + 3, may_read);
    int all = permitted ? 1 : 0;
    REQUIRE(tutti_allreduce(own.group, &all, &all, 1, TUTTI_INT32, TUTTI_MIN) == TUTTI_OK);
    std::vector<int> in(3 * count, rank), out(3 * count, -1);
    copied_by_system = 0;
    REQUIRE(tutti_alltoall(own.group, in.data(), out.data(), count * sizeof(int)) == TUTTI_OK);
    for (size_t i = 0; i < out.size(); ++i) REQUIRE(out[i] == static_cast<int>(i / count));
    REQUIRE(all == 1 ? copied_by_system >= 2 * count * sizeof(int) : copied_by_system == 0);
  });
  unsetenv("TUTTI_TABLE");
}

}  // namespace
