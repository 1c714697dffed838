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

// An argument of type From, for a function that takes a To. Handles are converted. A pointer to a
// handle becomes a pointer to a converted copy, which is written back when the call has returned.
// All else is passed on with the other type: pointers to arrays, statuses and callbacks.
template <class From, class To>
class Argument {
 public:
  explicit Argument(From given) : given_(given) {}
  To get() const {
    if constexpr (std::is_same_v<From, To> || std::is_convertible_v<From, To>)
      return given_;
    else
      return reinterpret_cast<To>(given_);
  }

 private:
  From given_;
};

template <class From, Handle To>
class Argument<From, To> {
 public:
  explicit Argument(From given) : given_(given) {}
  To get() const { return house<To>(given_); }

 private:
  From given_;
};
template <Handle From, class To>
class Argument<From, To> {
 public:
  explicit Argument(From given) : given_(given) {}
  To get() const { return theirs<To>(given_); }

 private:
  From given_;
};
template <Handle Same>
class Argument<Same, Same> {
 public:
  explicit Argument(Same given) : given_(given) {}
  Same get() const { return given_; }

 private:
  Same given_;
};

template <class From, Handle To>
class Argument<From*, To*> {
 public:
  explicit Argument(From* given) : given_(given) {
    if (given != nullptr) copy_ = house<To>(*given);
  }
  ~Argument() {
    if (given_ != nullptr) *given_ = theirs<From>(copy_);
  }
  Argument(const Argument&) = delete;
  To* get() { return given_ != nullptr ? &copy_ : nullptr; }
  operator To*() { return get(); }

 private:
  From* given_;
  To copy_{};
};
template <Handle From, class To>
class Argument<From*, To*> {
 public:
  explicit Argument(From* given) : given_(given) {
    if (given != nullptr) copy_ = theirs<To>(*given);
  }
  ~Argument() {
    if (given_ != nullptr) *given_ = house<From>(copy_);
  }
  Argument(const Argument&) = delete;
  To* get() { return given_ != nullptr ? &copy_ : nullptr; }

 private:
  From* given_;
  To copy_{};
};

// Where a function of the house stores a handle, for a program's place. The temporary object that
// it returns writes the handle there at its end.
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
