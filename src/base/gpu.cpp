#include "base/gpu.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <string_view>

namespace tutti::gpu {
namespace {

constexpr int looks_after_loading = 16;
constexpr int unending_looks = 1 << 20;

int least_looks = 0;  // 0, or unending_looks after never_rule_out(); written inside MPI_Init

// One library's functions. Names, numbers and signatures are those of its headers.
struct Runtime {
  bool (*owns)(const void* address);
  bool (*copy)(void* to, const void* from, size_t bytes);
};

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// The value of an entry of a library's dynamic section; 0: it has none.
ElfW(Addr) entry_of(const ElfW(Dyn) * dynamic, ElfW(Sxword) tag) {
  while (dynamic->d_tag != DT_NULL && dynamic->d_tag != tag) ++dynamic;
  return dynamic->d_tag == tag ? dynamic->d_un.d_ptr : 0;
}

// True if the library's own name or its file's is one of a GPU's.
bool is_of_gpu(const dl_phdr_info& library) {
  const auto has_name = [](std::string_view name) {
    name.remove_prefix(name.rfind('/') + 1);
    return name.starts_with("libcuda.so") || name.starts_with("libamdhip64.so");
  };
  if (library.dlpi_name != nullptr && has_name(library.dlpi_name)) return true;
  for (size_t i = 0; i < library.dlpi_phnum; ++i) {
    if (library.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* const dynamic =
        reinterpret_cast<const ElfW(Dyn)*>(library.dlpi_addr + library.dlpi_phdr[i].p_vaddr);
    const ElfW(Addr) names = entry_of(dynamic, DT_STRTAB), own = entry_of(dynamic, DT_SONAME);
    // Some machines keep an offset in the file, not an address.
    const ElfW(Addr) base = names < library.dlpi_addr ? library.dlpi_addr : 0;
    if (own != 0 && names != 0) return has_name(reinterpret_cast<const char*>(base + names + own));
  }
  return false;
}

// The names of all loaded libraries tell at once. dlopen() would look for each library, which is
// seldom there, in all directories of the system: a hundred system calls in MPI_Init.
bool some_are_of_gpu() {
  const auto look_at = [](dl_phdr_info* library, size_t, void*) {
    return static_cast<int>(is_of_gpu(*library));
  };
  return dl_iterate_phdr(look_at, nullptr) != 0;
}

// A library that the program has loaded; null if it has not. The handle is kept.
void* loaded(const char* name) { return dlopen(name, RTLD_LAZY | RTLD_NOLOAD); }

struct Cuda {
  using Pointer = uintptr_t;
  using Context = void*;
  static constexpr int of_context = 1, of_memory_type = 2, of_being_managed = 8,
                       of_device = 9;              // CUpointer_attribute
  static constexpr unsigned memory_of_device = 2;  // CUmemorytype
  static inline int (*attribute)(void* value, int which, Pointer);
  static inline int (*memcpy)(Pointer to, Pointer from, size_t);
  static inline int (*push)(Context);
  static inline int (*pop)(Context*);
  static inline int (*retain)(Context*, int device);
  static inline int (*synchronize)(void* stream);

  static bool load() {
    void* const library = loaded("libcuda.so.1");
    return library != nullptr && find(library, "cuPointerGetAttribute", attribute) &&
           find(library, "cuMemcpy", memcpy) && find(library, "cuCtxPushCurrent_v2", push) &&
           find(library, "cuCtxPopCurrent_v2", pop) &&
           find(library, "cuDevicePrimaryCtxRetain", retain) &&
           find(library, "cuStreamSynchronize", synchronize);
  }

  static bool owns(const void* address) {
    const auto pointer = reinterpret_cast<Pointer>(address);
    unsigned type = 0, managed = 0;
    if (attribute(&type, of_memory_type, pointer) != 0) return false;
    if (type == memory_of_device) return true;
    return attribute(&managed, of_being_managed, pointer) == 0 && managed != 0;
  }

  // The context to which an address belongs. Memory of a pool belongs to a device only.
  static Context context_of(const void* address) {
    const auto pointer = reinterpret_cast<Pointer>(address);
    Context context = nullptr;
    if (attribute(&context, of_context, pointer) == 0 && context != nullptr) return context;
    int device = 0;
    if (attribute(&device, of_device, pointer) != 0 || retain(&context, device) != 0)
      return nullptr;
    return context;
  }

  // The calling thread may have another current context, or none.
  static bool copy(void* to, const void* from, size_t bytes) {
    Context context = context_of(owns(to) ? to : from);
    if (context == nullptr || push(context) != 0) return false;
    void* const default_stream = nullptr;
    const bool copied =
        memcpy(reinterpret_cast<Pointer>(to), reinterpret_cast<Pointer>(from), bytes) == 0 &&
        synchronize(default_stream) == 0;
    return pop(&context) == 0 && copied;
  }
};

struct Hip {
  static constexpr int of_memory_type = 2;  // hipPointer_attribute
  static constexpr int by_addresses = 4;    // hipMemcpyDefault
  static inline int (*attribute)(void* value, int which, void*);
  static inline int (*memcpy)(void* to, const void* from, size_t, int kind);
  // The smallest hipMemoryType that is not memory of the host alone. Version 6 has renumbered them.
  static inline int least_of_device;

  static bool load() {
    void* library = nullptr;
    for (const char* name : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"})
      if (library == nullptr) library = loaded(name);
    int (*version_of)(int*) = nullptr;
    int version = 0;
    if (library == nullptr || !find(library, "hipPointerGetAttribute", attribute) ||
        !find(library, "hipMemcpy", memcpy) || !find(library, "hipRuntimeGetVersion", version_of) ||
        version_of(&version) != 0)
      return false;
    constexpr int version_6 = 60000000;
    least_of_device = version >= version_6 ? 2 : 1;
    return true;
  }

  static bool owns(const void* address) {
    int type = 0;
    return attribute(&type, of_memory_type, const_cast<void*>(address)) == 0 &&
           type >= least_of_device;
  }
  static bool copy(void* to, const void* from, size_t bytes) {
    return memcpy(to, from, bytes, by_addresses) == 0;
  }
};

template <class Library>
const Runtime* runtime_of() {
  static constexpr Runtime runtime{Library::owns, Library::copy};
  return Library::load() ? &runtime : nullptr;
}

std::atomic<const Runtime*> runtime{nullptr};

}  // namespace

bool look() {
  if (runtime.load() != nullptr) return true;
  if (least_looks > 0 && looks.load() <= least_looks) return false;
  const Runtime* found = nullptr;
  if (some_are_of_gpu()) {
    found = runtime_of<Cuda>();
    if (found == nullptr) found = runtime_of<Hip>();
  }
  if (found == nullptr) {
    looks.fetch_sub(1);
    return false;
  }
  runtime.store(found);
  looks.store(looks_after_loading);
  return true;
}

void look_after_start() {
  if (!look()) looks.store(least_looks);
}

void libraries_come() { looks.store(least_looks + looks_after_loading); }

void never_rule_out() {
  least_looks = unending_looks;
  looks.store(least_looks);
}

bool owns(const void* address) { return runtime.load()->owns(address); }
bool copy(void* to, const void* from, size_t bytes) {
  return runtime.load()->copy(to, from, bytes);
}

}  // namespace tutti::gpu
