#include "mpi/calls.h"

#include "mpi/route.h"

namespace tutti::mpi {
namespace {

bool aliases_tolerated = false;

}  // namespace

void tolerate_aliases() { aliases_tolerated = true; }

bool host_judges_aliases(Collective collective) {
  return !aliases_tolerated && (abi != Abi::openmpi || collective == Collective::reduce);
}

std::string_view algorithm_of(Communicator& communicator, const Subject& subject) {
  if (subject.ragged) return group::Group::ragged_algorithm;
  if (subject.bytes == 0 && subject.collective != Collective::barrier) return "none";
  const bool rooted_well = subject.root >= 0 && subject.root < communicator.group()->ranks();
  return rooted_well ? communicator.group()->algorithm(subject.collective, subject.bytes, subject.root)
                     : std::string_view{};
}

int too_many(MPI_Comm communicator) {
  host().Comm_call_errhandler(communicator, MPI_ERR_COUNT);
  return MPI_ERR_COUNT;
}

int barrier_by_any(MPI_Comm communicator) {
  return route(
      communicator, {Collective::barrier, 0, 0},
      [](Communicator& known) -> Served { return known.finish(known.group()->barrier()); },
      [&] { return host().Barrier(communicator); });
}

}  // namespace tutti::mpi
