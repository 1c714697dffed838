// The tables of the host's named datatypes. Internal to types.cpp.
//
// Made at first use, constant from then on and never freed; any thread.
#pragma once

#include <vector>

#include "mpi/host/types.h"

namespace tutti::mpi {

// The kernels' type for a class and a size; nothing if there is no kernel for it.
std::optional<kernels::Type> kernel_of(TypeClass kind, size_t bytes);

// A named type of this host. The sizes of C's types are known when the table is made. The sizes of
// Fortran's types depend on the Fortran compiler's options, so named_type() asks the host for them.
struct TypeRow {
  Datatype handle;
  NamedType type;  // without is_sized: `bytes` is 0, and only a pair has its kernel
  bool is_sized = true;
};

const std::vector<TypeRow>& type_rows();
// The row of a handle, by its hash; null if the handle is in no row.
const TypeRow* find_type_row(Datatype handle);

}  // namespace tutti::mpi
