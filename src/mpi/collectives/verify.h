// Compares what the ranks of a communicator pass to each collective (tutti-run --verify).
//
// Compared are the function and the arguments that must agree: root, bytes, the class of the type,
// operation. The ranks of one node tell these in shared memory (exec/passed.h), and each waits for
// what the others tell before it enters the call. A call that the group knows, and whose program
// hears all ranks, need not wait: its lines show whether the calls differ, before anything is
// combined. Elsewhere the ranks exchange them by a collective of the same communicator, served as
// any other, so it costs one more call. If the ranks differ, all of them get the same error, at the
// call. A non-blocking collective, and the making of a persistent one, must not wait: their
// exchange is non-blocking, and its result is judged when the call completes at a rank, which may
// have to wait for others until then, as MPI allows; or at a later call of a collective, if that
// comes before.
//
// Where parts may differ in length (v-forms, neighbourhoods), both ends of each part tell its
// length, in one more exchange. A blocking call needs a third one, so that all ranks get the error.
//
// The ranks of an intercommunicator compare their function with that of the other side. Any thread
// may call, one at a time for each communicator.
#pragma once

#include <cstdint>
#include <functional>

#include "mpi/collectives/call.h"
#include "mpi/communicators/communicator.h"

namespace tutti::mpi {

inline constinit bool verifies_calls = false;  // set inside MPI_Init

// Before a call: returns success, or an error that was raised on the communicator. run(CALL) serves
// a call on the communicator and returns its code.
int verify(Communicator& communicator, const Call& call, Comm comm,
           const std::function<int(const Call&)>& run);
// True if run_verified may run the call instead, which a rank decides for itself.
bool verifies_while_it_runs(const group::KnownCall& known, const Call& call);
// Runs a call of a communicator whose ranks are on one node, with these buffers. Returns its code.
int run_verified(Communicator& communicator, group::KnownCall& known, const void* in, void* out,
                 const Call& call, Comm comm);
// Begins the comparison of a call that must not wait, which gets a number. When the call has
// completed at this rank, verify_end waits for the comparison and returns its result as above.
int verify_start(const Call& call, Comm comm, uint64_t* number);
bool verify_has_ended(uint64_t number);
int verify_end(uint64_t number);
// For MPI_Finalize: judges what is still under way, and waits for it.
void end_verifying();

}  // namespace tutti::mpi
