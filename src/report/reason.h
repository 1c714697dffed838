// The reasons why calls stay on the host MPI. Plain values; any thread.
#pragma once

#include <cstdint>

namespace tutti::report {

// The report has a line for each reason that occurred.
enum class Reason : uint8_t {
  none,
  set_up_pending,
  set_up_postponed,           // rank 0 has found little memory
  nonblocking_before_set_up,  // also persistent and neighbourhood collectives
  one_rank,
  intercommunicator,
  ranks_are_threads,
  hidden_by_tool,  // mpi/host/tools.h
  not_on_one_node,
  no_shared_memory,
  shared_memory_exhausted,
  communicators_kept,
  different_options,
  turned_off,
  host_failed,
  set_up_broken,  // a failure of this rank alone
  large_element,
  wrong_arguments,
  no_program,
  v_between_nodes,
  persistent_between_nodes,
  no_lane,
  nonblocking_between_nodes,
  not_by_servers,
  no_growing_memory,
  neighbours_between_nodes,
  among_leaders,  // only in traces
  count_
};
// The text of a reason in reports and traces.
const char* describe(Reason reason);

}  // namespace tutti::report
