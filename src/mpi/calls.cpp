#include "mpi/calls.h"

#include "mpi/route.h"

namespace tutti::mpi {
namespace {

bool aliases_tolerated = false;

bool has_one_rank(MPI_Comm communicator) {
  int rank = 0, ranks = 0;
  return ranks_of(communicator, &rank, &ranks) && ranks == 1;
}

}  // namespace

void tolerate_aliases() { aliases_tolerated = true; }

bool host_judges_aliases(Collective collective) {
  return !aliases_tolerated && (abi != Abi::openmpi || collective == Collective::reduce);
}

std::string_view algorithm_of(Communicator& communicator, const Subject& subject) {
  if (subject.v_form) return group::Group::v_algorithm;
  if (subject.bytes == 0 && subject.collective != Collective::barrier) return "none";
  const bool rooted_well = subject.root >= 0 && subject.root < communicator.group()->ranks();
  return rooted_well
             ? communicator.group()->algorithm(subject.collective, subject.bytes, subject.root)
             : std::string_view{};
}

bool ranks_of(MPI_Comm communicator, int* rank, int* ranks) {
  const Host& mpi = host();
  int inter = 0;
  return mpi.Comm_test_inter(communicator, &inter) == MPI_SUCCESS && inter == 0 &&
         mpi.Comm_rank(communicator, rank) == MPI_SUCCESS &&
         mpi.Comm_size(communicator, ranks) == MPI_SUCCESS;
}

int too_many(MPI_Comm communicator) { return raise(communicator, MPI_ERR_COUNT); }

Served refused(Communicator& communicator, const Error& error) noexcept {
  try {
    communicator.say(error.what());
  } catch (...) {  // then nobody is told, but all ranks still do the same
  }
  return Reason::no_program;
}

// The call has been made; what is missing of the report is no error of it.
void note_call(Communicator& communicator, const Subject& subject, Reason reason,
               std::chrono::nanoseconds time) noexcept {
  try {
    // A communicator's first calls are not asked how many ranks it has.
    if (reason == Reason::set_up_pending && has_one_rank(communicator.handle()))
      reason = Reason::one_rank;
    const std::string_view algorithm =
        reason == Reason::none ? algorithm_of(communicator, subject) : std::string_view{};
    record({subject.collective, subject.bytes, reason, algorithm, time});
  } catch (...) {
  }
}

// What is thrown, is thrown before the rank has entered; the general path meets it again.
int barrier_by_ready(Communicator& communicator) {
  try {
    const int code = communicator.finish(communicator.group()->barrier());
    if (code == MPI_SUCCESS)
      communicator.group()->note({Collective::barrier, 0, 0, 0, 0}, Collective::barrier, 0, 1, 0,
                                 nullptr);
    return code;
  } catch (...) {
  }
  return barrier_by_any(communicator.handle());
}

int barrier_by_any(MPI_Comm communicator) {
  return route(
      communicator, {Collective::barrier, 0, 0},
      [](Communicator& known) -> Served { return known.finish(known.group()->barrier()); },
      [&] { return host().Barrier(communicator); }, [] { return false; });
}

}  // namespace tutti::mpi
