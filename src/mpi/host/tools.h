// Tools: libraries, or parts of the program, that define MPI_X to see the program's calls and pass
// them on by PMPI_X (profilers, tracers, checkers). docs/decisions/below-tools.md has the whole
// order of calls.
//
// Tutti has each entry point under both names. A tool before it in the search order calls PMPI_X,
// which is Tutti's. A tool after it is put before it: find_tools gives it the names MPI_X, as if it
// had been preloaded first. So an entry point is always the last one before the host, and looks for
// nobody.
//
// A function is hidden if a tool has taken its name and does not call PMPI_X, as far as the tool's
// symbols tell: the calls may never come to Tutti. Hidden at one rank, it goes to the host at all
// ranks, which agree on it inside MPI_Init (job/agreement.h). The process has one such state.
// It is written by the thread that makes the Host, and by the one inside MPI_Init; any thread may
// read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpi/host/loaded.h"

namespace tutti::mpi {

// The functions that Tutti interposes. Collectives have the numbers of Function.
enum class Interposed : uint16_t {
#define TUTTI_INTERPOSED(name) name,
#define TUTTI_MAKER(name) name,
#include "mpi/host/host_names.inc.h"
  count_
};
inline constexpr size_t interposed_count = static_cast<size_t>(Interposed::count_);

// The library of the host MPI among all that are loaded; null if there is none.
const Loaded* find_host_library(const std::vector<Loaded>& all);
// True for each of Tutti's interposers. A process may have one for each MPI.
bool is_interposer(const Loaded& file);

// Finds the tools of this process, and gives those that come after Tutti their names. Once.
void find_tools(const std::vector<Loaded>& all, const Loaded& host);

// A tool's function that Tutti must call instead of the host's, because it comes after Tutti and
// does not come back: only for functions around which Tutti notes something (the beginning and end
// of MPI, makers of communicators). Else null.
void* tool_around(Interposed function);
// The function of a tool that begins MPI and comes back to Tutti by PMPI_*. The call that has found
// it came to Tutti before the tool had its name, so it goes on to the tool. Null from the second
// call on.
void* take_tools_beginning(Interposed function);

// 1 for each function that is hidden at no rank that this one knows of.
const std::vector<uint64_t>& visible();
// True if a function is hidden without which Tutti cannot serve anything, as one that completes
// requests.
bool hides_what_is_needed();
// The tools of this rank that hide functions, with these; empty: none does.
std::string hidden_here();
// All ranks have agreed on what is visible. `text`: hidden_here() of one of them.
void note_hidden(std::vector<uint64_t> visible_at_all, std::string text);
// The text of note_hidden().
const std::string& hidden_text();
bool hides_any();
// Ask only if hides_any().
bool is_hidden(size_t function);

// The host's library calls PMPI_* itself, for files, while it holds a lock: such a call must not
// wait for another rank outside the host. find_tools leads its references to the host's functions.
// The same is done here for a plugin of Open MPI, which the host is about to load: `load` is the
// next dlopen. The plugin then stays loaded. Fortran's routines are in libraries of their own,
// whose calls Tutti serves.
void lead_plugin_to_host(const char* path, int flags, void* (*load)(const char* path, int flags));

}  // namespace tutti::mpi
