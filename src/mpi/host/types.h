// The predefined datatypes and operations of the host MPI, and the types and operations of Tutti's
// kernels that they correspond to.
//
// The tables are made at first use and are constant from then on; any thread may look something up.
// Only the slow path does, because a communicator remembers what it has found (communicator.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/kernels.h"
#include "mpi/host/abi.h"

namespace tutti::mpi {

// The class of a type's elements, which decides which predefined operations MPI defines for them.
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

// The properties of a predefined type.
struct NamedType {
  std::optional<kernels::Type> kernel;  // nothing: no kernel reduces it
  size_t bytes = 0;                     // bytes of the type's signature
  bool dense = false;                   // its extent is `bytes` too, so a vector of it has no gaps
  TypeClass kind = TypeClass::character;
};

// The predefined type with a name (MPI_INT, MPI_REAL and so on) that has this handle; null if there
// is none.
const NamedType* named_type(Datatype type);
// The same, but also finds the types that MPI makes on request and that count as predefined
// (MPI_Type_create_f90_real and its like, MPI_Type_get_value_index). A reduction by a predefined
// operation may have no other types.
const NamedType* predefined_type(Datatype type);

// True if MPI defines the operation for elements of the class (MPI 5.0, section 6.9.2).
bool takes(kernels::Op op, TypeClass kind);

// The bit of a type for which MPI defines reductions, but a host may lack them; 0 for a type that
// every host can reduce. Types of one class and size have one bit.
uint32_t rare_type_bit(const NamedType& type);
// The bits of the types that this process's host cannot reduce (probe.h). They are set once, inside
// MPI_Init; 0 until then.
uint32_t missing_types();
void set_missing_types(uint32_t bits);
// A named type that has such a bit.
struct RareType {
  Datatype type;
  uint32_t bit;
};
// All of this host.
std::vector<RareType> rare_types();

// The kernels' operation for a predefined one; nothing for any other.
std::optional<kernels::Op> named_op(Op op);
// MPI_SUM and so on; a text that says so for an operation of the program's own.
std::string_view name_of(std::optional<kernels::Op> op);
// True also for MPI_OP_NULL, MPI_REPLACE and MPI_NO_OP, which no reduction accepts.
bool predefined_op(Op op);

}  // namespace tutti::mpi
