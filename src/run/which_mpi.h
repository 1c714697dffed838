// The MPI that a program uses. The libraries that the program needs name it; if it needs none
// (scripts, interpreters), the launcher that started this process does. Pure functions of files and
// the environment; one thread.
#pragma once

#include <string>
#include <vector>

#include "run/elf.h"

namespace tutti::run {

// The interposers to preload, in this order. If there are several, each finds out when it is loaded
// whether the MPI is its own.
struct Choice {
  std::vector<std::string> interposers;  // "mpich", "openmpi", "mpiabi"
  std::string unknown_mpi;               // the library of an MPI that no interposer serves
};

// The ABI of an MPI's library by its file name: empty for any other library, "?" for an MPI without
// an interposer.
std::string abi_of_library(const std::string& name);

// Follows the libraries of a program. If it needs no MPI, both members of the result are empty.
Choice mpi_of_program(const ElfFile& program, const std::string& path);

// Reads the environment that the launcher set. The result has no interposer if that tells nothing.
Choice mpi_of_launcher();

}  // namespace tutti::run
