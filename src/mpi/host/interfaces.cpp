#include "mpi/host/interfaces.h"

#include "mpi/host/abi.h"
#include "mpi/host/host.h"
#include "mpi/host/inside.h"

namespace tutti::mpi {
namespace {

template <class Function>
bool find(const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(function_of_host(name));
  return *function != nullptr;
}

// The value of an integer among the host's control variables; 0 if it has none of this name. MPICH
// and the standard ABI have handles that are pointers.
int control_variable(const char* name) {
  constexpr int thread_multiple = 3;  // in MPICH and in the standard ABI
  int (*init)(int, int*) = nullptr;
  int (*get_index)(const char*, int*) = nullptr;
  int (*allocate)(int, void*, void**, int*) = nullptr;
  int (*read)(void*, void*) = nullptr;
  int (*release)(void**) = nullptr;
  int (*finalize)() = nullptr;
  if (!find("PMPI_T_init_thread", &init) || !find("PMPI_T_cvar_get_index", &get_index) ||
      !find("PMPI_T_cvar_handle_alloc", &allocate) || !find("PMPI_T_cvar_read", &read) ||
      !find("PMPI_T_cvar_handle_free", &release) || !find("PMPI_T_finalize", &finalize))
    return 0;
  const Inside inside;
  int provided = 0, index = -1, count = 0, value = 0;
  void* handle = nullptr;
  if (init(thread_multiple, &provided) != success) return 0;
  if (get_index(name, &index) == success && allocate(index, nullptr, &handle, &count) == success) {
    if (count != 1 || read(handle, &value) != success) value = 0;
    release(&handle);
  }
  finalize();
  return value;
}

}  // namespace

uint64_t interfaces_of_host() {
  if (abi.is_open_mpi || simulated) return 0;
  const int count = control_variable("MPIR_CVAR_CH4_NUM_VCIS");
  return count < 0 ? 0 : static_cast<uint64_t>(count);
}

}  // namespace tutti::mpi
