// An exception inside a call becomes an MPI error of the call: memory runs out before a rank has
// entered the collective, in set-up, and in the middle.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "check.h"

extern "C" void* __libc_malloc(size_t);
extern "C" void* __libc_memalign(size_t, size_t);

namespace {

std::atomic<int> allocations_left{
    -1};  // of Tutti, from now on; all after them fail; negative: none does

bool of_tutti(const void* caller) {
  Dl_info info;
  return dladdr(caller, &info) != 0 && info.dli_fname != nullptr &&
         strstr(info.dli_fname, "libtutti-") != nullptr;
}

bool may_allocate(const void* caller) {
  if (allocations_left < 0 || !of_tutti(caller)) return true;
  if (allocations_left == 0) return false;
  --allocations_left;
  return true;
}

int class_of(int code) {
  int found = -1;
  MPI_Error_class(code, &found);
  return found;
}

// Launchers discard output that is in flight when a job is aborted.
void end_as_it_should() {
  printf("failed as it should\n");
  fflush(stdout);
  usleep(300000);
  MPI_Abort(MPI_COMM_WORLD, 7);
}

// Allows the call no allocation, then one, then two, until it succeeds; then the caller has its
// result. Returns how often it failed.
template <class Call>
int call_with_failures(const char* what, Call call) {
  for (int allocations = 0;; ++allocations) {
    CHECK(allocations < 10000, "%s never goes well", what);
    allocations_left = allocations;
    const int code = call();
    allocations_left = -1;
    if (code == MPI_SUCCESS) return allocations;
    CHECK(class_of(code) == MPI_ERR_NO_MEM, "%s: class %d", what, class_of(code));
  }
}

// Only rank 1 has no memory; the others wait in the same call, as they would for a late rank.
template <class Call>
void check_retries(const char* what, int at_least, Call call) {
  if (world_rank != 1) {
    CHECK(call() == MPI_SUCCESS, "%s", what);
    return;
  }
  const int failed = call_with_failures(what, call);
  CHECK(failed >= at_least, "%s failed %d times: it should allocate", what, failed);
}

// Failures before a rank has entered a collective are errors of that call only; the call may be
// made again.
void retried() {
  const int ranks = world_size;
  std::vector<int> in(static_cast<size_t>(2000 * ranks), 1), out(static_cast<size_t>(2000 * ranks));
  for (const int count : {1, 500, 2000}) {
    const int at_least = count == 1 ? 1 : 0;  // one program may serve several lengths
    check_retries("allreduce", at_least, [&] {
      return MPI_Allreduce(in.data(), out.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    });
    CHECK(out[0] == ranks && out[static_cast<size_t>(count) - 1] == ranks, "allreduce: %d", out[0]);
    check_retries("bcast", at_least,
                  [&] { return MPI_Bcast(out.data(), count, MPI_INT, ranks - 1, MPI_COMM_WORLD); });
    check_retries("alltoall", at_least, [&] {
      return MPI_Alltoall(in.data(), count, MPI_INT, out.data(), count, MPI_INT, MPI_COMM_WORLD);
    });
    CHECK(out[0] == 1, "alltoall: %d", out[0]);
  }
  // Types with gaps are packed into memory of Tutti's own.
  MPI_Datatype gaps;
  MPI_Type_vector(1000, 1, 2, MPI_INT, &gaps);
  MPI_Type_commit(&gaps);
  check_retries("bcast with gaps", 1,
                [&] { return MPI_Bcast(out.data(), 1, gaps, 0, MPI_COMM_WORLD); });
  std::vector<int> counts(static_cast<size_t>(ranks), 700), at(static_cast<size_t>(ranks), 0);
  for (int rank = 0; rank < ranks; ++rank) at[static_cast<size_t>(rank)] = 700 * rank;
  check_retries("allgatherv", 1, [&] {
    return MPI_Allgatherv(in.data(), 700, MPI_INT, out.data(), counts.data(), at.data(), MPI_INT,
                          MPI_COMM_WORLD);
  });
  MPI_Type_free(&gaps);
}

// Each allocation fails in turn while a communicator is made and while its first call sets it up.
// Making it succeeds in spite of that. If the call has not entered the host's collective, it may be
// made again and is then the first call. In set-up other ranks may be ahead of this rank: the
// communicator becomes unusable for it, and the host is not called.
void set_up_fails() {
  for (int allocations = 0; allocations < 1000; ++allocations) {
    MPI_Comm made;
    if (world_rank == 1) allocations_left = allocations;
    if (const int making = MPI_Comm_dup(MPI_COMM_WORLD, &made); making != MPI_SUCCESS) {
      allocations_left = -1;
      CHECK(class_of(making) == MPI_ERR_NO_MEM, "a communicator is made with %d allocations",
            allocations);
      CHECK(MPI_Barrier(made) == MPI_SUCCESS, "%s", "the others have made it");
      continue;
    }
    if (world_rank == 1) {
      const int code = MPI_Barrier(made);
      allocations_left = -1;
      CHECK(code != MPI_SUCCESS, "the first call went well with %d allocations", allocations);
      CHECK(class_of(code) == MPI_ERR_NO_MEM, "with %d allocations: class %d", allocations,
            class_of(code));
    }
    const int code = MPI_Barrier(made);
    if (code == MPI_SUCCESS) continue;
    int failed = 0;
    for (int call = 0; call < 3; ++call) failed += MPI_Barrier(made) != MPI_SUCCESS;
    CHECK(class_of(code) == MPI_ERR_OTHER && failed == 3,
          "after a failed set-up: class %d, %d of 3 calls failed", class_of(code), failed);
    CHECK(allocations > 0, "%s", "nothing was allocated before the host's call");
    end_as_it_should();
  }
}

// After a failure in the middle of a collective the communicator is unusable. If steps are traced,
// a thread's first operation allocates the memory for the trace, inside the operation.
void in_the_middle() {
  while (world_rank != 1) MPI_Barrier(MPI_COMM_WORLD);
  int code = MPI_SUCCESS;
  std::thread([&] {
    allocations_left = 0;
    code = MPI_Barrier(MPI_COMM_WORLD);
    allocations_left = -1;
  }).join();
  CHECK(class_of(code) == MPI_ERR_OTHER, "class %d", class_of(code));
  CHECK(MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS, "%s", "the communicator can be used");
  end_as_it_should();
}

}  // namespace

// The libraries call these functions too, because the program's definitions come first.
extern "C" void* malloc(size_t bytes) {
  return may_allocate(__builtin_return_address(0)) ? __libc_malloc(bytes) : nullptr;
}
extern "C" void* aligned_alloc(size_t alignment, size_t bytes) {
  return may_allocate(__builtin_return_address(0)) ? __libc_memalign(alignment, bytes) : nullptr;
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  set_up(MPI_COMM_WORLD);
  const char* const what = argv[1];
  if (strcmp(what, "retried") == 0) retried();
  if (strcmp(what, "set_up") == 0) set_up_fails();
  if (strcmp(what, "middle") == 0) in_the_middle();
  return finish();
}
