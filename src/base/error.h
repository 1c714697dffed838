// The one error type of Tutti's set-up code.
//
// Code that runs once (parsing, planning, checking, lowering, mapping memory) reports failure by
// throwing Error. The function that first finds the fault writes the message, which names the
// culprit (file, line, variable, rank) and the remedy; no caller rewords it. Errors become status
// codes at the borders only: in the C API (src/api) and at the MPI entry points (src/mpi). The
// path of a collective call throws nothing and returns a Code. Values; any thread.
#pragma once

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace tutti {

enum class Code : int {
  ok = 0,
  invalid_argument = 1,  // null, out of range, overlapping, unknown name
  invalid_plan = 2,      // a plan that does not parse or does not compute its collective
  // The machine or the environment does not provide something (memory, permission).
  unavailable = 3,
  mismatch = 4,   // ranks called different collectives, or with different sizes or roots
  dead_peer = 5,  // a rank's process is gone
  internal = 6,   // an invariant of Tutti itself does not hold
};

class Error : public std::runtime_error {
 public:
  Error(Code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  Code code() const { return code_; }

 private:
  Code code_;
};

// Throws the error of a system call that has just failed: `what`, and the message of errno.
[[noreturn]] inline void throw_errno(const std::string& what) {
  throw Error(Code::unavailable, what + ": " + std::string(strerror(errno)));
}

}  // namespace tutti
