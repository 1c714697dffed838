// Compares what the ranks of a communicator pass to each collective (tutti-run --verify).
//
// Before a blocking collective, its ranks exchange which function they call and the arguments that
// must agree: root, bytes, the class of the type, operation. The exchange is a collective of the
// same communicator, served as any other, so it costs one more call. If the ranks differ,
// all of them get the same error, at the call. A non-blocking collective, and the making of a
// persistent one, must not wait: their exchange is non-blocking, and its result is judged at a
// later call of a collective, or in MPI_Finalize.
//
// Where parts may differ in length (v-forms, neighbourhoods), both ends of each part tell its
// length, in one more exchange. A blocking call needs a third one, so that all ranks get the error.
//
// The ranks of an intercommunicator compare their function with that of the other side. Any thread
// may call, one at a time for each communicator.
#pragma once

#include <functional>

#include "mpi/collectives/call.h"
#include "mpi/communicators/communicator.h"

namespace tutti::mpi {

inline constinit bool verifies_calls = false;  // set inside MPI_Init

// Returns success, or an error that was raised on the communicator. run(CALL) serves a call on the
// communicator and returns its code.
int verify(const Communicator& communicator, const Call& call, Comm comm,
           const std::function<int(const Call&)>& run);
int verify_start(const Call& call, Comm comm);
// For MPI_Finalize: judges what is still under way, and waits for it.
void end_verifying();

}  // namespace tutti::mpi
