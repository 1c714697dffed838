// The element operations of reductions: one source for all instruction sets.
//
// Every file that includes this one is compiled once for each instruction set, with its own flags.
// Everything here has internal linkage, and no header with inline functions is included: the linker
// could merge such a function with its twin from another file, and code with AVX-512 could then run
// on a processor without it. check_symbols.cmake checks this.
// Pure functions, for any thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__clang__)
#define TUTTI_ELEMENTS_ARE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define TUTTI_ELEMENTS_ARE_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace tutti::kernels {
namespace {

// User buffers may have any type and, in packed data, any alignment. (Pointers to such types are
// spelled out, because `auto` loses the attributes.)
template <class T>
struct Loose {
  typedef T type __attribute__((aligned(1), may_alias));
};

// Integer arithmetic wraps: it is done in the unsigned type and in at least 32 bits, because two
// uint16_t are promoted to int and their product can overflow it.
struct IntegerSum {
  template <class U>
  static U apply(U x, U y) {
    return static_cast<U>(1u * x + y);
  }
};
struct IntegerProduct {
  template <class U>
  static U apply(U x, U y) {
    return static_cast<U>(1u * x * y);
  }
};
// If both operands are NaNs, the processor keeps the first operand's bits. The compiler assumes
// that sums and products commute, so it may swap the operands in one place and not in another. If x
// is a NaN, both operands are x here and a swap changes nothing. `alone` is apply for a single
// element: a predicted branch is faster there than the vector code.
struct FloatSum {
  template <class T>
  static T apply(T x, T y) {
    return x + (x != x ? x : y);
  }
  template <class T>
  static T alone(T x, T y) {
    if (__builtin_expect_with_probability(x != x, 0, 1.0)) return x + x;
    return x + y;
  }
};
struct FloatProduct {
  template <class T>
  static T apply(T x, T y) {
    return x * (x != x ? x : y);
  }
  template <class T>
  static T alone(T x, T y) {
    if (__builtin_expect_with_probability(x != x, 0, 1.0)) return x * x;
    return x * y;
  }
};
// If neither operand is greater (equal values, zeros of both signs, a NaN), the second operand is
// the result, as in x86's own max and min instructions.
struct Maximum {
  template <class T>
  static T apply(T x, T y) {
    return x > y ? x : y;
  }
};
struct Minimum {
  template <class T>
  static T apply(T x, T y) {
    return x < y ? x : y;
  }
};
struct LogicalAnd {
  template <class U>
  static U apply(U x, U y) {
    return static_cast<U>((x != 0) & (y != 0));
  }
};
struct LogicalOr {
  template <class U>
  static U apply(U x, U y) {
    return static_cast<U>((x | y) != 0);
  }
};
struct LogicalXor {
  template <class U>
  static U apply(U x, U y) {
    return static_cast<U>((x != 0) ^ (y != 0));
  }
};
struct BitAnd {
  template <class U>
  static U apply(U x, U y) {
    return x & y;
  }
};
struct BitOr {
  template <class U>
  static U apply(U x, U y) {
    return x | y;
  }
};
struct BitXor {
  template <class U>
  static U apply(U x, U y) {
    return x ^ y;
  }
};

// GCC 12 fuses a product into alternating additions and subtractions even where contraction is
// forbidden; a barrier between the two keeps both roundings.
template <class T>
T rounded_product(T x, T y) {
#if defined(__has_builtin)
#if __has_builtin(__builtin_assoc_barrier)
  return __builtin_assoc_barrier(x * y);
#endif
#endif
  return x * y;
}

// The textbook product, as in Fortran: infinities that it turns into NaNs are not recovered. All
// its NaNs have the same bits, because which of several NaNs survives depends on the order of
// instructions.
template <class T>
void complex_product(void* dst, const void* a, const void* b, size_t count) {
  using Element = typename Loose<T>::type;
  Element* to = static_cast<Element*>(dst);
  const Element* x = static_cast<const Element*>(a);
  const Element* y = static_cast<const Element*>(b);
  constexpr T nan = static_cast<T>(__builtin_nan(""));
  TUTTI_ELEMENTS_ARE_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    const T x_real = x[2 * i], x_imaginary = x[2 * i + 1];
    const T y_real = y[2 * i], y_imaginary = y[2 * i + 1];
    const T real = rounded_product(x_real, y_real) - rounded_product(x_imaginary, y_imaginary);
    const T imaginary = rounded_product(x_real, y_imaginary) + rounded_product(x_imaginary, y_real);
    to[2 * i] = real != real ? nan : real;
    to[2 * i + 1] = imaginary != imaginary ? nan : imaginary;
  }
}

}  // namespace
}  // namespace tutti::kernels
