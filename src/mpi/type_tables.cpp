#include "mpi/type_tables.h"

#include <complex>

#include "mpi/host.h"

namespace tutti::mpi {

using kernels::Type;
using Class = TypeClass;

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

namespace {

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

Table make_table() {
  Table table;
  add_c_integers(table);
  add_c_others(table);
  add_pairs(table);
  return table;
}

}  // namespace

const std::map<MPI_Datatype, NamedType>& c_types() {
  static const auto& made = *new Table(make_table());
  return made.rows;
}

const std::map<MPI_Datatype, TypeClass>& fortran_types() {
  static const auto& types = *new std::map<MPI_Datatype, TypeClass>{
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

}  // namespace tutti::mpi
