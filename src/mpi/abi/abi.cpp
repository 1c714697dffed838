#include "mpi/host/abi.h"

#include <algorithm>

#include "mpi/abi/abi_host.h"

namespace tutti::mpi {
namespace {

static_assert(MPI_SUCCESS == success);
static_assert(sizeof(MPI_Status) <= sizeof(Status) && alignof(MPI_Status) <= alignof(Status));
static_assert(sizeof(MPI_Request) == 4 || sizeof(MPI_Request) == 8);
static_assert(sizeof(MPI_Count) == sizeof(Count) && sizeof(MPI_Aint) == sizeof(Aint));

}  // namespace

const AbiFacts abi{
    .name = own::name,
    .is_open_mpi = own::is_open_mpi,
#ifdef TUTTI_LARGE_COUNTS
    .large_counts = true,
#else
    .large_counts = false,
#endif
    .in_place = MPI_IN_PLACE,
    .status_ignore = reinterpret_cast<Status*>(MPI_STATUS_IGNORE),
    .undefined = MPI_UNDEFINED,
    .proc_null = MPI_PROC_NULL,
    .any_source = MPI_ANY_SOURCE,
    .tag_ub = MPI_TAG_UB,
    .keyval_invalid = MPI_KEYVAL_INVALID,
    .comm_type_shared = MPI_COMM_TYPE_SHARED,
    .cart = MPI_CART,
    .graph = MPI_GRAPH,
    .dist_graph = MPI_DIST_GRAPH,
    .thread_single = MPI_THREAD_SINGLE,
    .thread_multiple = MPI_THREAD_MULTIPLE,
    .win_create_flavor = MPI_WIN_CREATE_FLAVOR,
    .win_flavor_allocate = MPI_WIN_FLAVOR_ALLOCATE,
    .err_arg = MPI_ERR_ARG,
    .err_comm = MPI_ERR_COMM,
    .err_count = MPI_ERR_COUNT,
    .err_no_mem = MPI_ERR_NO_MEM,
    .err_other = MPI_ERR_OTHER,
    .err_request = MPI_ERR_REQUEST,
    .err_truncate = MPI_ERR_TRUNCATE,
    .refusals = {MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_COMM, MPI_ERR_ROOT,
                 MPI_ERR_OP, MPI_ERR_ARG, MPI_ERR_RANK, MPI_ERR_GROUP, MPI_ERR_DIMS,
                 MPI_ERR_TOPOLOGY, MPI_ERR_TAG, MPI_ERR_INFO},
    .datatype_bytes = sizeof(MPI_Datatype),
    .request_bytes = sizeof(MPI_Request),
    .longest_version = MPI_MAX_LIBRARY_VERSION_STRING,
};

Datatype datatype_in(const void* array, size_t at) {
  return house<Datatype>(static_cast<const MPI_Datatype*>(array)[at]);
}

Comm comm_of(uint64_t number) { return house<Comm>(theirs<MPI_Comm>(Comm{number})); }

int source_of(const Status& status) {
  return reinterpret_cast<const MPI_Status&>(status).MPI_SOURCE;
}

}  // namespace tutti::mpi
