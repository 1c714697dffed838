// The Fortran entry points of starting, testing and waiting: what requests.h adds, then the
// library's own routine with the program's arguments, which knows what Fortran's handles and
// statuses are like. Which of them would pass the C entry points by is told in fortran.cpp.
#include <vector>

#include "mpi/fortran.h"
#include "mpi/requests.h"

using namespace tutti;
using namespace tutti::mpi::fortran;
using mpi::Left;

namespace {

MPI_Request c_request(MPI_Fint handle) {
#if defined(TUTTI_ABI_MPICH)
  return handle;
#elif defined(TUTTI_ABI_OPENMPI)
  static const auto convert =
      reinterpret_cast<decltype(&PMPI_Request_f2c)>(mpi::host_symbol("PMPI_Request_f2c"));
  return convert(handle);
#else
  static const auto convert =
      reinterpret_cast<decltype(&PMPI_Request_fromint)>(mpi::host_symbol("PMPI_Request_fromint"));
  return convert(handle);
#endif
}

std::vector<MPI_Request> c_requests(int count, const MPI_Fint* handles) {
  std::vector<MPI_Request> requests;
  for (int i = 0; i < count; ++i) requests.push_back(c_request(handles[i]));
  return requests;
}

// The library's own routine; all arguments are by reference, the error code last.
template <class... Arguments>
int call(const char* name, Arguments*... arguments) {
  using Routine = void (*)(Arguments*..., MPI_Fint*);
  const auto routine = next_definition<Routine>(name);
  MPI_Fint code = MPI_ERR_OTHER;
  if (routine != nullptr) routine(arguments..., &code);
  return code;
}

Left show(int count, const MPI_Fint* handles) {
  if (!mpi::has_own_requests()) return {};
  const std::vector<MPI_Request> requests = c_requests(count, handles);
  return mpi::show_own(count, requests.data());
}

int complete(int count, const MPI_Fint* handles) {
  if (!mpi::has_own_requests()) return MPI_SUCCESS;
  const std::vector<MPI_Request> requests = c_requests(count, handles);
  return mpi::complete_own(count, requests.data());
}

int start(const char* name, MPI_Fint* request) {
  mpi::Persistent* const own =
      mpi::has_own_requests() ? mpi::own_request(c_request(*request)) : nullptr;
  if (own != nullptr) return own->start();
  return mpi::records_starts()
             ? mpi::start_by_host(c_request(*request), [&] { return call(name, request); })
             : call(name, request);
}

// Where ours are among them, each is started by itself, by the routine for one.
int start_all(const char* name, const char* name_of_one, MPI_Fint* count, MPI_Fint* requests) {
  if (!mpi::has_own_requests() && !mpi::records_starts()) return call(name, count, requests);
  for (MPI_Fint i = 0; i < *count; ++i)
    if (const int code = start(name_of_one, &requests[i]); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}

int free_request(const char* name, MPI_Fint* request) {
  const auto ended = mpi::has_own_requests() ? mpi::forget_request(c_request(*request)) : nullptr;
  if (mpi::records_starts()) mpi::forget_hosts_request(c_request(*request));
  return call(name, request);
}

int wait(const char* name, MPI_Fint* request, void* status) {
  if (const int code = complete(1, request); code != MPI_SUCCESS) return code;
  return call(name, request, status);
}

int wait_all(const char* name, MPI_Fint* count, MPI_Fint* requests, void* statuses) {
  if (const int code = complete(*count, requests); code != MPI_SUCCESS) return code;
  return call(name, count, requests, statuses);
}

int wait_any(const char* name, const char* name_of_test, MPI_Fint* count, MPI_Fint* requests,
             MPI_Fint* index, void* status) {
  if (mpi::has_own_requests()) {
    bool found = false;
    const std::vector<MPI_Request> own = c_requests(*count, requests);
    const int code = mpi::wait_with_own(*count, own.data(), &found, [&] {
      MPI_Fint flag = 0;
      const int said = call(name_of_test, count, requests, index, &flag, status);
      found = flag != 0 && *index != MPI_UNDEFINED;
      return said;
    });
    if (code != MPI_SUCCESS || found) return code;
  }
  return call(name, count, requests, index, status);
}

int wait_some(const char* name, const char* name_of_test, MPI_Fint* count, MPI_Fint* requests,
              MPI_Fint* completed, MPI_Fint* indices, void* statuses) {
  if (mpi::has_own_requests()) {
    bool found = false;
    const std::vector<MPI_Request> own = c_requests(*count, requests);
    const int code = mpi::wait_with_own(*count, own.data(), &found, [&] {
      const int said = call(name_of_test, count, requests, completed, indices, statuses);
      found = *completed != MPI_UNDEFINED && *completed > 0;
      return said;
    });
    if (code != MPI_SUCCESS || found) return code;
  }
  return call(name, count, requests, completed, indices, statuses);
}

// A test of all, or of one; `ask` calls the library's routine.
template <class Ask>
int test_with_own(int count, const MPI_Fint* handles, MPI_Fint* flag, bool tells, Ask ask) {
  if (!mpi::has_own_requests()) return ask();
  const std::vector<MPI_Request> requests = c_requests(count, handles);
  const Left left = mpi::take_own(count, requests.data());
  *flag = 0;
  if (left.code != MPI_SUCCESS || left.count > 0) return left.code;
  const int code = ask();
  if (tells && *flag != 0) mpi::note_told(count, requests.data());
  return code;
}

int test(const char* name, MPI_Fint* request, MPI_Fint* flag, void* status) {
  return test_with_own(1, request, flag, true, [&] { return call(name, request, flag, status); });
}

int get_status(const char* name, MPI_Fint* request, MPI_Fint* flag, void* status) {
  return test_with_own(1, request, flag, false, [&] { return call(name, request, flag, status); });
}

int test_all(const char* name, MPI_Fint* count, MPI_Fint* requests, MPI_Fint* flag,
             void* statuses) {
  return test_with_own(*count, requests, flag, true,
                       [&] { return call(name, count, requests, flag, statuses); });
}

int test_any(const char* name, MPI_Fint* count, MPI_Fint* requests, MPI_Fint* index, MPI_Fint* flag,
             void* status) {
  const Left left = show(*count, requests);
  if (left.code != MPI_SUCCESS) return left.code;
  const int code = call(name, count, requests, index, flag, status);
  if (code == MPI_SUCCESS && left.count > 0 && *index == MPI_UNDEFINED) *flag = 0;
  return code;
}

int test_some(const char* name, MPI_Fint* count, MPI_Fint* requests, MPI_Fint* completed,
              MPI_Fint* indices, void* statuses) {
  const Left left = show(*count, requests);
  if (left.code != MPI_SUCCESS) return left.code;
  const int code = call(name, count, requests, completed, indices, statuses);
  if (code == MPI_SUCCESS && left.count > 0 && *completed == MPI_UNDEFINED) *completed = 0;
  return code;
}

// For what needs the handles as C knows them, in memory of its own.
template <class Call>
void answer(MPI_Fint* error, Call&& call) {
  set(error, mpi::guarded(mpi::host().comm_self, call));
}

}  // namespace

#define TUTTI_STARTS(start_, startall_, request_free_)                               \
  TUTTI_ENTRY void start_(MPI_Fint* request, MPI_Fint* error) {                      \
    set(error, start(#start_, request));                                             \
  }                                                                                  \
  TUTTI_ENTRY void startall_(MPI_Fint* count, MPI_Fint* requests, MPI_Fint* error) { \
    set(error, start_all(#startall_, #start_, count, requests));                     \
  }                                                                                  \
  TUTTI_ENTRY void request_free_(MPI_Fint* request, MPI_Fint* error) {               \
    set(error, free_request(#request_free_, request));                               \
  }

#define TUTTI_TESTS(test_, testall_, testany_, testsome_, request_get_status_)                    \
  TUTTI_ENTRY void test_(MPI_Fint* request, MPI_Fint* flag, void* status, MPI_Fint* error) {      \
    answer(error, [&] { return test(#test_, request, flag, status); });                           \
  }                                                                                               \
  TUTTI_ENTRY void testall_(MPI_Fint* count, MPI_Fint* requests, MPI_Fint* flag, void* statuses,  \
                            MPI_Fint* error) {                                                    \
    answer(error, [&] { return test_all(#testall_, count, requests, flag, statuses); });          \
  }                                                                                               \
  TUTTI_ENTRY void testany_(MPI_Fint* count, MPI_Fint* requests, MPI_Fint* index, MPI_Fint* flag, \
                            void* status, MPI_Fint* error) {                                      \
    answer(error, [&] { return test_any(#testany_, count, requests, index, flag, status); });     \
  }                                                                                               \
  TUTTI_ENTRY void testsome_(MPI_Fint* count, MPI_Fint* requests, MPI_Fint* completed,            \
                             MPI_Fint* indices, void* statuses, MPI_Fint* error) {                \
    answer(error,                                                                                 \
           [&] { return test_some(#testsome_, count, requests, completed, indices, statuses); }); \
  }                                                                                               \
  TUTTI_ENTRY void request_get_status_(MPI_Fint* request, MPI_Fint* flag, void* status,           \
                                       MPI_Fint* error) {                                         \
    answer(error, [&] { return get_status(#request_get_status_, request, flag, status); });       \
  }

#define TUTTI_WAITS(wait_, waitall_, waitany_, waitsome_, testany_, testsome_)                     \
  TUTTI_ENTRY void wait_(MPI_Fint* request, void* status, MPI_Fint* error) {                       \
    answer(error, [&] { return wait(#wait_, request, status); });                                  \
  }                                                                                                \
  TUTTI_ENTRY void waitall_(MPI_Fint* count, MPI_Fint* requests, void* statuses,                   \
                            MPI_Fint* error) {                                                     \
    answer(error, [&] { return wait_all(#waitall_, count, requests, statuses); });                 \
  }                                                                                                \
  TUTTI_ENTRY void waitany_(MPI_Fint* count, MPI_Fint* requests, MPI_Fint* index, void* status,    \
                            MPI_Fint* error) {                                                     \
    answer(error, [&] { return wait_any(#waitany_, #testany_, count, requests, index, status); }); \
  }                                                                                                \
  TUTTI_ENTRY void waitsome_(MPI_Fint* count, MPI_Fint* requests, MPI_Fint* completed,             \
                             MPI_Fint* indices, void* statuses, MPI_Fint* error) {                 \
    answer(error, [&] {                                                                            \
      return wait_some(#waitsome_, #testsome_, count, requests, completed, indices, statuses);     \
    });                                                                                            \
  }

TUTTI_STARTS(mpi_start_f08_, mpi_startall_f08_, mpi_request_free_f08_)
TUTTI_TESTS(mpi_test_f08_, mpi_testall_f08_, mpi_testany_f08_, mpi_testsome_f08_,
            mpi_request_get_status_f08_)
TUTTI_WAITS(mpi_wait_f08_, mpi_waitall_f08_, mpi_waitany_f08_, mpi_waitsome_f08_, mpi_testany_f08_,
            mpi_testsome_f08_)

#if defined(TUTTI_ABI_OPENMPI)

TUTTI_STARTS(mpi_start_, mpi_startall_, mpi_request_free_)
TUTTI_TESTS(mpi_test_, mpi_testall_, mpi_testany_, mpi_testsome_, mpi_request_get_status_)
TUTTI_WAITS(mpi_wait_, mpi_waitall_, mpi_waitany_, mpi_waitsome_, mpi_testany_, mpi_testsome_)

#define TUTTI_OTHER_NAMES(routine, CAPITALS, ...)         \
  void CAPITALS(__VA_ARGS__) TUTTI_SAME_AS(#routine "_"); \
  void routine(__VA_ARGS__) TUTTI_SAME_AS(#routine "_");  \
  void routine##__(__VA_ARGS__) TUTTI_SAME_AS(#routine "_");

extern "C" {
TUTTI_OTHER_NAMES(mpi_start, MPI_START, MPI_Fint*, MPI_Fint*)
TUTTI_OTHER_NAMES(mpi_startall, MPI_STARTALL, MPI_Fint*, MPI_Fint*, MPI_Fint*)
TUTTI_OTHER_NAMES(mpi_request_free, MPI_REQUEST_FREE, MPI_Fint*, MPI_Fint*)
TUTTI_OTHER_NAMES(mpi_test, MPI_TEST, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*)
TUTTI_OTHER_NAMES(mpi_testall, MPI_TESTALL, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*)
TUTTI_OTHER_NAMES(mpi_testany, MPI_TESTANY, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*,
                  MPI_Fint*)
TUTTI_OTHER_NAMES(mpi_testsome, MPI_TESTSOME, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*,
                  MPI_Fint*)
TUTTI_OTHER_NAMES(mpi_request_get_status, MPI_REQUEST_GET_STATUS, MPI_Fint*, MPI_Fint*, void*,
                  MPI_Fint*)
TUTTI_OTHER_NAMES(mpi_wait, MPI_WAIT, MPI_Fint*, void*, MPI_Fint*)
TUTTI_OTHER_NAMES(mpi_waitall, MPI_WAITALL, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*)
TUTTI_OTHER_NAMES(mpi_waitany, MPI_WAITANY, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*)
TUTTI_OTHER_NAMES(mpi_waitsome, MPI_WAITSOME, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*,
                  MPI_Fint*)
}

#endif
