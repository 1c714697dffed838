// tutti_comm_table, by which a program changes the rules of one communicator while it runs
// (docs/tuning.md). Programs find it by dlsym, because it is there only under Tutti.
#include <exception>
#include <string>

#include "base/hash.h"
#include "base/log.h"
#include "base/options.h"
#include "mpi/abi/convert.h"
#include "mpi/communicators/registry.h"

namespace tutti::mpi {
namespace {

// True if all ranks have given the same text.
bool all_have(std::string_view text, Comm comm) {
  const Host& mpi = host();
  const uint64_t hash = hashed(hash_of_nothing, text);
  const uint64_t own[] = {hash, ~hash};
  uint64_t least[] = {0, 0};
  return mpi.Allreduce(own, least, 2, mpi.type_uint64, mpi.op_min, comm) == success &&
         least[0] == ~least[1];
}

int change_table(Comm comm, const char* rules) {
  Communicator* const communicator = known_communicator(comm);
  if (communicator == nullptr || communicator->group() == nullptr) return abi.err_comm;
  const Inside inside;
  const std::string text = rules == nullptr ? "" : rules;
  if (!all_have(text, comm)) {
    log_line(LogLevel::warning, "tutti_comm_table: the ranks give different rules; give the same");
    return abi.err_arg;
  }
  if (text.empty())
    communicator->decide_by_jobs_table();
  else
    communicator->decide_by(&group::table_of(text, "tutti_comm_table"));
  return success;
}

}  // namespace
}  // namespace tutti::mpi

extern "C" __attribute__((visibility("default"))) int tutti_comm_table(MPI_Comm comm,
                                                                       const char* rules) {
  using namespace tutti;
  if (mpi::host().foreign || !mpi::registry_is_open()) return MPI_ERR_COMM;
  try {
    return mpi::change_table(mpi::house<mpi::Comm>(comm), rules);
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  } catch (const std::exception& error) {
    log_line(LogLevel::warning, "%s", error.what());
    return MPI_ERR_ARG;
  }
}
