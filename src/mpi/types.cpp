#include "mpi/types.h"

#include <complex>
#include <iterator>
#include <map>

#include "mpi/host.h"

namespace tutti::mpi {
namespace {

using kernels::Type;

using Class = TypeClass;

// What a Fortran or C type is made of decides its kernel; its size is the host's to say.
std::optional<Type> kernel_of(Class kind, size_t bytes) {
  switch (kind) {
    case Class::integer:
    case Class::fortran_integer:
      if (bytes == 1) return Type::int8;
      if (bytes == 2) return Type::int16;
      if (bytes == 4) return Type::int32;
      if (bytes == 8) return Type::int64;
      return std::nullopt;
    case Class::natural:
      if (bytes == 1) return Type::uint8;
      if (bytes == 2) return Type::uint16;
      if (bytes == 4) return Type::uint32;
      if (bytes == 8) return Type::uint64;
      return std::nullopt;
    case Class::logical:
      if (bytes == 1) return Type::logical8;
      if (bytes == 2) return Type::logical16;
      if (bytes == 4) return Type::logical32;
      if (bytes == 8) return Type::logical64;
      return std::nullopt;
    case Class::real:
      if (bytes == sizeof(float)) return Type::float32;
      if (bytes == sizeof(double)) return Type::float64;
      return std::nullopt;  // 16 bytes: binary128 of Fortran; long double has its own row
    case Class::complex:
      if (bytes == 2 * sizeof(float)) return Type::complex64;
      if (bytes == 2 * sizeof(double)) return Type::complex128;
      return std::nullopt;
    case Class::boolean: return bytes == 1 ? std::optional(Type::bool8) : std::nullopt;
    case Class::byte: return Type::byte;
    case Class::character:
    case Class::pair: return std::nullopt;
  }
  return std::nullopt;
}

struct Table {
  std::map<MPI_Datatype, NamedType> rows;

  // A handle that this host lacks equals the null handle or has no address.
  bool known(MPI_Datatype type) const { return type != MPI_Datatype{} && type != host().type_null; }

  // C types have the compiler's size, so the host need not be asked (an unknown type would raise an error).
  void c_type(MPI_Datatype type, Class kind, size_t bytes) {
    if (known(type)) rows[type] = {kernel_of(kind, bytes), bytes, true, kind};
  }
  void row(MPI_Datatype type, Class kind, Type kernel, size_t signature) {
    if (known(type)) rows[type] = {kernel, signature, signature == kernels::size(kernel), kind};
  }
  void pair(MPI_Datatype type, Type kernel, size_t signature) { row(type, Class::pair, kernel, signature); }
};

void add_c_integers(Table& table) {
  table.c_type(MPI_SIGNED_CHAR, Class::integer, 1);
  table.c_type(MPI_SHORT, Class::integer, sizeof(short));
  table.c_type(MPI_INT, Class::integer, sizeof(int));
  table.c_type(MPI_LONG, Class::integer, sizeof(long));
  table.c_type(MPI_LONG_LONG, Class::integer, sizeof(long long));
  table.c_type(MPI_UNSIGNED_CHAR, Class::natural, 1);
  table.c_type(MPI_UNSIGNED_SHORT, Class::natural, sizeof(short));
  table.c_type(MPI_UNSIGNED, Class::natural, sizeof(int));
  table.c_type(MPI_UNSIGNED_LONG, Class::natural, sizeof(long));
  table.c_type(MPI_UNSIGNED_LONG_LONG, Class::natural, sizeof(long long));
  table.c_type(MPI_INT8_T, Class::integer, 1);
  table.c_type(MPI_INT16_T, Class::integer, 2);
  table.c_type(MPI_INT32_T, Class::integer, 4);
  table.c_type(MPI_INT64_T, Class::integer, 8);
  table.c_type(MPI_UINT8_T, Class::natural, 1);
  table.c_type(MPI_UINT16_T, Class::natural, 2);
  table.c_type(MPI_UINT32_T, Class::natural, 4);
  table.c_type(MPI_UINT64_T, Class::natural, 8);
  table.c_type(MPI_AINT, Class::integer, sizeof(MPI_Aint));
  table.c_type(MPI_OFFSET, Class::integer, sizeof(MPI_Offset));
  table.c_type(MPI_COUNT, Class::integer, sizeof(MPI_Count));
}

void add_c_others(Table& table) {
  table.c_type(MPI_CHAR, Class::character, 1);
  table.c_type(MPI_WCHAR, Class::character, sizeof(wchar_t));
  table.c_type(MPI_PACKED, Class::character, 1);
  table.c_type(MPI_BYTE, Class::byte, 1);
  table.c_type(MPI_C_BOOL, Class::boolean, 1);
  table.c_type(MPI_CXX_BOOL, Class::boolean, sizeof(bool));
  table.c_type(MPI_FLOAT, Class::real, sizeof(float));
  table.c_type(MPI_DOUBLE, Class::real, sizeof(double));
  for (MPI_Datatype type : {MPI_C_FLOAT_COMPLEX, MPI_CXX_FLOAT_COMPLEX})
    table.c_type(type, Class::complex, sizeof(std::complex<float>));
  for (MPI_Datatype type : {MPI_C_DOUBLE_COMPLEX, MPI_CXX_DOUBLE_COMPLEX})
    table.c_type(type, Class::complex, sizeof(std::complex<double>));
  table.row(MPI_LONG_DOUBLE, Class::real, Type::float80, sizeof(long double));
  for (MPI_Datatype type : {MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX})
    table.row(type, Class::complex, Type::complex160, sizeof(std::complex<long double>));
}

void add_pairs(Table& table) {
  table.pair(MPI_FLOAT_INT, Type::float32_int, sizeof(float) + sizeof(int));
  table.pair(MPI_DOUBLE_INT, Type::float64_int, sizeof(double) + sizeof(int));
  if (sizeof(long) == 8)
    table.pair(MPI_LONG_INT, Type::int64_int, sizeof(long) + sizeof(int));
  else
    table.pair(MPI_LONG_INT, Type::int32_int, sizeof(long) + sizeof(int));
  table.pair(MPI_2INT, Type::int32_int, 2 * sizeof(int));
  table.pair(MPI_SHORT_INT, Type::int16_int, sizeof(short) + sizeof(int));
  table.pair(MPI_LONG_DOUBLE_INT, Type::float80_int, sizeof(long double) + sizeof(int));
}

// Sizes of types that depend on the Fortran compiler's options are asked only of types that the user has: an MPI
// without Fortran raises an error for the others.
const std::map<MPI_Datatype, Class>& fortran_types() {
  static const auto& types = *new std::map<MPI_Datatype, Class>{
      {MPI_CHARACTER, Class::character},
      {MPI_INTEGER, Class::fortran_integer},
      {MPI_INTEGER1, Class::fortran_integer},
      {MPI_INTEGER2, Class::fortran_integer},
      {MPI_INTEGER4, Class::fortran_integer},
      {MPI_INTEGER8, Class::fortran_integer},
      {MPI_REAL, Class::real},
      {MPI_REAL4, Class::real},
      {MPI_REAL8, Class::real},
      {MPI_REAL16, Class::real},
      {MPI_DOUBLE_PRECISION, Class::real},
      {MPI_COMPLEX, Class::complex},
      {MPI_DOUBLE_COMPLEX, Class::complex},
      {MPI_COMPLEX8, Class::complex},
      {MPI_COMPLEX16, Class::complex},
      {MPI_COMPLEX32, Class::complex},
      {MPI_LOGICAL, Class::logical},
#ifdef MPI_INTEGER16
      {MPI_INTEGER16, Class::fortran_integer},
#endif
#ifdef MPI_REAL2
      {MPI_REAL2, Class::real},
#endif
#ifdef MPI_COMPLEX4
      {MPI_COMPLEX4, Class::complex},
#endif
#ifdef MPI_LOGICAL1
      {MPI_LOGICAL1, Class::logical},
      {MPI_LOGICAL2, Class::logical},
      {MPI_LOGICAL4, Class::logical},
      {MPI_LOGICAL8, Class::logical},
#endif
#ifdef MPI_LOGICAL16
      {MPI_LOGICAL16, Class::logical},
#endif
  };
  return types;
}

Table make_table() {
  Table table;
  add_c_integers(table);
  add_c_others(table);
  add_pairs(table);
  return table;
}

const Table& table() {
  static const Table& made = *new Table(make_table());
  return made;
}

size_t size_of(MPI_Datatype type) {
  int bytes = 0;
  host().Type_size(type, &bytes);
  return bytes > 0 ? static_cast<size_t>(bytes) : 0;
}

// The Fortran pairs have no gaps; each is two of its part.
std::optional<Type> fortran_pair(MPI_Datatype type) {
  if (type == MPI_2REAL) return Type::float32_float32;
  if (type == MPI_2DOUBLE_PRECISION) return Type::float64_float64;
  if (type == MPI_2INTEGER) return Type::int32_int;
  return std::nullopt;
}

std::optional<NamedType> fortran_type(MPI_Datatype type) {
  if (const auto kernel = fortran_pair(type)) {
    const size_t bytes = size_of(type);
    return NamedType{bytes == kernels::size(*kernel) ? kernel : std::nullopt, bytes, true, Class::pair};
  }
  const auto found = fortran_types().find(type);
  if (found == fortran_types().end()) return std::nullopt;
  const size_t bytes = size_of(type);
  return NamedType{kernel_of(found->second, bytes), bytes, true, found->second};
}

// What the combiner of a type without a name says it is.
std::optional<Class> class_of_combiner(int combiner) {
  if (combiner == MPI_COMBINER_F90_INTEGER) return Class::fortran_integer;
  if (combiner == MPI_COMBINER_F90_REAL) return Class::real;
  if (combiner == MPI_COMBINER_F90_COMPLEX) return Class::complex;
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION > 0)
  if (combiner == MPI_COMBINER_VALUE_INDEX) return Class::pair;
#endif
  return std::nullopt;
}

std::optional<NamedType> type_on_request(MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  if (host().Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS) return std::nullopt;
  const auto kind = class_of_combiner(combiner);
  if (!kind) return std::nullopt;
  const size_t bytes = size_of(type);
  return NamedType{kernel_of(*kind, bytes), bytes, *kind != Class::pair, *kind};
}

// Representations that the kernels lack and hosts may lack; the types of MPI_Type_create_f90_* are of them too.
struct Rare {
  Class kind;
  size_t bytes;
};
constexpr Rare rare[] = {
    {Class::real, 2}, {Class::real, 16}, {Class::complex, 4}, {Class::complex, 32}, {Class::fortran_integer, 16}};

uint32_t missing = 0;

}  // namespace

const NamedType* named_type(MPI_Datatype type) {
  if (type == MPI_Datatype{} || type == host().type_null) return nullptr;
  const auto found = table().rows.find(type);
  if (found != table().rows.end()) return &found->second;
  // Fortran types are few and resolved by each thread that meets them.
  thread_local std::map<MPI_Datatype, NamedType> met;
  const auto known = met.find(type);
  if (known != met.end()) return &known->second;
  const auto resolved = fortran_type(type);
  return resolved ? &met.emplace(type, *resolved).first->second : nullptr;
}

const NamedType* predefined_type(MPI_Datatype type) {
  if (const NamedType* named = named_type(type)) return named;
  if (type == MPI_Datatype{} || type == host().type_null) return nullptr;
  // Nobody may free such a type, so its handle stays what it is.
  thread_local std::map<MPI_Datatype, NamedType> met;
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
    case Op::prod: return integer || kind == Class::fortran_integer || kind == Class::real || kind == Class::complex;
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
    if (rare[i].kind == type.kind && rare[i].bytes == type.bytes && !type.kernel) return uint32_t{1} << i;
  return 0;
}

std::vector<RareType> rare_types() {
  std::vector<RareType> found;
  for (const auto& [type, kind] : fortran_types())
    if (const NamedType* named = named_type(type))
      if (const uint32_t bit = rare_type_bit(*named); bit != 0) found.push_back({type, bit});
  return found;
}

uint32_t missing_types() { return missing; }
void set_missing_types(uint32_t bits) { missing = bits; }

std::optional<kernels::Op> named_op(MPI_Op op) {
  using kernels::Op;
  static const auto& ops = *new std::map<MPI_Op, Op>{
      {MPI_SUM, Op::sum},   {MPI_PROD, Op::prod}, {MPI_MAX, Op::max},   {MPI_MIN, Op::min},
      {MPI_LAND, Op::land}, {MPI_LOR, Op::lor},   {MPI_LXOR, Op::lxor}, {MPI_BAND, Op::band},
      {MPI_BOR, Op::bor},   {MPI_BXOR, Op::bxor}, {MPI_MAXLOC, Op::maxloc}, {MPI_MINLOC, Op::minloc}};
  const auto found = ops.find(op);
  if (found == ops.end()) return std::nullopt;
  return found->second;
}

bool predefined_op(MPI_Op op) {
  return named_op(op).has_value() || op == host().op_null || op == MPI_REPLACE || op == MPI_NO_OP;
}

}  // namespace tutti::mpi
