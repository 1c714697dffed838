#include "run/libraries.h"

#include <sys/stat.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

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

std::multimap<std::string, std::string> read_cache(const char* path) {
  std::multimap<std::string, std::string> libraries;
  std::ifstream stream(path, std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(stream), {}};
  const size_t start = file.find(cache_magic);
  if (start == std::string::npos || file.size() - start < cache_header_bytes) return libraries;
  const char* const base = file.data() + start;
  const size_t bytes = file.size() - start;
  uint32_t count;
  memcpy(&count, base + cache_magic.size(), sizeof count);
  const auto text = [&](uint32_t offset) {
    return offset < bytes ? std::string(base + offset, strnlen(base + offset, bytes - offset))
                          : std::string();
  };
  for (size_t i = 0; i < count && cache_header_bytes + (i + 1) * sizeof(CacheEntry) <= bytes; ++i) {
    CacheEntry entry;
    memcpy(&entry, base + cache_header_bytes + i * sizeof entry, sizeof entry);
    libraries.emplace(text(entry.key), text(entry.value));
  }
  return libraries;
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
  const auto [begin, end] = cache_.equal_range(name);
  for (auto entry = begin; entry != end; ++entry)
    if (is_library(entry->second)) return entry->second;
  return first_of({"/lib64", "/usr/lib64", "/lib", "/usr/lib"}, name, origin);
}

}  // namespace tutti::run
