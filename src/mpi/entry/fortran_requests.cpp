// Requests in Fortran: the step that requests.h adds, then the host library's routine with the
// program's arguments, because only this routine knows the form of Fortran's handles and statuses.
#include <vector>

#include "mpi/abi/held.h"
#include "mpi/abi/known_types.h"

#include "mpi/entry/fortran.h"
#include "mpi/requests/requests.h"

namespace tutti::mpi::fortran {
namespace {

int start_one(const char* name, MPI_Fint* request) {
  OwnRequest* const own = has_own_requests() ? own_request(c_request(*request)) : nullptr;
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
  const MPI_Request handle = c_request(*request);
  OwnRequest* const own = has_own_requests() ? own_request(handle) : nullptr;
  if (own != nullptr) {
    bool freed = false;
    const int code = free_own(*own, handle, &freed);
    if (freed) *request = fortran_request(no_request());
    return set(error, code);
  }
  if (records_starts()) forget_hosts_request(handle);
  set(error, call_next(name, request));
}

void cancel(const char* name, MPI_Fint* request, MPI_Fint* error) {
  OwnRequest* const own = has_own_requests() ? own_request(c_request(*request)) : nullptr;
  set(error, own != nullptr ? refuse_to_cancel(*own) : call_next(name, request));
}

namespace {

// The two ways in which a call may name one request, or some. Indices begin with 1. The host's
// routines for null requests, `test_all` and `wait_all`, write empty statuses and Fortran's true.
struct One {
  const char* test;
  const char* test_all;
  MPI_Fint* count;
  MPI_Fint* requests;
  MPI_Fint* index;
  MPI_Fint* flag;
  void* status;

  int ours(const std::vector<int>& which) const {
    *index = which[0] + 1;
    MPI_Fint none = fortran_request(no_request()), one = 1;
    return call_next(test_all, &one, &none, flag, status);
  }
  int hosts(bool& found) const {
    const int code = call_next(test, count, requests, index, flag, status);
    found = code == MPI_SUCCESS && *flag != 0 && *index != MPI_UNDEFINED;
    return code;
  }
};

struct Some {
  const char* test;
  const char* wait_all;
  MPI_Fint* count;
  MPI_Fint* requests;
  MPI_Fint* completed;
  MPI_Fint* indices;
  void* statuses;

  int ours(const std::vector<int>& which) const {
    *completed = static_cast<MPI_Fint>(which.size());
    for (size_t i = 0; i < which.size(); ++i) indices[i] = which[i] + 1;
    std::vector<MPI_Fint> none(which.size(), fortran_request(no_request()));
    return call_next(wait_all, completed, none.data(), statuses);
  }
  int hosts(bool& found) const {
    const int code = call_next(test, count, requests, completed, indices, statuses);
    found = *completed != MPI_UNDEFINED && *completed > 0;
    return code;
  }
};

template <class Way>
Named name_in_fortran(const Way& way, int most) {
  return name_some(
      Handles{*way.count, way.requests}, most,
      [&](const std::vector<int>& which) { return way.ours(which); },
      [&](bool& found) { return way.hosts(found); });
}

// Returns false if the host's own wait must be called.
template <class Way>
bool wait_in_fortran(const Way& way, int most, int* code) {
  return has_own_requests() && wait_for_some(
                                   Handles{*way.count, way.requests}, most, code,
                                   [&](const std::vector<int>& which) { return way.ours(which); },
                                   [&](bool& found) { return way.hosts(found); });
}

}  // namespace

void wait_any(const char* name, const char* test, const char* test_all, MPI_Fint* count,
              MPI_Fint* requests, MPI_Fint* index, void* status, MPI_Fint* error) {
  answer(error, [&] {
    int code = MPI_SUCCESS;
    MPI_Fint flag = 0;
    const One way{test, test_all, count, requests, index, &flag, status};
    if (wait_in_fortran(way, 1, &code)) return code;
    return call_next(name, count, requests, index, status);
  });
}

void wait_some(const char* name, const char* test, const char* wait_all, MPI_Fint* count,
               MPI_Fint* requests, MPI_Fint* completed, MPI_Fint* indices, void* statuses,
               MPI_Fint* error) {
  answer(error, [&] {
    int code = MPI_SUCCESS;
    const Some way{test, wait_all, count, requests, completed, indices, statuses};
    if (wait_in_fortran(way, *count, &code)) return code;
    return call_next(name, count, requests, completed, indices, statuses);
  });
}

// A logical is false if it is 0.
void test_any(const char* name, const char* test_all, MPI_Fint* count, MPI_Fint* requests,
              MPI_Fint* index, MPI_Fint* flag, void* status, MPI_Fint* error) {
  answer(error, [&] {
    if (!has_own_requests()) return call_next(name, count, requests, index, flag, status);
    const One way{name, test_all, count, requests, index, flag, status};
    const Named named = name_in_fortran(way, 1);
    if (!named.any && named.left > 0) {
      *flag = 0;
      *index = MPI_UNDEFINED;
    }
    return named.code;
  });
}

void test_some(const char* name, const char* wait_all, MPI_Fint* count, MPI_Fint* requests,
               MPI_Fint* completed, MPI_Fint* indices, void* statuses, MPI_Fint* error) {
  answer(error, [&] {
    if (!has_own_requests()) return call_next(name, count, requests, completed, indices, statuses);
    const Named named = name_in_fortran(
        Some{name, wait_all, count, requests, completed, indices, statuses}, *count);
    if (!named.any && named.left > 0) *completed = 0;
    return named.code;
  });
}

void free_type(const char* name, MPI_Fint* datatype, MPI_Fint* error) {
  const MPI_Datatype type = c_type(*datatype);
  if (!note_type_freed(type)) {
    forget_type(type);
    return set(error, call_next(name, datatype));
  }
  *datatype = fortran_type(host().type_null);
  set(error, MPI_SUCCESS);
}

void free_op(const char* name, MPI_Fint* op, MPI_Fint* error) {
  if (!note_op_freed(c_op(*op))) return set(error, call_next(name, op));
  *op = fortran_op(host().op_null);
  set(error, MPI_SUCCESS);
}

}  // namespace tutti::mpi::fortran
