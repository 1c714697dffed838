// The predefined datatypes and operations of the host MPI, as Tutti's kernels know them.
//
// Pure look-ups in tables that are made at first use and constant from then on; any thread. They
// serve the slow path: a communicator remembers what it has found (communicator.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/kernels.h"
#include "net/abi.h"

namespace tutti::mpi {

// What a type holds, as MPI tells types apart where it says which operations take them.
enum class TypeClass {
  integer,
  natural,
  fortran_integer,
  real,
  complex,
  logical,
  boolean,
  byte,
  character,
  pair
};

struct NamedType {
  std::optional<kernels::Type> kernel;  // none: moved, but never reduced by our kernels
  size_t bytes = 0;                     // of the type's signature
  bool dense = false;  // bytes is also its extent, so that a vector of it has no gaps
  TypeClass kind = TypeClass::character;
};

// A predefined type with a name, null where the handle is none.
const NamedType* named_type(MPI_Datatype type);
// Those and the ones that MPI makes on request and that count as predefined
// (MPI_Type_create_f90_real and its like, MPI_Type_get_value_index). For reductions by a predefined
// operation, which nothing else may have.
const NamedType* predefined_type(MPI_Datatype type);

// Whether MPI defines the operation for such elements (MPI 5.0, section 6.9.2).
bool takes(kernels::Op op, TypeClass kind);

// Types that MPI defines operations for and a host may lack them: a bit for each. 0 for types that
// every host has.
uint32_t rare_type_bit(const NamedType& type);
// The bits of those that this host cannot reduce. Set once, inside MPI_Init (host_lacks); until
// then, none is known to be missing.
uint32_t missing_types();
void set_missing_types(uint32_t bits);
// The types that the bits stand for; null handles where the host has none.
struct RareType {
  MPI_Datatype type;
  uint32_t bit;
};
std::vector<RareType> rare_types();

// The kernels' name of a predefined operation; nothing for a user's one.
std::optional<kernels::Op> named_op(MPI_Op op);
// True for the handles of MPI_REPLACE and MPI_NO_OP too, which no reduction takes.
bool predefined_op(MPI_Op op);

}  // namespace tutti::mpi
