#include "mpi/job/thrown.h"

#include <atomic>
#include <exception>
#include <new>
#include <stdexcept>

#include "base/error.h"
#include "base/log.h"
#include "mpi/host/host.h"
#include "mpi/host/inside.h"

namespace tutti::mpi {
namespace {

// Logs only the first exception, because a program that goes on after errors would fill its log.
void say_once(const char* what) {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  log_line(LogLevel::error, "an MPI call failed inside Tutti: %s", what);
  let_launcher_read();  // the handler may abort the job
}

}  // namespace

int raise(Comm communicator, int code) {
  const Inside inside;
  if (!host().foreign) host().Comm_call_errhandler(communicator, code);
  return code;
}

int raise_thrown(Comm communicator) {
  int code = abi.err_no_mem;
  try {
    throw;
  } catch (const std::bad_alloc&) {
    say_once("memory ran out");
  } catch (const std::length_error&) {  // more than any vector holds
    say_once("memory ran out");
  } catch (const Error& error) {
    if (error.code() != Code::unavailable) code = abi.err_other;
    say_once(error.what());
  } catch (const std::exception& error) {
    code = abi.err_other;
    say_once(error.what());
  } catch (...) {
    code = abi.err_other;
    say_once("an exception of no known type");
  }
  return raise(communicator, code);
}

}  // namespace tutti::mpi
