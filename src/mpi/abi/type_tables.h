// The tables of the host's named datatypes. Internal to types.cpp.
//
// Made at first use, constant from then on and never freed; any thread.
#pragma once

#include <vector>

#include "mpi/abi/types.h"

namespace tutti::mpi {

// What a Fortran or C type is made of decides its kernel; its size is the host's to say.
std::optional<kernels::Type> kernel_of(TypeClass kind, size_t bytes);

// Of C's types all is known without asking the host. Sizes of types that depend on the Fortran
// compiler's options are asked only of types that the user has: an MPI without Fortran raises an
// error for the others.
struct TypeRow {
  MPI_Datatype handle;
  NamedType type;        // where its size is not known: its kind, and a pair's kernel
  bool is_sized = true;  // its size is known
};

const std::vector<TypeRow>& type_rows();
// By hash; null for any other handle.
const TypeRow* find_type_row(MPI_Datatype handle);

}  // namespace tutti::mpi
