// Torch's own threads, which share long copies and reductions of the thread that makes a call.
//
// They are threads of the OpenMP runtime that torch's libraries have loaded. The runtime keeps a
// pool for each thread that opens a parallel region, so the pool is that of torch's operations in
// the calling thread. This file names functions of the runtime and does not include its header,
// because -fopenmp would link a second runtime, with pools of its own. The functions are null if
// torch has no OpenMP; every thread works alone then. GCC's and LLVM's runtimes have all of them.
#pragma once

#include <ATen/Parallel.h>

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstddef>
#include <vector>

#include "tutti/tutti.h"

extern "C" {
[[gnu::weak]] void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags);
[[gnu::weak]] int omp_get_num_threads(void);
[[gnu::weak]] int omp_get_proc_bind(void);
[[gnu::weak]] int omp_get_thread_num(void);
[[gnu::weak]] void omp_set_num_threads(int);
}

namespace tutti_torch {

// How often this process has been forked from one that used this extension.
inline std::atomic<int> forks{0};

inline bool has_openmp() {
  return GOMP_parallel != nullptr && omp_get_num_threads != nullptr &&
         omp_get_proc_bind != nullptr && omp_get_thread_num != nullptr &&
         omp_set_num_threads != nullptr;
}

// How many cores this process has beside the other ranks, the least of all its groups'.
inline std::atomic<int> cores_here{INT_MAX};

// Learns how many cores the rank has, if ranks that may use the same core share it equally. All
// ranks of a new group call it. A runtime that binds its threads has chosen cores for them.
inline tutti_status learn_cores(tutti_group* group, double seconds) {
  cpu_set_t own;
  CPU_ZERO(&own);
  const bool knows_own = sched_getaffinity(0, sizeof own, &own) == 0;
  std::vector<cpu_set_t> all(static_cast<size_t>(tutti_group_size(group)));
  tutti_request* request = nullptr;
  tutti_status status = tutti_iallgather(group, &own, all.data(), sizeof own, &request);
  if (status == TUTTI_OK) status = tutti_request_wait(&request, seconds);
  if (request != nullptr) tutti_request_free(&request);  // not complete in time
  if (!knows_own || !has_openmp() || omp_get_proc_bind() != 0) return status;
  if (status != TUTTI_OK) return status;
  double cores = 0;
  for (size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &own)) continue;
    const auto ranks = std::count_if(all.begin(), all.end(), [core](const cpu_set_t& one) {
      return CPU_ISSET(core, &one) != 0;
    });
    cores += 1.0 / static_cast<double>(ranks);
  }
  cores_here = std::min(cores_here.load(), std::max(static_cast<int>(cores + 0.01), 1));
  return status;
}

// The threads that may share the work of the calling thread. The runtime does not survive a fork,
// so a child whose parent has used it works alone. So does a rank with more threads than cores,
// because a parallel region lasts until the system has given each of them a core.
inline int threads_here(void*) {
  if (!has_openmp() || forks != 0 || at::in_parallel_region()) return 1;
  const int threads = at::get_num_threads();
  return threads <= cores_here ? threads : 1;
}

// The region has as many threads as torch's own, because the runtime ends those that a smaller one
// leaves out.
inline void run_by_threads(void*, int parts, void (*part)(void*, int), void* argument) {
  struct Call {
    int parts;
    void (*part)(void*, int);
    void* argument;
  } call{parts, part, argument};
  GOMP_parallel(
      [](void* data) {
        const Call& its = *static_cast<const Call*>(data);
        for (int number = omp_get_thread_num(); number < its.parts; number += omp_get_num_threads())
          its.part(its.argument, number);
      },
      &call, 0, 0);
}

inline constexpr tutti_parallel torch_threads = {threads_here, run_by_threads, nullptr};

// From now on the calling thread works alone, also in torch's operations: it makes no pool.
inline void stay_alone() {
  if (!has_openmp()) return;
  at::get_num_threads();  // torch sets the number in a thread's first call
  omp_set_num_threads(1);
}

}  // namespace tutti_torch
