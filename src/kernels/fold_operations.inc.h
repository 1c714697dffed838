// The operations of folds (fold.inc.h), on elements and on vectors of them. One source for all
// instruction sets, with internal linkage (operations.inc.h says why). Pure functions, for any
// thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/operations.inc.h"

namespace tutti::kernels {
namespace {

// An operation combines two elements (`apply`) and two vectors of them (`all`), has a neutral
// element (`neutral`), and turns what is left at the end into the result (`finished`).
struct UnchangedAtTheEnd {
  template <class T>
  static T finished(T x) {
    return x;
  }
};
struct TruthAtTheEnd {
  template <class T>
  static T finished(T x) {
    return static_cast<T>(x != 0);
  }
};
// Replaces a NaN at the end: the NaN that survives would depend on the order of a sum's operands,
// which the compiler may swap.
struct OneNanAtTheEnd {
  template <class T>
  static T finished(T x) {
    return x != x ? static_cast<T>(__builtin_nan("")) : x;
  }
};

struct FoldIntegerSum : IntegerSum, UnchangedAtTheEnd {
  template <class V>
  static V all(V x, V y) {
    return x + y;
  }
  template <class U>
  static constexpr U neutral = 0;
};
struct FoldIntegerProduct : IntegerProduct, UnchangedAtTheEnd {
  template <class V>
  static V all(V x, V y) {
    return x * y;
  }
  template <class U>
  static constexpr U neutral = 1;
};
struct FoldFloatSum : OneNanAtTheEnd {
  template <class V>
  static V apply(V x, V y) {
    return x + y;
  }
  template <class V>
  static V all(V x, V y) {
    return x + y;
  }
  template <class T>
  static constexpr T neutral = -T(0);
};
struct FoldFloatProduct : OneNanAtTheEnd {
  template <class V>
  static V apply(V x, V y) {
    return x * y;
  }
  template <class V>
  static V all(V x, V y) {
    return x * y;
  }
  template <class T>
  static constexpr T neutral = 1;
};

template <class T>
constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(0);
template <class T>
constexpr bool is_float = static_cast<T>(0.5) != 0;

template <class T>
constexpr T lowest() {
  if constexpr (is_float<T>)
    return -static_cast<T>(__builtin_inf());
  else if constexpr (is_signed<T>)
    return static_cast<T>(T(1) << (8 * sizeof(T) - 1));
  else
    return 0;
}
template <class T>
constexpr T highest() {
  if constexpr (is_float<T>)
    return static_cast<T>(__builtin_inf());
  else
    return static_cast<T>(~lowest<T>());
}

template <class AtTheEnd>
struct FoldMaximum : Maximum, AtTheEnd {
  template <class V>
  static V all(V x, V y) {
    return x > y ? x : y;
  }
  template <class T>
  static constexpr T neutral = lowest<T>();
};
template <class AtTheEnd>
struct FoldMinimum : Minimum, AtTheEnd {
  template <class V>
  static V all(V x, V y) {
    return x < y ? x : y;
  }
  template <class T>
  static constexpr T neutral = highest<T>();
};

// All are true exactly if the least unsigned number is not 0.
struct FoldLogicalAnd : FoldMinimum<TruthAtTheEnd> {
  template <class U>
  static constexpr U neutral = 1;
};
struct FoldLogicalOr : BitOr, TruthAtTheEnd {
  template <class V>
  static V all(V x, V y) {
    return x | y;
  }
  template <class U>
  static constexpr U neutral = 0;
};
struct FoldLogicalXor : LogicalXor, TruthAtTheEnd {
  template <class V>
  static V all(V x, V y) {
    return reinterpret_cast<V>((x != 0) ^ (y != 0));
  }
  template <class U>
  static constexpr U neutral = 0;
};
struct FoldBitAnd : BitAnd, UnchangedAtTheEnd {
  template <class V>
  static V all(V x, V y) {
    return x & y;
  }
  template <class U>
  static constexpr U neutral = static_cast<U>(~U(0));
};
struct FoldBitOr : BitOr, UnchangedAtTheEnd {
  template <class V>
  static V all(V x, V y) {
    return x | y;
  }
  template <class U>
  static constexpr U neutral = 0;
};
struct FoldBitXor : BitXor, UnchangedAtTheEnd {
  template <class V>
  static V all(V x, V y) {
    return x ^ y;
  }
  template <class U>
  static constexpr U neutral = 0;
};

}  // namespace
}  // namespace tutti::kernels
