// Which MPI a program speaks: by the libraries that it needs, or, where it needs none (scripts,
// interpreters), by the launcher that started this process.
#pragma once

#include <string>
#include <vector>

#include "run/elf.h"

namespace tutti::run {

// What to preload. Several: the interposers find out by themselves which of them is meant, in this
// order.
struct Choice {
  std::vector<std::string> interposers;  // "mpich", "openmpi", "mpiabi"
  std::string unknown_mpi;               // the library of an MPI that no interposer serves
};

// The ABI of an MPI's library by its file name: empty for any other library, "?" for an MPI without
// interposer.
std::string abi_of_library(const std::string& name);

// Follows the libraries of a program. No interposer and no unknown MPI: it needs no MPI.
Choice mpi_of_program(const ElfFile& program, const std::string& path);

// By the environment that the launcher set; no interposer where it tells nothing.
Choice mpi_of_launcher();

}  // namespace tutti::run
