// The functions to which the table of host/host.h points: they have the house's form, and call
// those of the host.
//
// A bridge converts each argument (convert.h) and calls the function that the other table has at
// that time (abi_host.h). Functions without state; any thread.
#pragma once

#include "mpi/abi/abi_host.h"
#include "mpi/abi/convert.h"

namespace tutti::mpi {

template <auto function, class House, class Theirs>
struct Bridge;
// function() is a place in the table of the host's form.
template <auto function, class... House, class... Theirs>
struct Bridge<function, int (*)(House...), int (*)(Theirs...)> {
  static int call(House... given) { return function()(Argument<House, Theirs>(given).get()...); }
};

}  // namespace tutti::mpi
