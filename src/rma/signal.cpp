#include "rma/signal.h"

#include <cinttypes>
#include <cstdio>

#include "base/error.h"

namespace tutti::rma {

void require_in_heap(const Extent& heap, const Extent& bytes, const char* name, int rank) {
  if (bytes.bytes == 0 || is_within(bytes, heap)) return;
  const std::string of_rank = " of rank " + std::to_string(rank);
  if (heap.bytes == 0)
    throw Error(Code::unavailable,
                "the shared heap" + of_rank +
                    " is not reached, or was not made, and puts with a signal need "
                    "it; TUTTI_REACH=auto, its default, reaches heaps, and "
                    "`tutti doctor` says more");
  throw Error(Code::invalid_argument,
              name + std::string(" is not within the shared heap") + of_rank +
                  ", where the memory of a put with a signal lies; take it from tutti_alloc there");
}

std::string describe_signal(const shm::Word& signal, uint64_t least) {
  char text[120];
  std::snprintf(text, sizeof text,
                "for puts to add to the signal at %p, which is %" PRIu64 " of %" PRIu64,
                static_cast<const void*>(&signal), shm::load_relaxed(signal), least);
  return text;
}

}  // namespace tutti::rma
