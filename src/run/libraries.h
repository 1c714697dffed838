// Where the dynamic linker would find a library, near enough to follow a program's libraries to its
// MPI.
//
// Looks in the places of ld.so(8) in its order: rpath (unless there is a runpath), LD_LIBRARY_PATH,
// runpath, the cache, the default directories. Not followed: an rpath inherited over several
// libraries, hwcaps subdirectories.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "run/elf.h"

namespace tutti::run {

class LibraryFinder {
 public:
  // Reads LD_LIBRARY_PATH and the linker's cache.
  LibraryFinder();

  // The file of a needed library; empty where it is nowhere. `user` is the file that needs it,
  // which lies at `path`.
  std::string find(const std::string& name, const ElfFile& user, const std::string& path) const;

 private:
  std::vector<std::string> library_path_;
  std::multimap<std::string, std::string> cache_;
};

}  // namespace tutti::run
