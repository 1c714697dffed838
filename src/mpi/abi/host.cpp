#include "mpi/host/host.h"

#include <dlfcn.h>
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
#include "mpi/host/interfaces.h"
#include "mpi/host/last_message.h"
#include "mpi/host/ledger.h"
#include "mpi/host/tools.h"

// The linker's names of the first and the last byte of this library.
extern "C" [[gnu::visibility("hidden")]] const char __ehdr_start, _end;

namespace tutti::mpi {
namespace {

// The file name of a library without its directory.
std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool looks_like_mpi(std::string_view path) {
  const std::string_view name = base_name(path);
  return (name.starts_with("libmpi") || name.starts_with("libpmpi")) &&
         name.find(".so") != name.npos;
}

// The host's library. Its data may have copies in the program, which the global scope finds, if the
// library is there at all: an interpreter loads its MPI into a scope of its own.
struct Library {
  void* data = RTLD_DEFAULT;  // where its data is found
  std::string path;           // empty: the process has no such library
  // The library and those that it needs, where no symbol of Tutti's is.
  void* functions = nullptr;
};

Library find_library() {
  Library library;
  const std::vector<Loaded> all = Loaded::all();
  const Loaded* const found = find_host_library(all);
  if (found == nullptr) return library;
  const bool is_program = found->path().empty();
  library.path = is_program ? "the program" : found->path();
  library.functions = dlopen(is_program ? nullptr : found->path().c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library.functions == nullptr) library.path.clear();
  if (dlsym(RTLD_DEFAULT, "PMPI_Initialized") == nullptr) library.data = library.functions;
  find_tools(all, *found);
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
       .open_mpi = dlsym(library().data, "ompi_mpi_comm_world") != nullptr,
       .standard = name.starts_with("libmpi_abi") || name.starts_with("libpmpi_abi")});
}

// True if the address is in this library. (dladdr would look at each symbol of the host's library,
// for each of the host's functions: half of Tutti's instructions in MPI_Init.)
bool is_own(void* address) {
  const auto place = reinterpret_cast<uintptr_t>(address);
  return place >= reinterpret_cast<uintptr_t>(&__ehdr_start) &&
         place < reinterpret_cast<uintptr_t>(&_end);
}

// Finds a function of the host's. A program with its own MPI may lack one that this library has.
template <class Function>
void find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(function_of_host(name));
}

// Finds the definition of a name that follows this library's: another interposer's or the host's.
template <class Function>
void find_next(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  if (function == nullptr) find(function, name);
}

// The function around which an entry point MPI_X notes something: a tool's, or the host's.
template <class Function>
void find_around(Function& function, const char* second_name, Interposed which) {
  void* const tools = tool_around(which);
  if (tools != nullptr)
    function = reinterpret_cast<Function>(tools);
  else
    find(function, second_name);
}

#define TUTTI_MAKER(name)                                                    \
  if (foreign) {                                                             \
    find_next(abi_functions.makers.name, "MPI_" #name);                      \
    find_next(abi_functions.name, "PMPI_" #name);                            \
  } else {                                                                   \
    find_around(abi_functions.makers.name, "PMPI_" #name, Interposed::name); \
    find(abi_functions.name, "PMPI_" #name);                                 \
  }
#define TUTTI_INTERPOSED(name)                    \
  if (foreign)                                    \
    find_next(abi_functions.name, "PMPI_" #name); \
  else                                            \
    find(abi_functions.name, "PMPI_" #name);
#define TUTTI_OF_HOST(name) \
  if (!foreign) find(abi_functions.name, "PMPI_" #name);

void find_functions(bool foreign) {
#include "mpi/host/host_names.inc.h"
  if (foreign) return;
  // Entry points call these.
  find_around(abi_functions.Init, "PMPI_Init", Interposed::Init);
  find_around(abi_functions.Init_thread, "PMPI_Init_thread", Interposed::Init_thread);
  find_around(abi_functions.Finalize, "PMPI_Finalize", Interposed::Finalize);
  find_around(abi_functions.Abort, "PMPI_Abort", Interposed::Abort);
  find_around(abi_functions.Session_init, "PMPI_Session_init", Interposed::Session_init);
  find_around(abi_functions.Session_finalize, "PMPI_Session_finalize",
              Interposed::Session_finalize);
}

// The function of the house's form that calls the function of the host in a place; null if the host
// has none.
template <auto place, class House>
void bridge(House& function) {
  using Theirs = std::remove_cvref_t<decltype(place())>;
  function = place() == nullptr ? nullptr : Bridge<place, House, Theirs>::call;
}

#define TUTTI_BRIDGE(name) bridge<[]() -> auto& { return abi_functions.name; }>(host.name);
#define TUTTI_MAKER(name) TUTTI_BRIDGE(name) TUTTI_BRIDGE(makers.name)
#define TUTTI_INTERPOSED TUTTI_BRIDGE
#define TUTTI_OF_HOST TUTTI_BRIDGE

void bridge_functions(Host& host) {
#include "mpi/host/host_names.inc.h"
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

void* function_of_host(const char* name) {
  void* const found = dlsym(library().functions, name);
  return found != nullptr && is_own(found) ? nullptr : found;
}

void* host_symbol(const char* name) { return dlsym(library().data, name); }

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
  shm::publish(messages_go_on, 1);
  return *made;
}

}  // namespace tutti::mpi
