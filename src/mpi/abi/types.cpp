#include "mpi/host/types.h"

#include <link.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "mpi/host/host.h"
#include "mpi/abi/convert.h"
#include "mpi/abi/type_tables.h"

namespace tutti::mpi {
namespace {

using kernels::Type;

using Class = TypeClass;

size_t size_of(Datatype type) {
  if (const size_t known = own::bytes_in_handle(type); known > 0) return known;
  int bytes = 0;
  host().Type_size(type, &bytes);
  return bytes > 0 ? static_cast<size_t>(bytes) : 0;
}

NamedType sized(const TypeRow& row) {
  NamedType type = row.type;
  type.bytes = size_of(row.handle);
  if (type.kind != Class::pair) type.kernel = kernel_of(type.kind, type.bytes);
  if (type.kernel && kernels::size(*type.kernel) != type.bytes) type.kernel.reset();
  return type;
}

// The class of a type that MPI makes on request, by its combiner; nothing for any other type.
std::optional<Class> class_of_combiner(int combiner) {
  if (combiner == MPI_COMBINER_F90_INTEGER) return Class::fortran_integer;
  if (combiner == MPI_COMBINER_F90_REAL) return Class::real;
  if (combiner == MPI_COMBINER_F90_COMPLEX) return Class::complex;
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION > 0)
  if (combiner == MPI_COMBINER_VALUE_INDEX) return Class::pair;
#endif
  return std::nullopt;
}

std::optional<NamedType> type_on_request(Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  if (host().Type_get_envelope(type, &integers, &addresses, &types, &combiner) != success)
    return std::nullopt;
  const auto kind = class_of_combiner(combiner);
  if (!kind) return std::nullopt;
  const size_t bytes = size_of(type);
  return NamedType{kernel_of(*kind, bytes), bytes, *kind != Class::pair, *kind};
}

// The representations for which there is no kernel, and which a host's reductions may lack too.
// Types of MPI_Type_create_f90_* may also have them.
struct Rare {
  Class kind;
  size_t bytes;
};
constexpr Rare rare[] = {{Class::real, 2},
                         {Class::real, 16},
                         {Class::complex, 4},
                         {Class::complex, 32},
                         {Class::fortran_integer, 16}};

uint32_t missing = 0;

}  // namespace

const NamedType* named_type(Datatype type) {
  if (type == Datatype{} || type == host().type_null) return nullptr;
  const TypeRow* const row = find_type_row(type);
  if (row == nullptr || row->is_sized) return row == nullptr ? nullptr : &row->type;
  // Each thread asks the host once for the size of each type that it meets.
  static TUTTI_PER_THREAD std::map<Datatype, NamedType> met;
  const auto known = met.find(type);
  return known != met.end() ? &known->second : &met.emplace(type, sized(*row)).first->second;
}

const NamedType* predefined_type(Datatype type) {
  if (const NamedType* named = named_type(type)) return named;
  if (type == Datatype{} || type == host().type_null) return nullptr;
  // A program may not free such a type, so its handle never becomes another type's.
  static TUTTI_PER_THREAD std::map<Datatype, NamedType> met;
  const auto known = met.find(type);
  if (known != met.end()) return &known->second;
  const auto resolved = type_on_request(type);
  return resolved ? &met.emplace(type, *resolved).first->second : nullptr;
}

bool takes(kernels::Op op, TypeClass kind) {
  using kernels::Op;
  const bool integer = kind == Class::integer || kind == Class::natural;
  switch (op) {
    case Op::sum:
    case Op::prod:
      return integer || kind == Class::fortran_integer || kind == Class::real ||
             kind == Class::complex;
    case Op::max:
    case Op::min: return integer || kind == Class::fortran_integer || kind == Class::real;
    case Op::land:
    case Op::lor:
    case Op::lxor: return integer || kind == Class::logical || kind == Class::boolean;
    case Op::band:
    case Op::bor:
    case Op::bxor: return integer || kind == Class::fortran_integer || kind == Class::byte;
    case Op::maxloc:
    case Op::minloc: return kind == Class::pair;
    case Op::count_: break;
  }
  return false;
}

uint32_t rare_type_bit(const NamedType& type) {
  for (size_t i = 0; i < std::size(rare); ++i)
    if (rare[i].kind == type.kind && rare[i].bytes == type.bytes && !type.kernel)
      return uint32_t{1} << i;
  return 0;
}

std::vector<RareType> rare_types() {
  std::vector<RareType> found;
  for (const TypeRow& row : type_rows()) {
    if (row.is_sized) continue;
    if (const uint32_t bit = rare_type_bit(*named_type(row.handle)); bit != 0)
      found.push_back({row.handle, bit});
  }
  return found;
}

uint32_t missing_types() { return missing; }
void set_missing_types(uint32_t bits) { missing = bits; }

std::optional<kernels::Op> named_op(mpi::Op op) {
  using kernels::Op;
  static const auto& ops = *new std::map<mpi::Op, Op>{
      {house<mpi::Op>(MPI_SUM), Op::sum},       {house<mpi::Op>(MPI_PROD), Op::prod},
      {house<mpi::Op>(MPI_MAX), Op::max},       {house<mpi::Op>(MPI_MIN), Op::min},
      {house<mpi::Op>(MPI_LAND), Op::land},     {house<mpi::Op>(MPI_LOR), Op::lor},
      {house<mpi::Op>(MPI_LXOR), Op::lxor},     {house<mpi::Op>(MPI_BAND), Op::band},
      {house<mpi::Op>(MPI_BOR), Op::bor},       {house<mpi::Op>(MPI_BXOR), Op::bxor},
      {house<mpi::Op>(MPI_MAXLOC), Op::maxloc}, {house<mpi::Op>(MPI_MINLOC), Op::minloc}};
  const auto found = ops.find(op);
  if (found == ops.end()) return std::nullopt;
  return found->second;
}

std::string_view name_of(std::optional<kernels::Op> op) {
  static constexpr std::string_view names[] = {"MPI_SUM",  "MPI_PROD", "MPI_MAX",    "MPI_MIN",
                                               "MPI_LAND", "MPI_LOR",  "MPI_LXOR",   "MPI_BAND",
                                               "MPI_BOR",  "MPI_BXOR", "MPI_MAXLOC", "MPI_MINLOC"};
  static_assert(std::size(names) == static_cast<size_t>(kernels::Op::count_));
  return op ? names[static_cast<size_t>(*op)] : "an operation of the program's";
}

bool predefined_op(mpi::Op op) {
  return op == host().op_null || named_op(op).has_value() || own::is_op_of_host(op);
}

}  // namespace tutti::mpi
