// Starting, testing and waiting in Fortran: the step that requests.h adds, then the host library's
// routine with the program's arguments, because only this routine knows the form of Fortran's
// handles and statuses.
#include <vector>

#include "mpi/entry/fortran.h"
#include "mpi/requests/requests.h"

namespace tutti::mpi::fortran {
namespace {

int start_one(const char* name, MPI_Fint* request) {
  Persistent* const own = has_own_requests() ? own_request(c_request(*request)) : nullptr;
  if (own != nullptr) return own->start();
  if (!records_starts()) return call_next(name, request);
  return start_by_host(c_request(*request), [&] { return call_next(name, request); });
}

}  // namespace

void start(const char* name, MPI_Fint* request, MPI_Fint* error) {
  set(error, start_one(name, request));
}

// If some may be Tutti's, each request is started separately, by the routine for one.
void start_all(const char* name, const char* name_of_one, MPI_Fint* count, MPI_Fint* requests,
               MPI_Fint* error) {
  if (!has_own_requests() && !records_starts()) return set(error, call_next(name, count, requests));
  int code = MPI_SUCCESS;
  for (MPI_Fint i = 0; i < *count && code == MPI_SUCCESS; ++i)
    code = start_one(name_of_one, &requests[i]);
  set(error, code);
}

void free_request(const char* name, MPI_Fint* request, MPI_Fint* error) {
  const auto ended = has_own_requests() ? forget_request(c_request(*request)) : nullptr;
  if (records_starts()) forget_hosts_request(c_request(*request));
  set(error, call_next(name, request));
}

void wait_any(const char* name, const char* name_of_test, MPI_Fint* count, MPI_Fint* requests,
              MPI_Fint* index, void* status, MPI_Fint* error) {
  const auto test = [&](bool* found) {
    MPI_Fint flag = 0;
    const int code = call_next(name_of_test, count, requests, index, &flag, status);
    *found = flag != 0 && *index != MPI_UNDEFINED;
    return code;
  };
  answer(error, [&] {
    return wait_for_some(Handles{*count, requests}, test,
                         [&] { return call_next(name, count, requests, index, status); });
  });
}

void wait_some(const char* name, const char* name_of_test, MPI_Fint* count, MPI_Fint* requests,
               MPI_Fint* completed, MPI_Fint* indices, void* statuses, MPI_Fint* error) {
  const auto test = [&](bool* found) {
    const int code = call_next(name_of_test, count, requests, completed, indices, statuses);
    *found = *completed != MPI_UNDEFINED && *completed > 0;
    return code;
  };
  answer(error, [&] {
    return wait_for_some(Handles{*count, requests}, test, [&] {
      return call_next(name, count, requests, completed, indices, statuses);
    });
  });
}

}  // namespace tutti::mpi::fortran
