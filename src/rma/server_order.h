// The order: what the owner of a server process tells it, and the server's answer. It is shared
// memory of the two until the server runs.
//
//   owner   writes the order, starts the program with it, and then permits (permitted = 1)
//   server  maps the memory, and answers that it runs, or why it cannot
//
// A plain layout, followed by the processing units and the memory of each rank.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rma/domain.h"
#include "rma/server_processes.h"
#include "shm/order.h"
#include "shm/segment.h"

namespace tutti::rma {

enum class Answer : uint64_t { none, runs, cannot };

struct ServerOrder {
  char version[32];  // the version of Tutti; both sides must have the same
  uint64_t bytes;    // bytes of the whole order
  shm::Word permitted;
  shm::Word answer;  // one of Answer
  char reason[256];  // why it cannot; ends with a zero byte

  int64_t owner;           // the process,
  uint64_t owner_started;  // and when it began (base/process.h)
  uint64_t token;          // an address in the owner,
  uint64_t token_value;    // where this is

  shm::Segment::Location segment;
  uint64_t offset;  // the domain's offset in the segment, in bytes
  DomainShape shape;
  int32_t place;
  int32_t polls;
  int32_t own_rank;
  int32_t units;
  int32_t ranks;

  static size_t bytes_for(int32_t units, int32_t ranks) {
    return sizeof(ServerOrder) + static_cast<size_t>(ranks) * sizeof(RankMemory) +
           static_cast<size_t>(units) * sizeof(int32_t);
  }
  RankMemory* rank_memory() { return reinterpret_cast<RankMemory*>(this + 1); }
  int32_t* unit_list() { return reinterpret_cast<int32_t*>(rank_memory() + ranks); }
};
static_assert(sizeof(ServerOrder) % alignof(RankMemory) == 0);

}  // namespace tutti::rma
