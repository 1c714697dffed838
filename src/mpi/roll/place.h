// The place of a thread: the function of MPI that it is in and the line of the program that has
// called it, or where it is outside MPI.
//
// A Place is a plain value, which travels as JSON between the processes that call the roll.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"

namespace tutti::mpi::roll {

enum class Doing : uint8_t {
  mpi,       // in a function of MPI
  computes,  // in the program, or it asks MPI again and again whether something is there
  file,      // in a system call that reads, writes or opens
  sleeps,    // in another system call
  stopped,   // a signal or a debugger has stopped it
  ended,     // the process has ended
  silent,    // it does not answer
};

// The peers and tags of a blocking message, as ranks of its communicator.
struct Message {
  static constexpr int none = -3, proc_null = -2, any = -1;  // any: MPI_ANY_SOURCE, MPI_ANY_TAG

  int dest = none, send_tag = none;
  int source = none, receive_tag = none;

  bool is_known() const { return dest != none || source != none; }
};

struct Place {
  int rank = 0;
  int64_t process = 0;
  pid_t thread = 0;
  bool is_first = true;  // the thread in which the process began
  Doing doing = Doing::silent;
  std::string function;  // MPI_Barrier; outside MPI, the system call or nothing
  uintptr_t frame = 0;   // an address in the program; 0: unknown
  std::string object;    // the frame as FILE+OFFSET, the same at all ranks; empty: site is final
  std::string site;      // FILE:LINE (FUNCTION) of the program; empty: unknown
  std::string communicator;  // the collective's, or the message's; empty: unknown
  std::string arguments;     // the collective's, as far as ranks must agree on them
  Message message;
  uint64_t number = 0;  // the call is the thread's collective of this number; 0: unknown
  uint64_t calls = 0;   // the count of the function's tripwire; not told to other processes
  double seconds = 0;   // since when it has been there, as far as it was looked at
  std::string note;
  bool has_answered = true;  // false: it was looked at from outside; not told to other processes

  // The text that is equal while a thread that answers stays in one call.
  std::string mark() const;
  // True if a thread that was at `before` may be in the same call still: from outside, fewer things
  // are known.
  bool stays_at(const Place& before) const;
};

Json json_of(const Place& place);
// Throws what nlohmann's library throws for another text.
Place place_from(const Json& value);

}  // namespace tutti::mpi::roll
