// Handles and arguments in the form of mpi.h and in that of the house (host/handles.h), and calls
// from code of one form to functions of the other. Functions without state.
#pragma once

#include <cstdint>
#include <type_traits>

#include "mpi/abi/abi.h"
#include "mpi/host/handles.h"

namespace tutti::mpi {

// The house's form of a handle: house<Comm>(comm). In MPICH all handles have one type, so it cannot
// follow from the argument.
template <Handle House, class Theirs>
[[gnu::always_inline]] inline House house(Theirs handle) {
  if constexpr (std::is_pointer_v<Theirs>)
    return House{reinterpret_cast<uintptr_t>(handle)};
  else
    return House{static_cast<std::make_unsigned_t<Theirs>>(handle)};
}

// The host's form of a handle.
template <class Theirs, Handle House>
[[gnu::always_inline]] inline Theirs theirs(House handle) {
  if constexpr (std::is_pointer_v<Theirs>)
    return reinterpret_cast<Theirs>(static_cast<uintptr_t>(handle));
  else
    return static_cast<Theirs>(static_cast<uint64_t>(handle));
}

// A value in the form of another function's parameter. Handles are converted. Pointers to arrays,
// to statuses and to callbacks keep their address.
template <class To, class From>
[[gnu::always_inline]] inline To converted(From given) {
  if constexpr (std::is_convertible_v<From, To>)
    return given;
  else if constexpr (Handle<To>)
    return house<To>(given);
  else if constexpr (Handle<From>)
    return theirs<To>(given);
  else
    return reinterpret_cast<To>(given);
}

// An argument of type From, for a function that takes a To.
template <class From, class To>
class Argument {
 public:
  explicit Argument(From given) : given_(given) {}
  To get() const { return converted<To>(given_); }

 private:
  From given_;
};

// A pointer to a handle. Where both forms have one size, and so the same bits, its address is
// passed on; then calls for an MPI of another ABI, whose handles may be shorter, pass through as
// they are (host/host.h). Else the function gets the address of a copy, which is converted back at
// the end of this object.
template <class From, class To>
  requires(Handle<From> != Handle<To>)
class Argument<From*, To*> {
 public:
  explicit Argument(From* given) : given_(given) {
    if constexpr (copies)
      if (given != nullptr) copy_ = converted<To>(*given);
  }
  ~Argument() {
    if constexpr (copies)
      if (given_ != nullptr) *given_ = converted<From>(copy_);
  }
  Argument(const Argument&) = delete;
  To* get() {
    if constexpr (copies) return given_ != nullptr ? &copy_ : nullptr;
    return reinterpret_cast<To*>(given_);
  }
  operator To*() { return get(); }

 private:
  static constexpr bool copies = sizeof(From) != sizeof(To);
  From* given_;
  To copy_{};
};

// The place where a function of the house stores a handle for a program. It is valid until the end
// of the expression.
template <Handle House, class Theirs>
Argument<Theirs*, House*> place_for(Theirs* place) {
  return Argument<Theirs*, House*>(place);
}

// Calls a function of the house with arguments as a program gives them.
template <class... To, class... From>
[[gnu::always_inline]] inline int enter(int (*function)(To...), From... given) {
  return function(Argument<From, To>(given).get()...);
}

}  // namespace tutti::mpi
