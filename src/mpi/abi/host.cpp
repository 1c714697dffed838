#include "mpi/host/host.h"

#include <dlfcn.h>
#include <link.h>
#include <strings.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <type_traits>

#include "base/launched.h"
#include "base/log.h"
#include "mpi/abi/abi_host.h"
#include "mpi/abi/bridge.h"
#include "mpi/host/inside.h"
#include "mpi/host/ledger.h"

namespace tutti::mpi {
namespace {

// The file name of a library without its directory.
std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool looks_like_mpi(std::string_view path) {
  const std::string_view name = base_name(path);
  return (name.starts_with("libmpi") || name.starts_with("libpmpi")) &&
         name.find(".so") != name.npos;
}

// The library that defines PMPI_Init. A program that is linked to its MPI has it in the global
// scope. An interpreter loads it into a scope of its own, where only a walk over all loaded
// libraries finds it. The walk is too slow for every look-up, so its result is kept.
struct Library {
  void* handle = RTLD_DEFAULT;  // the scope in which all its symbols are found
  std::string path;             // empty: the process has no such library
  // The library and those that it needs, where no symbol of this library is. Null if the program
  // itself has the MPI.
  void* alone = nullptr;
};

int inspect(dl_phdr_info* info, size_t, void* context) {
  Library& library = *static_cast<Library*>(context);
  if (info->dlpi_name == nullptr || !looks_like_mpi(info->dlpi_name)) return 0;
  void* handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return 0;
  if (dlsym(handle, "PMPI_Init") != nullptr) {
    library = {handle, info->dlpi_name, handle};  // stays open, because Host points into it
    return 1;
  }
  dlclose(handle);
  return 0;
}

Library find_library() {
  Library library;
  Dl_info info;
  if (void* init = dlsym(RTLD_DEFAULT, "PMPI_Init"); init != nullptr && dladdr(init, &info) != 0) {
    library.path = info.dli_fname;
    library.alone = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  } else {
    dl_iterate_phdr(inspect, &library);
  }
  return library;
}

const Library& library() {
  static const Library& found = *new Library(find_library());
  return found;
}

bool speaks_our_abi() {
  const std::string_view name = base_name(library().path);
  return own::is_abi_of(
      {.file = name,
       .named_mpi = looks_like_mpi(name),
       .open_mpi = dlsym(library().handle, "ompi_mpi_comm_world") != nullptr,
       .standard = name.starts_with("libmpi_abi") || name.starts_with("libpmpi_abi")});
}

template <class Function>
void find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library().handle, name));
}

// True if the address is in this library.
bool is_own(void* address) {
  Dl_info found, own;
  return dladdr(address, &found) != 0 && dladdr(&found_host, &own) != 0 &&
         found.dli_fbase == own.dli_fbase;
}

// Finds the definition of a name that follows this library's: another interposer's or the host's.
// If there is none, because the host lacks the function, the global scope may have this library's.
template <class Function>
void find_next(Function& function, const char* name) {
  void* next = dlsym(RTLD_NEXT, name);
  if (next == nullptr) next = dlsym(library().handle, name);
  if (next != nullptr && is_own(next)) next = nullptr;
  function = reinterpret_cast<Function>(next);
}

// Finds the host's definition of a name that this library and other interposers define as well.
template <class Function>
void find_alone(Function& function, const char* name) {
  if (library().alone == nullptr) return find_next(function, name);
  function = reinterpret_cast<Function>(dlsym(library().alone, name));
}

#define TUTTI_MAKER(name)                             \
  find_next(abi_functions.makers.name, "MPI_" #name); \
  find_next(abi_functions.name, "PMPI_" #name);
#define TUTTI_INTERPOSED_TWICE(name)              \
  if (foreign)                                    \
    find_next(abi_functions.name, "PMPI_" #name); \
  else                                            \
    find_alone(abi_functions.name, "PMPI_" #name);
#define TUTTI_INTERPOSED(name)                   \
  if (foreign)                                   \
    find_next(abi_functions.name, "MPI_" #name); \
  else                                           \
    find(abi_functions.name, "PMPI_" #name);
#define TUTTI_OF_HOST(name) \
  if (!foreign) find(abi_functions.name, "PMPI_" #name);

void find_functions(bool foreign) {
#include "mpi/abi/host_names.inc.h"
}

#undef TUTTI_MAKER
#undef TUTTI_INTERPOSED_TWICE
#undef TUTTI_INTERPOSED
#undef TUTTI_OF_HOST

// The function of the house's form that calls the function of the host in a place; null if the host
// has none.
template <auto place, class House>
void bridge(House& function) {
  using Theirs = std::remove_cvref_t<decltype(place())>;
  function = place() == nullptr ? nullptr : Bridge<place, House, Theirs>::call;
}

#define TUTTI_BRIDGE(name) bridge<[]() -> auto& { return abi_functions.name; }>(host.name);
#define TUTTI_MAKER(name) TUTTI_BRIDGE(name) TUTTI_BRIDGE(makers.name)
#define TUTTI_INTERPOSED_TWICE TUTTI_BRIDGE
#define TUTTI_INTERPOSED TUTTI_BRIDGE
#define TUTTI_OF_HOST TUTTI_BRIDGE

void bridge_functions(Host& host) {
#include "mpi/abi/host_names.inc.h"
}

void find_handles(Host& host) {
  host.comm_null = house<Comm>(MPI_COMM_NULL);
  host.comm_world = house<Comm>(MPI_COMM_WORLD);
  host.comm_self = house<Comm>(MPI_COMM_SELF);
  host.type_null = house<Datatype>(MPI_DATATYPE_NULL);
  host.type_byte = house<Datatype>(MPI_BYTE);
  host.type_packed = house<Datatype>(MPI_PACKED);
  host.type_uint64 = house<Datatype>(MPI_UINT64_T);
  host.op_null = house<Op>(MPI_OP_NULL);
  host.op_sum = house<Op>(MPI_SUM);
  host.op_min = house<Op>(MPI_MIN);
  host.op_max = house<Op>(MPI_MAX);
  host.info_null = house<Info>(MPI_INFO_NULL);
  host.group_null = house<Group>(MPI_GROUP_NULL);
  host.request_null = house<Request>(MPI_REQUEST_NULL);
  host.unweighted = own::unweighted();
  host.weights_empty = own::weights_empty();
}

// If the user has named the ABI, every call of the program is left to its MPI against the user's
// wish. Options are not read here, because a malformed one would end this call by an exception.
void say_foreign() {
  const char* const asked = getenv("TUTTI_MPI");
  const bool by_user = asked != nullptr && *asked != '\0' && strcasecmp(asked, "auto") != 0;
  if (by_user && launched_rank() != 0) return;
  log_line(by_user ? LogLevel::warning : LogLevel::info,
           "%s is no MPI of the ABI '%s'; its calls pass through%s", library().path.c_str(),
           std::string(abi.name).c_str(),
           by_user ? "; leave --mpi and TUTTI_MPI out, or name its ABI" : "");
}

Host* make_host() {
  if (library().path.empty()) {
    log_line(LogLevel::error,
             "lib%s.so finds no MPI library in this process; link the program to one",
             (std::string("tutti-") + std::string(abi.name)).c_str());
    _exit(2);
  }
  Host* host = new Host{};
  host->foreign = !speaks_our_abi();
  find_functions(host->foreign);
  if (!host->foreign) keep_ledger();
  bridge_functions(*host);
  if (host->foreign) {
    say_foreign();
    return host;
  }
  find_handles(*host);
  return host;
}

}  // namespace

void* host_symbol(const char* name) { return dlsym(library().handle, name); }

bool host_tolerates_faults() {
  const auto* enabled = static_cast<const bool*>(host_symbol("ompi_ftmpi_enabled"));
  return enabled != nullptr && *enabled;
}

namespace {

int copy_value(MPI_Comm, int, void*, void* value, void* copy, int* flag) {
  *static_cast<void**>(copy) = value;
  *flag = 1;
  return MPI_SUCCESS;
}
int copy_nothing(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}
// The state is the function to be called.
int end_value(MPI_Comm, int, void* value, void* state) {
  if (state != nullptr) reinterpret_cast<void (*)(void*)>(state)(value);
  return MPI_SUCCESS;
}

}  // namespace

void make_keyval(bool is_copied, void (*at_end)(void* value), int* keyval) {
  abi_host().Comm_create_keyval(is_copied ? copy_value : copy_nothing, end_value, keyval,
                                reinterpret_cast<void*>(at_end));
}

void* attribute_of(Comm handle, int keyval) {
  void* value = nullptr;
  int found = 0;
  const Inside inside;
  return host().Comm_get_attr(handle, keyval, &value, &found) == MPI_SUCCESS && found != 0
             ? value
             : nullptr;
}

std::string host_version() {
  std::string text(static_cast<size_t>(abi.longest_version), '\0');
  int length = 0;
  host().Get_library_version(text.data(), &length);
  text.resize(static_cast<size_t>(length));
  return text;
}

constinit TUTTI_PER_THREAD int Inside::depth = 0;

shm::Word found_host{0};
constinit AbiHost abi_functions{};

const Host& find_host() {
  // Never destroyed: exit handlers may still call MPI.
  static const Host* const made = make_host();
  shm::publish(found_host, reinterpret_cast<uint64_t>(made));
  return *made;
}

}  // namespace tutti::mpi
