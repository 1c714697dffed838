#include "mpi/job/found_table.h"

#include <atomic>
#include <optional>
#include <stdexcept>

#include "base/log.h"
#include "base/options.h"
#include "group/group.h"
#include "mpi/host/polled.h"
#include "select/found_table.h"

namespace tutti::mpi {
namespace {

std::atomic<const select::Table*> found_table{nullptr};

}  // namespace

std::string look_for_table() {
  // Simulated ranks are not of this machine.
  if (simulated || options().disable || !options().table.empty() || !options().finds_table)
    return {};
  const std::vector<std::string> files = select::table_files(select::mpi_name(host_version()));
  const std::optional<select::FoundTable> found = select::find_table(
      files, [](const std::string& line) { log_line(LogLevel::warning, "%s", line.c_str()); });
  return found ? found->path + '\0' + found->text : std::string();
}

void share_table(std::string found, uint64_t bytes) {
  if (bytes == 0) return;
  found.resize(bytes);
  if (broadcast(found.data(), bytes, host().comm_world) != success)
    throw std::runtime_error("the host MPI did not give the table to all ranks");
  const size_t end = found.find('\0');
  found_table = &group::table_of(found.substr(end + 1), found.substr(0, end));
}

const select::Table* table_of_job(bool of_world) {
  const select::Table* const named = group::users_table(options());
  return named == nullptr && of_world ? found_table.load() : named;
}

select::Overrides overrides_of_job(bool of_world) {
  select::Overrides overrides = group::overrides_of(options());
  overrides.table = table_of_job(of_world);
  return overrides;
}

}  // namespace tutti::mpi
