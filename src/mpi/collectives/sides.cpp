// The side of a call that the report tells of.
#include "mpi/collectives/general.h"

#include "report/tally.h"

namespace tutti::mpi {

namespace {

// The side that has a part of this rank's own, whatever its rank.
const Side& side_to_report(const Call& call) {
  if (plan::combines(call.collective)) return call.in;
  if (plan::scatters(call.collective)) return call.out.data == MPI_IN_PLACE ? call.in : call.out;
  if (!plan::gathers(call.collective) && !call.v_form()) return call.out;
  return call.in.data != MPI_IN_PLACE ? call.in : call.out;
}

}  // namespace

size_t bytes_to_report(const Call& call) {
  if (!report::recording() && tracer() == nullptr) return 0;
  // The root of an intercommunicator's collective is no rank, and then no side need matter.
  if (call.shape == Shape::barrier || call.root < 0) return 0;
  const Side& side = side_to_report(call);
  const MPI_Datatype type = side.type_of(0);
  return type != host().type_null ? bytes_of(side.count_of(0), type) : 0;
}

}  // namespace tutti::mpi
