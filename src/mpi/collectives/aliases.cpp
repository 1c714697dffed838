// Calls in which a rank gives one buffer twice, as input and as output, where MPI wants
// MPI_IN_PLACE.
#include "mpi/host/types.h"
#include "mpi/collectives/general.h"

namespace tutti::mpi {
namespace {

bool aliases_tolerated = false;

}  // namespace

void tolerate_aliases() { aliases_tolerated = true; }

bool host_judges_aliases(Collective collective) {
  return !aliases_tolerated && (!abi.is_open_mpi || collective == Collective::reduce);
}

bool host_finds_alias(const Call& call, int rank) {
  if (!host_judges_aliases(call.collective)) return false;
  const Side& in = call.in;
  const Side& out = call.out;
  if (in.data == nullptr || in.type != out.type || in.types.of_host() != out.types.of_host())
    return false;
  if (plan::exchanges(call.collective)) {
    const bool alike =
        call.v_form() ? in.counts.is(out.counts) : in.count == out.count && in.count > 0;
    return alike && in.data == out.data;
  }
  const bool scatters = plan::scatters(call.collective);
  const Side& parts = scatters ? in : out;
  const Side& alone = scatters ? out : in;
  const auto own = static_cast<size_t>(rank);
  if (!call.v_form() && parts.count != alone.count) return false;
  if (alone.count <= 0 || parts.count_of(own) <= 0) return false;
  const Aint elements = call.v_form() ? parts.displacements[own] : rank * parts.count;
  const Aint at = elements * static_cast<Aint>(signature_bytes(parts.type));
  return alone.data == static_cast<std::byte*>(parts.data) + at;
}

}  // namespace tutti::mpi
