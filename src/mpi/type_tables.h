// The tables of the host's named datatypes. Internal to types.cpp.
//
// Made at first use, constant from then on and never freed; any thread.
#pragma once

#include <map>

#include "mpi/types.h"

namespace tutti::mpi {

// What a Fortran or C type is made of decides its kernel; its size is the host's to say.
std::optional<kernels::Type> kernel_of(TypeClass kind, size_t bytes);

// C's types, and the pairs of C's types: all is known without asking the host.
const std::map<MPI_Datatype, NamedType>& c_types();

// Sizes of types that depend on the Fortran compiler's options are asked only of types that the user has: an MPI
// without Fortran raises an error for the others.
const std::map<MPI_Datatype, TypeClass>& fortran_types();

}  // namespace tutti::mpi
