// The trace of a team of threads (TUTTI_TRACE, docs/tracing.md).
//
// Each rank has a tracer of its own. The team owns the object, which writes the file when the team
// is freed; no group of the team exists any more then. A process's first team that is traced has
// the file that TUTTI_TRACE names, and further ones that name with a number.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "placement/cores.h"
#include "trace/tracer.h"

namespace tutti::api {

class TeamTrace {
 public:
  // Null if teams are not traced. Throws Error, one line, if the file could not be written or
  // TUTTI_TRACE_FILTER is malformed.
  static std::unique_ptr<TeamTrace> begin(int ranks);
  // If the file cannot be written, a line says so.
  ~TeamTrace();
  TeamTrace(const TeamTrace&) = delete;

  // The rank's tracer, in which its team is communicator 0. For the thread of the rank, which joins
  // once; several threads may at a time. Throws Error if there is no memory for the records.
  trace::Tracer* join(int rank);

 private:
  TeamTrace(int ranks, std::string file, trace::Filter filter);
  void write() const;

  const std::string file_;
  const trace::Filter filter_;
  const std::string_view clock_;
  const trace::Moment begun_;
  // Indexed by rank.
  std::vector<std::unique_ptr<trace::Tracer>> tracers_;
  std::vector<placement::CoreMask> cores_;
};

}  // namespace tutti::api
