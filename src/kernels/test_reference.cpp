#include "kernels/test_reference.h"

#include <cstring>
#include <limits>
#include <type_traits>

namespace tutti::kernels {
namespace {

template <class V, class I>
struct Pair {
  V value;
  I index;
};

template <class T>
struct Complex {
  T real;
  T imaginary;
};

template <class T>
struct As {
  using type = T;
};

// Calls `use` with the C type of `type`.
template <class Use>
void with_type(Type type, Use use) {
  switch (type) {
    case Type::int8: return use(As<int8_t>{});
    case Type::int16: return use(As<int16_t>{});
    case Type::int32: return use(As<int32_t>{});
    case Type::int64: return use(As<int64_t>{});
    case Type::uint8:
    case Type::bool8:
    case Type::logical8:
    case Type::byte: return use(As<uint8_t>{});
    case Type::uint16:
    case Type::logical16: return use(As<uint16_t>{});
    case Type::uint32:
    case Type::logical32: return use(As<uint32_t>{});
    case Type::uint64:
    case Type::logical64: return use(As<uint64_t>{});
    case Type::float32: return use(As<float>{});
    case Type::float64: return use(As<double>{});
    case Type::float80: return use(As<long double>{});
    case Type::complex64: return use(As<Complex<float>>{});
    case Type::complex128: return use(As<Complex<double>>{});
    case Type::complex160: return use(As<Complex<long double>>{});
    case Type::float32_int: return use(As<Pair<float, int>>{});
    case Type::float64_int: return use(As<Pair<double, int>>{});
    case Type::int64_int: return use(As<Pair<int64_t, int>>{});
    case Type::int32_int: return use(As<Pair<int32_t, int>>{});
    case Type::int16_int: return use(As<Pair<int16_t, int>>{});
    case Type::float80_int: return use(As<Pair<long double, int>>{});
    case Type::float32_float32: return use(As<Pair<float, float>>{});
    case Type::float64_float64: return use(As<Pair<double, double>>{});
    case Type::count_: break;
  }
}

// Members are loaded and stored one by one; the padding of a long double and of a pair is not
// touched.
template <class T>
T read(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void write(void* to, T value) {
  const bool is_x87 = std::is_same_v<T, long double> && std::numeric_limits<T>::digits == 64;
  std::memcpy(to, &value, is_x87 ? 10 : sizeof value);
}

template <class T>
void integer_one(Op op, void* dst, T x, T y) {
  using U = std::make_unsigned_t<T>;
  // The arithmetic is modulo 2^128; its low bits are the result modulo 2^bits.
  const auto wide_x = static_cast<unsigned __int128>(x), wide_y = static_cast<unsigned __int128>(y);
  switch (op) {
    case Op::sum: return write(dst, static_cast<U>(wide_x + wide_y));
    case Op::prod: return write(dst, static_cast<U>(wide_x * wide_y));
    case Op::max: return write(dst, x > y ? x : y);
    case Op::min: return write(dst, x < y ? x : y);
    case Op::land: return write(dst, static_cast<T>(x && y));
    case Op::lor: return write(dst, static_cast<T>(x || y));
    case Op::lxor: return write(dst, static_cast<T>(!x != !y));
    case Op::band: return write(dst, static_cast<T>(x & y));
    case Op::bor: return write(dst, static_cast<T>(x | y));
    case Op::bxor: return write(dst, static_cast<T>(x ^ y));
    default: return;
  }
}

// If both operands are NaNs, the first one is the result: adding or multiplying it with itself
// makes it quiet and keeps its bits.
template <class T>
void float_one(Op op, void* dst, T x, T y) {
  const T second = x != x ? x : y;
  switch (op) {
    case Op::sum: return write(dst, static_cast<T>(x + second));
    case Op::prod: return write(dst, static_cast<T>(x * second));
    case Op::max: return write(dst, x > y ? x : y);
    case Op::min: return write(dst, x < y ? x : y);
    default: return;
  }
}

template <class T>
T plain_nan(T value) {
  return value != value ? std::numeric_limits<T>::quiet_NaN() : value;
}

template <class T>
void one(As<T>, Op op, void* dst, const void* a, const void* b) {
  if constexpr (std::is_integral_v<T>)
    integer_one(op, dst, read<T>(a), read<T>(b));
  else
    float_one(op, dst, read<T>(a), read<T>(b));
}

template <class T>
void one(As<Complex<T>>, Op op, void* dst, const void* a, const void* b) {
  const auto x = read<Complex<T>>(a), y = read<Complex<T>>(b);
  auto* imaginary = static_cast<unsigned char*>(dst) + offsetof(Complex<T>, imaginary);
  if (op == Op::sum) {
    float_one(op, dst, x.real, y.real);
    float_one(op, imaginary, x.imaginary, y.imaginary);
  } else if (op == Op::prod) {
    write(dst, plain_nan<T>(x.real * y.real - x.imaginary * y.imaginary));
    write(imaginary, plain_nan<T>(x.real * y.imaginary + x.imaginary * y.real));
  }
}

template <class V, class I>
void one(As<Pair<V, I>>, Op op, void* dst, const void* a, const void* b) {
  using P = Pair<V, I>;
  const P x = read<P>(a), y = read<P>(b);
  const bool first_wins = op == Op::maxloc ? x.value > y.value : x.value < y.value;
  const I lower = x.index < y.index ? x.index : y.index;
  write(dst, first_wins ? x.value : y.value);
  const I of_winner = first_wins ? x.index : y.index;
  write(static_cast<unsigned char*>(dst) + offsetof(P, index),
        x.value == y.value ? lower : of_winner);
}

template <class T>
T troublesome(std::mt19937_64& random) {
  const uint64_t choice = random() % 24;
  if constexpr (std::is_integral_v<T>) {
    if (choice < 4) return static_cast<T>(choice);  // truth values and ties
    if (choice == 4) return std::numeric_limits<T>::min();
    if (choice == 5) return std::numeric_limits<T>::max();
    return static_cast<T>(random());
  } else {
    using Limits = std::numeric_limits<T>;
    if (choice < 6) {
      const T values[] = {0,
                          Limits::infinity(),
                          Limits::quiet_NaN(),
                          Limits::min(),
                          Limits::max(),
                          Limits::denorm_min()};
      return random() % 2 ? values[choice] : -values[choice];
    }
    if (choice < 10) return static_cast<T>(static_cast<int>(choice) - 8);  // ties
    if (choice < 13) {
      const float payloads[] = {__builtin_nanf("1"), __builtin_nanf("0x1234"),
                                __builtin_nanf("0x3fffff")};
      const T nan = static_cast<T>(payloads[choice - 10]);
      return random() % 2 ? nan : -nan;
    }
    const T fraction = static_cast<T>(random() >> 11) / static_cast<T>(uint64_t{1} << 53);
    return (fraction - T(0.5)) * static_cast<T>(random() % 1000);
  }
}

template <class T>
void fill(As<T>, void* element, std::mt19937_64& random) {
  write(element, troublesome<T>(random));
}
template <class T>
void fill(As<Complex<T>>, void* element, std::mt19937_64& random) {
  write(element, troublesome<T>(random));
  write(static_cast<unsigned char*>(element) + offsetof(Complex<T>, imaginary),
        troublesome<T>(random));
}
template <class V, class I>
void fill(As<Pair<V, I>>, void* element, std::mt19937_64& random) {
  using P = Pair<V, I>;
  write(element, troublesome<V>(random));
  write(static_cast<unsigned char*>(element) + offsetof(P, index), static_cast<I>(random() % 1000));
}

enum class Class { integer, floating, complex, logical, byte, pair };

Class class_of(Type type) {
  switch (type) {
    case Type::float32:
    case Type::float64:
    case Type::float80: return Class::floating;
    case Type::complex64:
    case Type::complex128:
    case Type::complex160: return Class::complex;
    case Type::bool8:
    case Type::logical8:
    case Type::logical16:
    case Type::logical32:
    case Type::logical64: return Class::logical;
    case Type::byte: return Class::byte;
    default: return type < Type::float32 ? Class::integer : Class::pair;
  }
}

}  // namespace

bool is_defined(Type type, Op op) {
  const Class of = class_of(type);
  switch (op) {
    case Op::max:
    case Op::min: return of == Class::integer || of == Class::floating;
    case Op::sum:
    case Op::prod: return of == Class::integer || of == Class::floating || of == Class::complex;
    case Op::land:
    case Op::lor:
    case Op::lxor: return of == Class::integer || of == Class::logical;
    case Op::band:
    case Op::bor:
    case Op::bxor: return of == Class::integer || of == Class::byte;
    case Op::maxloc:
    case Op::minloc: return of == Class::pair;
    case Op::count_: break;
  }
  return false;
}

void reduce_one(Type type, Op op, void* dst, const void* a, const void* b) {
  with_type(type, [&](auto as) { one(as, op, dst, a, b); });
}

void fill_one(Type type, void* element, std::mt19937_64& random) {
  with_type(type, [&](auto as) { fill(as, element, random); });
}

size_t size_of(Type type) {
  size_t bytes = 0;
  with_type(type, [&](auto as) { bytes = sizeof(typename decltype(as)::type); });
  return bytes;
}

}  // namespace tutti::kernels
