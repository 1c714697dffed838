// Names and source lines of addresses of this process, by the symbols and the debug information of
// the program and its libraries. Reading debug information takes milliseconds and memory, once.
// Any thread may call symbol_of and source_of; called_at is for the watchdog's (watchdog.h).
#pragma once

#include <cstdint>
#include <string>

namespace tutti::mpi::roll {

struct Source {
  std::string object;    // the file of the program or library, with its directory; empty: unknown
  std::string symbol;    // the exported function, or one that debug information names; may be empty
  std::string function;  // as the program's author wrote it; empty: unknown
  std::string file;      // empty: there is no debug information
  int line = 0;

  // FILE:LINE (FUNCTION), or as much of that as is known.
  std::string text() const;
};

// The exported symbol alone, which takes a microsecond.
Source symbol_of(uintptr_t address);
Source source_of(uintptr_t address);
// FILE+OFFSET, which takes a microsecond, too; empty: unknown.
std::string object_at(uintptr_t address);
// The function to which the call instruction leads that ends at `address` + 1, through the tables
// of the dynamic linker; empty: it cannot be told. A frame is missing on the stack where a function
// has jumped to another one at its end.
std::string called_at(uintptr_t address);

}  // namespace tutti::mpi::roll
