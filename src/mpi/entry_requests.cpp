// The C entry points of starting, testing and waiting, through which persistent collectives of
// Tutti's go on. What they add to the host's functions is told in requests.h.
#include "mpi/requests.h"

#define TUTTI_ENTRY extern "C" __attribute__((visibility("default")))

using namespace tutti;
using mpi::has_own_requests;
using mpi::host;
using mpi::Left;

TUTTI_ENTRY int MPI_Start(MPI_Request* request) { return mpi::start(request); }

TUTTI_ENTRY int MPI_Startall(int count, MPI_Request array_of_requests[]) {
  return mpi::start_all(count, array_of_requests);
}

TUTTI_ENTRY int MPI_Request_free(MPI_Request* request) { return mpi::free_request(request); }

TUTTI_ENTRY int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  if (has_own_requests())
    if (const int code = mpi::complete_own(1, request); code != MPI_SUCCESS) return code;
  return host().Wait(request, status);
}

TUTTI_ENTRY int MPI_Waitall(int count, MPI_Request array_of_requests[],
                            MPI_Status array_of_statuses[]) {
  if (has_own_requests())
    if (const int code = mpi::complete_own(count, array_of_requests); code != MPI_SUCCESS)
      return code;
  return host().Waitall(count, array_of_requests, array_of_statuses);
}

TUTTI_ENTRY int MPI_Waitany(int count, MPI_Request array_of_requests[], int* index,
                            MPI_Status* status) {
  if (has_own_requests()) {
    bool found = false;
    const int code = mpi::wait_with_own(count, array_of_requests, &found, [&] {
      int flag = 0;
      const int said = host().Testany(count, array_of_requests, index, &flag, status);
      found = flag != 0 && *index != MPI_UNDEFINED;
      return said;
    });
    if (code != MPI_SUCCESS || found) return code;
  }
  return host().Waitany(count, array_of_requests, index, status);
}

TUTTI_ENTRY int MPI_Waitsome(int incount, MPI_Request array_of_requests[], int* outcount,
                             int array_of_indices[], MPI_Status array_of_statuses[]) {
  if (has_own_requests()) {
    bool found = false;
    const int code = mpi::wait_with_own(incount, array_of_requests, &found, [&] {
      const int said = host().Testsome(incount, array_of_requests, outcount, array_of_indices,
                                       array_of_statuses);
      found = *outcount != MPI_UNDEFINED && *outcount > 0;
      return said;
    });
    if (code != MPI_SUCCESS || found) return code;
  }
  return host().Waitsome(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
}

TUTTI_ENTRY int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (has_own_requests()) {
    const Left left = mpi::take_own(1, request);
    *flag = 0;
    if (left.code != MPI_SUCCESS || left.count > 0) return left.code;
  }
  const int code = host().Test(request, flag, status);
  if (*flag != 0 && has_own_requests()) mpi::note_told(1, request);
  return code;
}

TUTTI_ENTRY int MPI_Testall(int count, MPI_Request array_of_requests[], int* flag,
                            MPI_Status array_of_statuses[]) {
  if (has_own_requests()) {
    const Left left = mpi::take_own(count, array_of_requests);
    *flag = 0;
    if (left.code != MPI_SUCCESS || left.count > 0) return left.code;
  }
  const int code = host().Testall(count, array_of_requests, flag, array_of_statuses);
  if (*flag != 0 && has_own_requests()) mpi::note_told(count, array_of_requests);
  return code;
}

// To the host ours are inactive while they are left: where it finds no other active one, it says
// that there is none.
TUTTI_ENTRY int MPI_Testany(int count, MPI_Request array_of_requests[], int* index, int* flag,
                            MPI_Status* status) {
  const Left left = has_own_requests() ? mpi::show_own(count, array_of_requests) : Left{};
  if (left.code != MPI_SUCCESS) return left.code;
  const int code = host().Testany(count, array_of_requests, index, flag, status);
  if (code == MPI_SUCCESS && left.count > 0 && *index == MPI_UNDEFINED) *flag = 0;
  return code;
}

TUTTI_ENTRY int MPI_Testsome(int incount, MPI_Request array_of_requests[], int* outcount,
                             int array_of_indices[], MPI_Status array_of_statuses[]) {
  const Left left = has_own_requests() ? mpi::show_own(incount, array_of_requests) : Left{};
  if (left.code != MPI_SUCCESS) return left.code;
  const int code =
      host().Testsome(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
  if (code == MPI_SUCCESS && left.count > 0 && *outcount == MPI_UNDEFINED) *outcount = 0;
  return code;
}

TUTTI_ENTRY int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  if (has_own_requests()) {
    const Left left = mpi::take_own(1, &request);
    *flag = 0;
    if (left.code != MPI_SUCCESS || left.count > 0) return left.code;
  }
  return host().Request_get_status(request, flag, status);
}

// Of MPI 4.1. Libraries look for them by name while they run (mpi4py does), and find these in an
// older MPI too, so here they work there as well, request by request; an inactive request then
// counts as complete, as in MPI_Request_get_status.
namespace {

// Of the requests, in their order, those that are complete; -1 where none is active.
int complete_ones(int count, const MPI_Request requests[], int most, int indices[],
                  MPI_Status* statuses, int* code) {
  int found = 0;
  bool any = false;
  for (int i = 0; i < count && found < most; ++i) {
    if (requests[i] == mpi::no_request()) continue;
    any = true;
    int flag = 0;
    *code = MPI_Request_get_status(
        requests[i], &flag, statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[found]);
    if (*code != MPI_SUCCESS) return found;
    if (flag != 0) indices[found++] = i;
  }
  return any ? found : -1;
}

}  // namespace

TUTTI_ENTRY int MPI_Request_get_status_all(int count, const MPI_Request array_of_requests[],
                                           int* flag, MPI_Status* array_of_statuses) {
  *flag = 1;
  if (host().Request_get_status_all == nullptr) {
    int code = MPI_SUCCESS;
    for (int i = 0; i < count && array_of_statuses != MPI_STATUSES_IGNORE; ++i)
      array_of_statuses[i].MPI_ERROR = MPI_SUCCESS;
    for (int i = 0; i < count && *flag != 0 && code == MPI_SUCCESS; ++i)
      code = MPI_Request_get_status(
          array_of_requests[i], flag,
          array_of_statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &array_of_statuses[i]);
    return code;
  }
  if (has_own_requests()) {
    const Left left = mpi::take_own(count, array_of_requests);
    *flag = 0;
    if (left.code != MPI_SUCCESS || left.count > 0) return left.code;
  }
  return host().Request_get_status_all(count, array_of_requests, flag, array_of_statuses);
}

TUTTI_ENTRY int MPI_Request_get_status_any(int count, const MPI_Request array_of_requests[],
                                           int* index, int* flag, MPI_Status* status) {
  if (host().Request_get_status_any == nullptr) {
    int code = MPI_SUCCESS;
    const int found = complete_ones(count, array_of_requests, 1, index, status, &code);
    *flag = found != 0;
    if (found >= 0) return code;
    *index = MPI_UNDEFINED;
    // An empty status, whose error is part of it, though functions of one status do not write that.
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = MPI_SUCCESS;
    return host().Request_get_status(mpi::no_request(), flag, status);
  }
  const Left left = has_own_requests() ? mpi::show_own(count, array_of_requests) : Left{};
  if (left.code != MPI_SUCCESS) return left.code;
  const int code = host().Request_get_status_any(count, array_of_requests, index, flag, status);
  if (code == MPI_SUCCESS && left.count > 0 && *index == MPI_UNDEFINED) *flag = 0;
  return code;
}

TUTTI_ENTRY int MPI_Request_get_status_some(int incount, const MPI_Request array_of_requests[],
                                            int* outcount, int array_of_indices[],
                                            MPI_Status* array_of_statuses) {
  if (host().Request_get_status_some == nullptr) {
    int code = MPI_SUCCESS;
    *outcount = complete_ones(incount, array_of_requests, incount, array_of_indices,
                              array_of_statuses, &code);
    if (*outcount < 0) *outcount = MPI_UNDEFINED;
    return code;
  }
  const Left left = has_own_requests() ? mpi::show_own(incount, array_of_requests) : Left{};
  if (left.code != MPI_SUCCESS) return left.code;
  const int code = host().Request_get_status_some(incount, array_of_requests, outcount,
                                                  array_of_indices, array_of_statuses);
  if (code == MPI_SUCCESS && left.count > 0 && *outcount == MPI_UNDEFINED) *outcount = 0;
  return code;
}
