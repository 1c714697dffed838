#include "select/found_table.h"

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "select/contents.h"
#include "select/table.h"
#include "topo/machine_name.h"

namespace tutti::select {
namespace {

namespace fs = std::filesystem;

// Names in versions, and in files. The first that a version holds counts.
constexpr std::pair<std::string_view, std::string_view> mpis[] = {{"Open MPI", "openmpi"},
                                                                  {"Intel", "intel"},
                                                                  {"MVAPICH", "mvapich"},
                                                                  {"CRAY MPICH", "cray-mpich"},
                                                                  {"MPICH", "mpich"}};
constexpr std::string_view digits = "0123456789";

}  // namespace

std::string user_directory() {
  const auto value = [](const char* name) {
    const char* const text = getenv(name);
    return std::string(text != nullptr ? text : "");
  };
  // The standard of these directories ignores names that are not absolute.
  if (const std::string given = value("XDG_CONFIG_HOME"); given.starts_with('/'))
    return given + "/tutti";
  const std::string home = value("HOME");
  return home.starts_with('/') ? home + "/.config/tutti" : "";
}

std::string mpi_name(std::string_view version) {
  for (const auto& [word, name] : mpis) {
    const size_t place = version.find(word);
    if (place == std::string_view::npos) continue;
    // "MVAPICH2 Version: 2.3.7": a digit of the name is followed by a space.
    const size_t space = version.find_first_of(" \t", place + word.size());
    const size_t number = version.find_first_of(digits, space);
    if (number == std::string_view::npos) return {};
    const size_t end = version.find_first_not_of(digits, number);
    return std::string(name) + "-" + std::string(version.substr(number, end - number));
  }
  return {};
}

std::vector<std::string> table_names(const std::string& machine, const std::string& mpi) {
  std::vector<std::string> names;
  if (!mpi.empty()) names.push_back(machine + "." + mpi + ".map");
  names.push_back(machine + ".map");
  return names;
}

std::vector<std::string> table_files(const std::string& mpi,
                                     const std::vector<std::string>& directories) {
  std::vector<std::string> names, files;
  for (const std::string& directory : directories) {
    std::error_code error;
    if (directory.empty() || !fs::is_directory(directory, error)) continue;
    if (names.empty()) names = table_names(topo::machine_name(), mpi);
    for (const std::string& name : names) files.push_back(directory + "/" + name);
  }
  return files;
}

std::optional<FoundTable> find_table(const std::vector<std::string>& files,
                                     const std::function<void(const std::string&)>& warn) {
  for (const std::string& file : files) {
    std::error_code error;
    if (!fs::exists(file, error) && !error) continue;
    try {
      FoundTable found{file, read_file(file, "make it readable")};
      read_table(found.text, file);
      return found;
    } catch (const Error& broken) {
      warn(std::string(broken.what()) +
           "; this table was found, not named, and is not used: mend or remove it");
    }
  }
  return std::nullopt;
}

}  // namespace tutti::select
