// The four collectives: from an MPI call to the communicator's group, or to the host MPI.
//
// The inline functions are the path of short calls on predefined types: look up the communicator, look up the kernel,
// call the group. Whatever they do not serve goes to the functions of calls.cpp, which decide by what all ranks share
// (communicator, collective, bytes of the signature, operation); only wrong arguments are judged by one rank alone, and
// those are the host's. About 40 instructions from entry to group.
#pragma once

#include "base/error.h"
#include "mpi/book.h"

namespace tutti::mpi {

// Which of an entry point's two forms was called, and is handed on to the host.
enum class Form { plain, large };

int barrier_by_any(MPI_Comm communicator);
int bcast_by_any(void* data, MPI_Count count, MPI_Datatype type, int root, MPI_Comm communicator, Form form);
int reduce_by_any(const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                  MPI_Comm communicator, Form form);
int allreduce_by_any(const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm communicator,
                     Form form);

// What a host that does not judge arguments does with one vector as input and output: it works, as if in place. Then it
// must work here, because such a rank alone on the host would wait for ever. Set inside MPI_Init.
void tolerate_aliases();

// Errors are thrown before the rank arrives, and by all ranks alike; the general path meets them again.
[[gnu::always_inline]] inline int barrier(MPI_Comm communicator) {
  try {
    if (Communicator* known = ready_communicator(communicator)) [[likely]] return known->finish(known->group()->barrier());
  } catch (const Error&) {
  }
  return barrier_by_any(communicator);
}

[[gnu::always_inline]] inline int bcast(void* data, MPI_Count count, MPI_Datatype type, int root, MPI_Comm communicator, Form form) {
  try {
    if (Communicator* known = ready_communicator(communicator); known != nullptr) [[likely]] {
      const size_t element = known->dense_bytes(type);
      if (element != 0 && count > 0 && data != nullptr && root >= 0 && root < known->group()->ranks()) [[likely]]
        return known->finish(known->group()->bcast(data, static_cast<size_t>(count) * element, root));
    }
  } catch (const Error&) {
  }
  return bcast_by_any(data, count, type, root, communicator, form);
}

[[gnu::always_inline]] inline int allreduce(const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm communicator,
                     Form form) {
  try {
    if (Communicator* known = ready_communicator(communicator); known != nullptr) [[likely]] {
      const exec::Combine* combine = known->kernel(type, op);
      if (combine != nullptr && count > 0 && in != nullptr && out != nullptr && in != out && out != MPI_IN_PLACE)
          [[likely]] {
        if (in == MPI_IN_PLACE) in = out;
        return known->finish(known->group()->allreduce(in, out, static_cast<size_t>(count), *combine));
      }
    }
  } catch (const Error&) {
  }
  return allreduce_by_any(in, out, count, type, op, communicator, form);
}

[[gnu::always_inline]] inline int reduce(const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                  MPI_Comm communicator, Form form) {
  try {
    if (Communicator* known = ready_communicator(communicator); known != nullptr) [[likely]] {
      const exec::Combine* combine = known->kernel(type, op);
      const bool at_root = root == known->group()->rank();
      if (combine != nullptr && count > 0 && in != nullptr && root >= 0 && root < known->group()->ranks() &&
          in != (at_root ? out : MPI_IN_PLACE) && !(at_root && (out == nullptr || out == MPI_IN_PLACE))) [[likely]] {
        if (in == MPI_IN_PLACE) in = out;
        return known->finish(known->group()->reduce(in, at_root ? out : nullptr, static_cast<size_t>(count), *combine, root));
      }
    }
  } catch (const Error&) {
  }
  return reduce_by_any(in, out, count, type, op, root, communicator, form);
}

}  // namespace tutti::mpi
