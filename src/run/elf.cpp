#include "run/elf.h"

#include <elf.h>
#include <link.h>

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
  bool read_bytes(uint64_t offset, char* to, size_t bytes) {
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    return static_cast<bool>(file_.read(to, static_cast<std::streamsize>(bytes)));
  }

 private:
  std::ifstream file_;
};

std::vector<Segment> read_segments(Reader& reader, const Header& header) {
  std::vector<Segment> segments;
  if (header.e_phentsize != sizeof(Segment) || header.e_phnum > most_segments) return segments;
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Segment segment;
    if (!reader.read(header.e_phoff + i * sizeof segment, segment)) break;
    segments.push_back(segment);
  }
  return segments;
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
  std::vector<Entry> entries;
  for (size_t i = 0; i < std::min<size_t>(segment.p_filesz / sizeof(Entry), most_entries); ++i) {
    Entry entry;
    if (!reader.read(segment.p_offset + i * sizeof entry, entry) || entry.d_tag == DT_NULL) break;
    entries.push_back(entry);
  }
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
