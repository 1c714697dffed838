#include "run/libraries.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

namespace tutti::run {
namespace {

bool is_library(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const auto file = read_elf(path);
  return file && file->this_machine;
}

// $ORIGIN is the directory of the file that contains the word. The name of that directory may
// itself contain the word, which then stands for nothing.
std::string expand(std::string_view directory, const std::string& origin) {
  std::string expanded;
  while (!directory.empty()) {
    size_t taken = 1;
    for (const std::string_view word : {"$ORIGIN", "${ORIGIN}"})
      if (directory.starts_with(word)) taken = word.size();
    expanded += taken > 1 ? std::string_view(origin) : directory.substr(0, 1);
    directory.remove_prefix(taken);
  }
  return expanded;
}

// The cache that ldconfig writes: a header, entries of 24 bytes, then text; offsets count from the
// header. A table of an older format may precede it.
constexpr std::string_view cache_magic = "glibc-ld.so.cache1.1";
constexpr size_t cache_header_bytes = 48;
struct CacheEntry {
  int32_t flags;
  uint32_t key;
  uint32_t value;
  uint32_t os_version;
  uint64_t hwcap;
};
static_assert(sizeof(CacheEntry) == 24);

// Empty if there is none that can be read.
std::string read_cache(const char* path) {
  std::stringstream file;
  file << std::ifstream(path, std::ios::binary).rdbuf();
  const size_t start = file.view().find(cache_magic);
  return start == std::string::npos ? std::string() : file.str().substr(start);
}

// The files that the cache names for a library.
std::vector<std::string> find_in_cache(std::string_view cache, std::string_view name) {
  std::vector<std::string> files;
  if (cache.size() < cache_header_bytes) return files;
  uint32_t count;
  memcpy(&count, cache.data() + cache_magic.size(), sizeof count);
  const auto text = [&](uint32_t offset) {
    const std::string_view rest = cache.substr(std::min<size_t>(offset, cache.size()));
    return rest.substr(0, rest.find('\0'));
  };
  for (size_t end = cache_header_bytes + sizeof(CacheEntry); count > 0 && end <= cache.size();
       --count, end += sizeof(CacheEntry)) {
    CacheEntry entry;
    memcpy(&entry, cache.data() + end - sizeof entry, sizeof entry);
    if (text(entry.key) == name) files.emplace_back(text(entry.value));
  }
  return files;
}

std::string first_of(const std::vector<std::string>& directories, const std::string& name,
                     const std::string& origin) {
  for (const std::string& directory : directories) {
    const std::string candidate =
        (directory.empty() ? "." : expand(directory, origin)) + "/" + name;
    if (is_library(candidate)) return candidate;
  }
  return {};
}

}  // namespace

LibraryFinder::LibraryFinder() : cache_(read_cache("/etc/ld.so.cache")) {
  if (const char* value = getenv("LD_LIBRARY_PATH")) {
    std::string directories = value;
    for (char& c : directories)
      if (c == ';') c = ':';
    library_path_ = split(directories, ':');
  }
}

std::string LibraryFinder::find(const std::string& name, const ElfFile& user,
                                const std::string& path) const {
  if (name.find('/') != std::string::npos) return is_library(name) ? name : std::string();
  std::error_code ignored;
  const std::string origin =
      std::filesystem::weakly_canonical(path, ignored).parent_path().string();
  if (user.runpath.empty())
    if (const std::string found = first_of(user.rpath, name, origin); !found.empty()) return found;
  if (const std::string found = first_of(library_path_, name, origin); !found.empty()) return found;
  if (const std::string found = first_of(user.runpath, name, origin); !found.empty()) return found;
  for (const std::string& file : find_in_cache(cache_, name))
    if (is_library(file)) return file;
  return first_of({"/lib64", "/usr/lib64", "/lib", "/usr/lib"}, name, origin);
}

}  // namespace tutti::run
