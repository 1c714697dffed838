#include "mpi/abi/type_tables.h"

#include <algorithm>
#include <bit>
#include <complex>
#include <initializer_list>
#include <utility>

#include "mpi/abi/convert.h"
#include "mpi/host/host.h"

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
  std::vector<TypeRow> rows;

  // A handle that this host lacks equals the null handle or has no address.
  bool known(Datatype type) const { return type != Datatype{} && type != host().type_null; }

  // C types have the compiler's size, so the host need not be asked (an unknown type would raise an
  // error).
  void c_type(MPI_Datatype type, Class kind, size_t bytes) {
    add(type, {kernel_of(kind, bytes), bytes, true, kind}, true);
  }
  void row(MPI_Datatype type, Class kind, Type kernel, size_t signature) {
    add(type, {kernel, signature, signature == kernels::size(kernel), kind}, true);
  }
  void pair(MPI_Datatype type, Type kernel, size_t signature) {
    row(type, Class::pair, kernel, signature);
  }
  void fortran(Class kind, std::initializer_list<MPI_Datatype> types) {
    for (const MPI_Datatype type : types) add(type, {{}, 0, true, kind}, false);
  }
  void fortran_pair(MPI_Datatype type, Type kernel) {
    add(type, {kernel, 0, true, Class::pair}, false);
  }

 private:
  // Several names may have one handle; the first row of a handle is kept.
  void add(MPI_Datatype handle, const NamedType& named, bool is_sized) {
    const auto type = house<Datatype>(handle);
    const auto same = [&](const TypeRow& row) { return row.handle == type; };
    if (known(type) && std::none_of(rows.begin(), rows.end(), same))
      rows.push_back({type, named, is_sized});
  }
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

// Fortran's pairs are two numbers of one type, so they have no gaps.
void add_fortran(Table& table) {
  table.fortran(Class::character, {MPI_CHARACTER});
  table.fortran(Class::fortran_integer,
                {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8});
  table.fortran(Class::real, {MPI_REAL, MPI_REAL4, MPI_REAL8, MPI_REAL16, MPI_DOUBLE_PRECISION});
  table.fortran(Class::complex,
                {MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16, MPI_COMPLEX32});
  table.fortran(Class::logical, {MPI_LOGICAL});
#ifdef MPI_INTEGER16
  table.fortran(Class::fortran_integer, {MPI_INTEGER16});
#endif
#ifdef MPI_REAL2
  table.fortran(Class::real, {MPI_REAL2});
#endif
#ifdef MPI_COMPLEX4
  table.fortran(Class::complex, {MPI_COMPLEX4});
#endif
#ifdef MPI_LOGICAL1
  table.fortran(Class::logical, {MPI_LOGICAL1, MPI_LOGICAL2, MPI_LOGICAL4, MPI_LOGICAL8});
#endif
#ifdef MPI_LOGICAL16
  table.fortran(Class::logical, {MPI_LOGICAL16});
#endif
  table.fortran_pair(MPI_2REAL, Type::float32_float32);
  table.fortran_pair(MPI_2DOUBLE_PRECISION, Type::float64_float64);
  table.fortran_pair(MPI_2INTEGER, Type::int32_int);
}

class Rows {
 public:
  Rows() {
    Table table;
    add_c_integers(table);
    add_c_others(table);
    add_pairs(table);
    add_fortran(table);
    rows_ = std::move(table.rows);
    places_.resize(std::bit_ceil(8 * rows_.size()));
    for (const TypeRow& row : rows_) {
      size_t at = first_place(row.handle);
      while (places_[at].row != nullptr) at = next(at);
      places_[at] = {row.handle, &row};
    }
  }
  const std::vector<TypeRow>& all() const { return rows_; }
  const TypeRow* find(Datatype handle) const {
    size_t at = first_place(handle);
    while (places_[at].handle != handle && places_[at].row != nullptr) at = next(at);
    return places_[at].row;
  }

 private:
  // A place of the hash table. At most an eighth of them are in use, so a search for a program's
  // own type, whose handle may have any hash, meets few other handles.
  struct Place {
    Datatype handle{};
    const TypeRow* row = nullptr;  // null: empty
  };

  // Handles are integers or addresses.
  size_t first_place(Datatype handle) const {
    return ((uint64_t)handle * 0x9E3779B97F4A7C15u) >> 32 & (places_.size() - 1);
  }
  size_t next(size_t at) const { return (at + 1) & (places_.size() - 1); }

  std::vector<TypeRow> rows_;
  std::vector<Place> places_;
};

const Rows& rows() {
  static const Rows& made = *new Rows;
  return made;
}

}  // namespace

const std::vector<TypeRow>& type_rows() { return rows().all(); }
const TypeRow* find_type_row(Datatype handle) { return rows().find(handle); }

}  // namespace tutti::mpi
