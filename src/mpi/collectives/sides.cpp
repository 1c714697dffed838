// The side of a call that the report and traces show.
#include "mpi/collectives/general.h"

#include "report/tally.h"

namespace tutti::mpi {

namespace {

// A side that has this rank's own part, at every rank.
const Side& side_to_report(const Call& call) {
  if (plan::combines(call.collective)) return call.in;
  if (plan::scatters(call.collective)) return call.out.data == abi.in_place ? call.in : call.out;
  if (!plan::gathers(call.collective) && !call.v_form()) return call.out;
  return call.in.data != abi.in_place ? call.in : call.out;
}

}  // namespace

size_t bytes_to_report(const Call& call) {
  if (!report::recording() && tracer() == nullptr) return 0;
  // On an intercommunicator the root may be MPI_ROOT or MPI_PROC_NULL, which are negative. This
  // rank may then use neither side.
  if (call.shape == Shape::barrier || call.root < 0) return 0;
  const Side& side = side_to_report(call);
  const Datatype type = side.type_of(0);
  return type != host().type_null ? bytes_of(side.count_of(0), type) : 0;
}

}  // namespace tutti::mpi
