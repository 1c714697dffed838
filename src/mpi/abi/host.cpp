#include "mpi/abi/host.h"

#include <dlfcn.h>
#include <link.h>
#include <strings.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/launched.h"
#include "base/log.h"
#include "mpi/abi/inside.h"
#include "mpi/abi/ledger.h"

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
  void* handle = RTLD_DEFAULT;  // of the scope in which all its symbols are found
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
  const bool open_mpi = dlsym(library().handle, "ompi_mpi_comm_world") != nullptr;
  const bool standard = name.starts_with("libmpi_abi") || name.starts_with("libpmpi_abi");
  switch (abi) {
    case Abi::openmpi: return open_mpi && !standard;
    case Abi::standard: return standard;
    case Abi::mpich: return !open_mpi && !standard && looks_like_mpi(name);
    case Abi::smpi: return name.starts_with("libsimgrid");
  }
  return false;
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

void find_functions(Host& host) {
  locate_makers(host.makers, [](auto& function, const char* name) { find_next(function, name); });
  locate_makers(host, [](auto& function, const char* name) {
    find_next(function, ("P" + std::string(name)).c_str());
  });
  locate_both(host, [&](auto& function, const char* name) {
    if (host.foreign) {
      find_next(function, name);
    } else {
      find_alone(function, name);
    }
  });
  locate_interposed(host, [&](auto& function, const char* name) {
    if (host.foreign) {
      find_next(function, name + 1);  // MPI_*, without the P
    } else {
      find(function, name);
    }
  });
  if (host.foreign) return;
  locate_own(host, [](auto& function, const char* name) { find(function, name); });
}

void find_handles(Host& host) {
  host.comm_null = MPI_COMM_NULL;
  host.comm_world = MPI_COMM_WORLD;
  host.comm_self = MPI_COMM_SELF;
  host.type_null = MPI_DATATYPE_NULL;
  host.type_byte = MPI_BYTE;
  host.type_packed = MPI_PACKED;
  host.type_uint64 = MPI_UINT64_T;
  host.op_null = MPI_OP_NULL;
  host.op_sum = MPI_SUM;
  host.op_min = MPI_MIN;
  host.op_max = MPI_MAX;
  host.info_null = MPI_INFO_NULL;
  host.group_null = MPI_GROUP_NULL;
}

// If the user has named the ABI, every call of the program is left to its MPI against the user's
// wish. Options are not read here, because a malformed one would end this call by an exception.
void say_foreign() {
  const char* const asked = getenv("TUTTI_MPI");
  const bool by_user = asked != nullptr && *asked != '\0' && strcasecmp(asked, "auto") != 0;
  if (by_user && launched_rank() != 0) return;
  log_line(by_user ? LogLevel::warning : LogLevel::info,
           "%s is no MPI of the ABI '%s'; its calls pass through%s", library().path.c_str(),
           std::string(abi_name).c_str(),
           by_user ? "; leave --mpi and TUTTI_MPI out, or name its ABI" : "");
}

Host* make_host() {
  if (library().path.empty()) {
    log_line(LogLevel::error,
             "lib%s.so finds no MPI library in this process; link the program to one",
             (std::string("tutti-") + std::string(abi_name)).c_str());
    _exit(2);
  }
  Host* host = new Host{};
  host->foreign = !speaks_our_abi();
  find_functions(*host);
  if (host->foreign) {
    say_foreign();
    return host;
  }
  find_handles(*host);
  keep_ledger(*host);
  return host;
}

}  // namespace

void* host_symbol(const char* name) { return dlsym(library().handle, name); }

bool host_tolerates_faults() {
  const auto* enabled = static_cast<const bool*>(host_symbol("ompi_ftmpi_enabled"));
  return enabled != nullptr && *enabled;
}

std::string host_version() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  host().Get_library_version(text.data(), &length);
  text.resize(static_cast<size_t>(length));
  return text;
}

constinit TUTTI_PER_THREAD int Inside::depth = 0;

shm::Word found_host{0};

const Host& find_host() {
  // Never destroyed: exit handlers may still call MPI.
  static const Host* const made = make_host();
  shm::publish(found_host, reinterpret_cast<uint64_t>(made));
  return *made;
}

}  // namespace tutti::mpi
