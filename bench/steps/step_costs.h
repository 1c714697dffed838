// The costs of a program's steps between two cores, or among several that share a unit.
//
// Thread 0 is on the first core and reads what the next has written; of more threads, each reads
// what the next has written, which gives how a link is shared. The kernels are those with which
// collectives move data. Before each access the owners rewrite their buffers, so that the lines are
// modified in their caches, and all begin at one instant, as in a measurement of a collective.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "steps/core_state.h"

namespace tutti::bench {

// Rows of steps. Where others measure steps between their own repetitions, the rows say before
// which one, and on which of several lists of cores.
struct StepRows {
  int repetition = -1, unit = -1;  // below 0: there is none
  // `bytes` is 0 for steps without a length.
  void add(const std::string& step, size_t bytes, double nanoseconds) const;
  void add_steady(bool steady) const;

 private:
  void begin(const char* step, size_t bytes) const;
};

// The bytes of the accesses that are timed.
inline constexpr size_t step_lengths[] = {8,         64,         256,         1024,
                                          4096,      8192,       16 * 1024,   32 * 1024,
                                          64 * 1024, 256 * 1024, 1024 * 1024, 4096 * 1024};

// Adds rows of times, means of the middle half of many rounds: `hand_over` (one waits for the
// other), `exchange` (each for the other), `call`, `step`, and by bytes
// `copy`, `combine` (own data), `read`, `add` (another's), `add_same` (two at
// once, which read each other's and their own), `hand` (into a ring of slots with plain stores, and
// out of it by another, less the hand-over), with `hand_written` and `hand_read` (what of it the
// writer and the reader take), `hand_in_place` (the same through one buffer), `hand_past` (through
// the ring with stores past the cache; both with their two parts), `pipeline` (through the ring in
// segments of 16 KiB), `read_by_2`, `add_by_2` ... (by so many at once; of a combination of 4 KiB
// and more each does its part). Those between cores are missing for a single core. Throws
// Error(unavailable) if a thread cannot be bound to its core.
//
// `state`: the state of the cores in which they are measured; not known: the one in which they
// mostly are. A row `steady` says whether they stayed in it, or left it for too long.
void add_step_costs(const std::vector<int>& cores, const StepRows& rows, CoreTimes state = {});

}  // namespace tutti::bench
