#include "run/elf.h"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

namespace tutti::run {
namespace {

#if defined(__x86_64__)
constexpr int machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr int machine = EM_AARCH64;
#elif defined(__powerpc64__)
constexpr int machine = EM_PPC64;
#elif defined(__riscv)
constexpr int machine = EM_RISCV;
#else
constexpr int machine = EM_NONE;
#endif

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);
using Entry = ElfW(Dyn);

constexpr size_t most_segments = 1024;
constexpr size_t most_text = 16 * 1024 * 1024;
constexpr size_t most_entries = 65536;

class Reader {
 public:
  explicit Reader(const std::string& path) : file_(path, std::ios::binary) {}

  template <class Item>
  bool read(uint64_t offset, Item& item) {
    return read_bytes(offset, reinterpret_cast<char*>(&item), sizeof item);
  }
  // Those items that the file has.
  template <class Item>
  std::vector<Item> read_all(uint64_t offset, size_t count) {
    std::vector<Item> items(count);
    read_bytes(offset, reinterpret_cast<char*>(items.data()), count * sizeof(Item));
    items.resize(static_cast<size_t>(file_.gcount()) / sizeof(Item));
    return items;
  }
  bool read_bytes(uint64_t offset, char* to, size_t bytes) {
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    return static_cast<bool>(file_.read(to, static_cast<std::streamsize>(bytes)));
  }

 private:
  std::ifstream file_;
};

std::vector<Segment> read_segments(Reader& reader, const Header& header) {
  if (header.e_phentsize != sizeof(Segment) || header.e_phnum > most_segments) return {};
  return reader.read_all<Segment>(header.e_phoff, header.e_phnum);
}

// The offset in the file of an address; the dynamic section has addresses in memory.
std::optional<uint64_t> offset_of(const std::vector<Segment>& segments, uint64_t address) {
  for (const Segment& segment : segments)
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz)
      return segment.p_offset + (address - segment.p_vaddr);
  return std::nullopt;
}

std::vector<Entry> read_dynamic(Reader& reader, const Segment& segment) {
  std::vector<Entry> entries = reader.read_all<Entry>(
      segment.p_offset, std::min<size_t>(segment.p_filesz / sizeof(Entry), most_entries));
  const auto is_end = [](const Entry& entry) { return entry.d_tag == DT_NULL; };
  entries.erase(std::find_if(entries.begin(), entries.end(), is_end), entries.end());
  return entries;
}

std::string read_text_table(Reader& reader, const std::vector<Segment>& segments,
                            const std::vector<Entry>& entries) {
  uint64_t address = 0, bytes = 0;
  for (const Entry& entry : entries) {
    if (entry.d_tag == DT_STRTAB) address = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ) bytes = entry.d_un.d_val;
  }
  const auto offset = offset_of(segments, address);
  if (!offset || bytes == 0 || bytes > most_text) return {};
  std::string text(bytes, '\0');
  if (!reader.read_bytes(*offset, text.data(), bytes)) return {};
  return text;
}

std::string text_at(const std::string& table, uint64_t offset) {
  if (offset >= table.size()) return {};
  return table.substr(offset, strnlen(table.data() + offset, table.size() - offset));
}

}  // namespace

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::optional<ElfFile> read_elf(const std::string& path) {
  Reader reader(path);
  unsigned char identity[EI_NIDENT];
  if (!reader.read(0, identity) || memcmp(identity, ELFMAG, SELFMAG) != 0) return std::nullopt;
  ElfFile file;
  Header header;
  const int word = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (identity[EI_CLASS] != word || !reader.read(0, header) || header.e_machine != machine)
    return file;
  file.this_machine = true;
  const std::vector<Segment> segments = read_segments(reader, header);
  for (const Segment& segment : segments) {
    if (segment.p_type == PT_INTERP) file.has_interpreter = true;
    if (segment.p_type != PT_DYNAMIC) continue;
    const std::vector<Entry> entries = read_dynamic(reader, segment);
    const std::string text = read_text_table(reader, segments, entries);
    for (const Entry& entry : entries) {
      if (entry.d_tag == DT_NEEDED) file.needed.push_back(text_at(text, entry.d_un.d_val));
      if (entry.d_tag == DT_RPATH) file.rpath = split(text_at(text, entry.d_un.d_val), ':');
      if (entry.d_tag == DT_RUNPATH) file.runpath = split(text_at(text, entry.d_un.d_val), ':');
    }
  }
  return file;
}

}  // namespace tutti::run
