// Where the dynamic linker would find a library, near enough to follow a program's libraries to its
// MPI.
//
// It looks in the places of ld.so(8) in their order: rpath (unless there is a runpath),
// LD_LIBRARY_PATH, runpath, the cache, the default directories. It does not handle an rpath
// inherited over several libraries, nor hwcaps subdirectories. A LibraryFinder is constant after
// construction; any thread may use it.
#pragma once

#include <string>
#include <vector>

#include "run/elf.h"

namespace tutti::run {

class LibraryFinder {
 public:
  // Reads LD_LIBRARY_PATH and the linker's cache.
  LibraryFinder();

  // The file of a needed library; empty if there is none. `user` is the file that needs it, at
  // `path`.
  std::string find(const std::string& name, const ElfFile& user, const std::string& path) const;

 private:
  std::vector<std::string> library_path_;
  std::string cache_;
};

}  // namespace tutti::run
