#include "mpi/host/leftovers.h"

#include <fcntl.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <system_error>

#include "base/descriptors.h"
#include "shm/process_heap.h"

namespace tutti::mpi {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

// Valgrind has its own descriptors at the end of what the limits allow, which is beyond.
constexpr int most_of_tutti = 1000;

bool has_name_of_shared_memory(const std::string& file) {
  return file.find("/memfd:tutti") != std::string::npos ||
         file.find("/dev/shm/tutti-") != std::string::npos;
}

// Calls visit for each entry. Entries may vanish meanwhile.
void for_each_in(const char* directory, const std::function<void(const fs::path&)>& visit) {
  std::error_code unreadable;
  fs::directory_iterator entry(directory, unreadable);
  for (; !unreadable && entry != fs::directory_iterator(); entry.increment(unreadable))
    visit(entry->path());
}

// True if the descriptor looks as move_high() makes them. A descriptor that this process has
// inherited is not closed by exec.
bool may_be_ours(int descriptor) {
  return is_high(descriptor) && descriptor < most_of_tutti &&
         (fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0;
}

void add_descriptors(const shm::Heap* kept, Names* left) {
  const int of_heap = kept != nullptr ? kept->location().descriptor : -1;
  for_each_in("/proc/self/fd", [&](const fs::path& path) {
    std::error_code gone;
    const std::string file = fs::read_symlink(path, gone);
    const int number = std::atoi(path.filename().c_str());
    const bool is_ours = may_be_ours(number) || has_name_of_shared_memory(file);
    if (!gone && is_ours && number != of_heap)
      left->push_back("descriptor " + std::to_string(number) + " of " + file);
  });
}

void add_mappings(const shm::Heap* kept, Names* left) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t first = 0;
    if (!has_name_of_shared_memory(line) || std::sscanf(line.c_str(), "%" SCNxPTR, &first) != 1)
      continue;
    if (kept == nullptr || !kept->holds(reinterpret_cast<const void*>(first)))
      left->push_back("mapping " + line);
  }
}

std::string name_of_thread(const fs::path& task) {
  std::ifstream file(task / "comm");
  std::string name;
  std::getline(file, name);
  return name;
}

// A program's threads have its name unless they get another.
void add_threads(Names* left) {
  const std::string program = name_of_thread("/proc/self");
  for_each_in("/proc/self/task", [&](const fs::path& path) {
    const std::string name = name_of_thread(path);
    if (name.starts_with("tutti") && name != program) left->push_back("thread " + name);
  });
}

}  // namespace

std::vector<std::string> leftovers() {
  const shm::Heap* const kept = shm::kept_heap();
  Names left;
  for (int tries = 0; tries < 1000 && (tries == 0 || !left.empty()); ++tries) {
    if (tries > 0) usleep(1000);
    left.clear();
    add_threads(&left);
  }
  add_descriptors(kept, &left);
  add_mappings(kept, &left);
  return left;
}

}  // namespace tutti::mpi
