// An introduction: what a process tells the others of a team that forms, in the memory of their
// node. All members read all introductions, so they conclude the same from them.
//
// Introductions are in the first pages of the node's segment, all zero at first. Only the member
// writes its own. It is complete before the member tells rank 0 that it has attached to the
// segment; what is found out later is complete before the next Team::meet.
#pragma once

#include <cstdint>

#include "base/line.h"
#include "placement/cores.h"
#include "shm/doorbell.h"
#include "shm/heap.h"
#include "shm/order.h"
#include "topo/shape.h"

namespace tutti::team {

// A member's offer of its memory.
struct Offer {
  shm::Heap::Location heap{};
  // Random, and stored at `address` in the process. A member that reads it there has reached the
  // right process.
  uint64_t token[2]{};
  uint64_t address = 0;
  int64_t process = 0;
  uint64_t namespace_of_processes = 0;  // 0: unknown
  uint64_t heap_base = 0;
};

// This process's offer.
Offer make_offer();

// A member's answer: whether it reaches all others' heaps, all others' memory by the system's
// copies, and whether its malloc takes memory from its heap.
struct Works {
  bool direct, cma, shared_malloc;
};

// Rank 0's word on the segment: whether all members have attached to it.
enum class Attached : uint64_t { unknown, all, not_all };

struct alignas(line_size) Introduction {
  placement::Place place;
  Offer offer;
  Works works;            // found out later
  uint64_t levels_bytes;  // at rank 0, the length of the text of the levels; found out later
  topo::Shape shape;      // at rank 0, that of the node; found out later
  shm::Word met;          // how often the member has called Team::meet
  shm::Word attached;     // at rank 0: an Attached
  shm::Word left;         // 1: the member has left the team
  shm::Doorbell idle;     // the member sleeps on it (exec/idle.h)
};

}  // namespace tutti::team
