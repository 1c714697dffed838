#include "report/reason.h"

namespace tutti::report {

const char* describe(Reason reason) {
  switch (reason) {
    case Reason::none: return "none";
    case Reason::set_up_pending: return "first calls of a communicator (TUTTI_SETUP_AFTER)";
    case Reason::set_up_postponed:
      return "first calls of a communicator, for which little shared memory was left "
             "(TUTTI_SHM_BYTES_PER_RANK)";
    case Reason::nonblocking_before_set_up:
      return "non-blocking, persistent and neighbourhood collectives before the set-up of a "
             "communicator, for which they must not wait";
    case Reason::turned_off: return "turned off (TUTTI_SERVE_COLLECTIVES=0)";
    case Reason::one_rank: return "communicator of one rank";
    case Reason::intercommunicator: return "intercommunicator";
    case Reason::ranks_are_threads: return "communicator whose ranks are threads";
    case Reason::hidden_by_tool:
      return "a tool takes these calls and does not call PMPI_* (at some rank)";
    case Reason::not_on_one_node: return "ranks on several nodes, or of several jobs";
    case Reason::no_shared_memory: return "no shared memory on this node";
    case Reason::shared_memory_exhausted:
      return "shared memory exhausted (TUTTI_SHM_BYTES_PER_RANK)";
    case Reason::communicators_kept:
      return "many communicators between nodes: the host MPI's supply is kept for the program";
    case Reason::different_options: return "ranks with different TUTTI_* variables";
    case Reason::host_failed: return "host MPI failed in set-up (a revoked communicator)";
    case Reason::set_up_broken: return "set-up failed at a rank (memory ran out)";
    case Reason::large_element: return "elements too large for the slots";
    case Reason::wrong_arguments: return "arguments for the host MPI to judge";
    case Reason::no_program:
      return "the algorithm that was asked for does not serve this communicator";
    case Reason::v_between_nodes:
      return "parts of different lengths between nodes, of more than 256 ranks";
    case Reason::persistent_between_nodes:
      return "persistent collectives between nodes, without servers";
    case Reason::no_lane:
      return "persistent collectives between nodes for which there is no lane "
             "(TUTTI_SHM_BYTES_PER_RANK, or more than 64 on a communicator)";
    case Reason::nonblocking_between_nodes:
      return "non-blocking collectives between nodes, without servers";
    case Reason::not_by_servers:
      return "non-blocking and persistent reductions between nodes by operations of the program, "
             "or on rare types, which servers do not run";
    case Reason::no_growing_memory:
      return "non-blocking, persistent and neighbourhood collectives without memfds, whose memory "
             "can grow (TUTTI_SHM)";
    case Reason::neighbours_between_nodes:
      return "neighbourhood collectives between nodes: blocking ones, and all without servers";
    case Reason::among_leaders:
      return "the host MPI's part of a collective of Tutti's, among the nodes' leaders";
    case Reason::count_: break;
  }
  return "unknown";
}

}  // namespace tutti::report
