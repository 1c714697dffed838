// Signals: words to which puts add the bytes that they have moved. Each piece of a put adds its
// own, after it was stored, so pieces may come in any order and from several ranks. A rank that
// knows how many bytes it gets waits until its signal is their sum, and nobody tells it more.
//
// The data and the signal lie in the target's shared heap, which whoever stores the data has
// mapped: an add to a word elsewhere would take more than the system's copies. Such a put cannot
// fail at its target, and it is executed once, because a second execution would add twice. So on a
// node its caller executes it, and not a server, which might die between the add and the
// completion.
#pragma once

#include <cstdint>
#include <string>

#include "rma/process_mover.h"
#include "shm/order.h"

namespace tutti::rma {

// Throws Error(invalid_argument) unless the bytes of a rank are in its heap, and Error(unavailable)
// if the heap has no bytes, because it is not reached. `name`: the argument's.
void require_in_heap(const Extent& heap, const Extent& bytes, const char* name, int rank);

// Names the purpose of a wait, after "has waited 10 s".
std::string describe_signal(const shm::Word& signal, uint64_t least);

}  // namespace tutti::rma
