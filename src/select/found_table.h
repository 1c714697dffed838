// Tables that are found without being named: a site's, in /etc/tutti, and a user's, in
// ${XDG_CONFIG_HOME:-~/.config}/tutti.
//
// A table's file is named by the machine that it is for, and may be for one MPI alone:
//
//   AMD-EPYC-7763-64-Core-Processor.2x64.map
//   AMD-EPYC-7763-64-Core-Processor.2x64.openmpi-5.map
//
// The functions read the environment and files; no state. One rank of a job looks, and the others
// get what it has found (mpi/job/found_table.h).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::select {

inline constexpr std::string_view site_directory = "/etc/tutti";

// The user's directory; empty if the environment names none.
std::string user_directory();

// An MPI as file names have it, "openmpi-5", from what MPI_Get_library_version says; empty if it is
// unknown.
std::string mpi_name(std::string_view version);

// The names of the files for a machine, first the one for `mpi` alone, if that is not empty.
std::vector<std::string> table_names(const std::string& machine, const std::string& mpi);

// The files for this machine in the order in which they are tried, the user's first, whether they
// exist or not. A directory that does not exist has none; if none exists, nothing else is read.
std::vector<std::string> table_files(const std::string& mpi,
                                     const std::vector<std::string>& directories = {
                                         user_directory(), std::string(site_directory)});

// The first of the files that exists and is a table. `warn` gets a line about each file before it
// that exists and is none.
struct FoundTable {
  std::string path;
  std::string text;
};
std::optional<FoundTable> find_table(const std::vector<std::string>& files,
                                     const std::function<void(const std::string&)>& warn);

}  // namespace tutti::select
