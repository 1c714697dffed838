// What the dynamic linker would read in a program or library: an ELF file's dynamic section.
//
// Pure reading of a file that may be anything: every offset is checked, nothing is trusted. No
// state.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tutti::run {

struct ElfFile {
  bool this_machine = false;  // of the processor and word size that this program was compiled for
  bool has_interpreter =
      false;  // asks for a dynamic linker; without one and no library, it is statically linked
  std::vector<std::string> needed;
  std::vector<std::string> rpath;  // directories, as written
  std::vector<std::string> runpath;
};

// Nothing where the file is no ELF file or cannot be read.
std::optional<ElfFile> read_elf(const std::string& path);

std::vector<std::string> split(const std::string& text, char separator);

}  // namespace tutti::run
