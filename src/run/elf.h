// The entries that the dynamic linker would read in a program or library: an ELF file's dynamic
// section. Pure reading of a file that may have any contents: every offset is checked, nothing is
// trusted. No state; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tutti::run {

struct ElfFile {
  bool this_machine = false;     // for the processor and word size of this tutti-run
  bool has_interpreter = false;  // it names a dynamic linker; if not, it is statically linked
  std::vector<std::string> needed;
  std::vector<std::string> rpath;  // directories, as written in the file
  std::vector<std::string> runpath;
};

// Nothing if the file is not an ELF file or cannot be read.
std::optional<ElfFile> read_elf(const std::string& path);

std::vector<std::string> split(const std::string& text, char separator);

}  // namespace tutti::run
