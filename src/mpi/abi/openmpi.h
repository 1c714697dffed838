// The ABI of Open MPI. Its handles are addresses of its data.
#pragma once

#include <cstdint>
#include <string_view>

#include <link.h>

#define OMPI_SKIP_MPICXX 1
#define OMPI_OMIT_MPI1_COMPAT_DECLS 1
#include <mpi.h>
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) (static_cast<type>(::tutti::mpi::host_symbol(#global)))

namespace tutti::mpi::own {

constexpr std::string_view name = "openmpi";
constexpr bool is_open_mpi = true;

inline bool is_abi_of(const HostLibrary& library) { return library.open_mpi && !library.standard; }

// The host's library in memory, which holds its predefined operations.
struct Image {
  uintptr_t first = 0, end = 0;
};
inline Image image_of_host() {
  Image image{reinterpret_cast<uintptr_t>(MPI_SUM), 0};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* context) {
        Image& found = *static_cast<Image*>(context);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          const uintptr_t first = info->dlpi_addr + segment.p_vaddr;
          if (segment.p_type != PT_LOAD || found.first - first >= segment.p_memsz) continue;
          found = {first, first + segment.p_memsz};
          return 1;
        }
        return 0;
      },
      &image);
  return image;
}
inline bool is_op_of_host(Op op) {
  static const Image image = image_of_host();
  return static_cast<uint64_t>(op) - image.first < image.end - image.first;
}

// No handle of a type holds its size.
inline size_t bytes_in_handle(Datatype) { return 0; }

inline const int* unweighted() { return MPI_UNWEIGHTED; }
inline const int* weights_empty() { return MPI_WEIGHTS_EMPTY; }

}  // namespace tutti::mpi::own
