// The memory of GPUs, as the driver's or runtime's library in this process tells: CUDA's libcuda
// (CUDA Driver API, sections 6.13 and 6.14) and ROCm's libamdhip64 (HIP runtime API). Nothing links
// to either, and neither is loaded: they are found where the program has loaded them.
//
// A pointer of a program is looked at only while such a library is in the process. Any thread may
// call these functions; none throws.
#pragma once

#include <atomic>
#include <cstddef>

namespace tutti::gpu {

// How often look() still looks for a library. After libraries_come() more than once, because
// another thread may be about to load them. Once one is there, or after never_rule_out(), this
// stays positive.
inline constinit std::atomic<int> looks{1};

// True if there is none, for a path that costs a load.
inline bool is_ruled_out() { return looks.load(std::memory_order_relaxed) <= 0; }
// True if there is such a library.
bool look();
inline bool is_there() { return !is_ruled_out() && look(); }
// Call it before the program loads libraries.
void libraries_come();
// From now on is_ruled_out() is false, for a reason that has nothing to do with GPUs: a caller that
// must see every call asks for it (mpi/host/tools.h).
void never_rule_out();
// Call it when MPI has begun, whose host may have loaded many: looks once, for all of them.
void look_after_start();

// True if the address is one of a GPU's memory, or of managed memory, which moves between GPU and
// host. The library must be there.
bool owns(const void* address);
// Copies, where either address may be a GPU's, and waits until it is done. False if the library
// fails.
bool copy(void* to, const void* from, size_t bytes);

}  // namespace tutti::gpu
