#include "mpi/host/loaded.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

namespace tutti::mpi {
namespace {

#if defined(__x86_64__)
constexpr bool is_reference(unsigned type) {
  return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_64;
}
#elif defined(__aarch64__)
constexpr bool is_reference(unsigned type) {
  return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT || type == R_AARCH64_ABS64;
}
#else
// References stay as they are: a tool after Tutti sees only those that are looked up later.
constexpr bool is_reference(unsigned) { return false; }
#endif

}  // namespace

std::vector<Loaded> Loaded::all() {
  std::vector<Loaded> found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* context) {
        static_cast<std::vector<Loaded>*>(context)->push_back(Loaded(*info));
        return 0;
      },
      &found);
  return found;
}

const Loaded* Loaded::that_has(const std::vector<Loaded>& all, const void* address) {
  for (const Loaded& file : all)
    if (file.has(address)) return &file;
  return nullptr;
}

Loaded::Loaded(const dl_phdr_info& info)
    : path_(info.dlpi_name != nullptr ? info.dlpi_name : ""),
      base_(info.dlpi_addr),
      segments_(info.dlpi_phdr),
      segment_count_(info.dlpi_phnum) {
  for (size_t i = 0; i < segment_count_; ++i)
    if (segments_[i].p_type == PT_DYNAMIC)
      read_dynamic(reinterpret_cast<const ElfW(Dyn)*>(base_ + segments_[i].p_vaddr));
}

void Loaded::read_dynamic(const ElfW(Dyn) * entries) {
  const uint32_t* gnu_hash = nullptr;
  const uint32_t* hash = nullptr;
  bool with_addends = true;
  for (const ElfW(Dyn)* entry = entries; entry->d_tag != DT_NULL; ++entry) {
    const ElfW(Addr) place = entry->d_un.d_ptr;
    switch (entry->d_tag) {
      case DT_SYMTAB: symbols_ = at<Symbol>(place); break;
      case DT_STRTAB: names_ = at<char>(place); break;
      case DT_GNU_HASH: gnu_hash = at<uint32_t>(place); break;
      case DT_HASH: hash = at<uint32_t>(place); break;
      case DT_RELA: relocations_[0].first = at<ElfW(Rela)>(place); break;
      case DT_RELASZ: relocations_[0].count = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
      case DT_JMPREL: relocations_[1].first = at<ElfW(Rela)>(place); break;
      case DT_PLTRELSZ: relocations_[1].count = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
      case DT_PLTREL: with_addends = entry->d_un.d_val == DT_RELA; break;
      default: break;
    }
  }
  if (!with_addends || relocations_[1].first == nullptr) relocations_[1] = {};
  if (relocations_[0].first == nullptr) relocations_[0] = {};
  if (symbols_ != nullptr && names_ != nullptr) read_hashes(gnu_hash, hash);
}

// The table of GNU's hash has only the definitions, which are the last symbols.
void Loaded::read_hashes(const uint32_t* gnu_hash, const uint32_t* hash) {
  if (hash != nullptr) symbol_count_ = hash[1];
  if (gnu_hash == nullptr) return;
  bucket_count_ = gnu_hash[0];
  first_defined_ = gnu_hash[1];
  filter_words_ = gnu_hash[2];
  filter_shift_ = gnu_hash[3];
  filter_ = reinterpret_cast<const ElfW(Addr)*>(gnu_hash + 4);
  buckets_ = reinterpret_cast<const uint32_t*>(filter_ + filter_words_);
  hashes_ = buckets_ + bucket_count_;
  symbol_count_ = first_defined_;  // not needed beyond
}

std::string_view Loaded::file() const {
  return std::string_view(path_).substr(path_.rfind('/') + 1);
}

std::string_view Loaded::stem() const { return file().substr(0, file().find(".so")); }

bool Loaded::has(const void* address) const {
  const auto place = reinterpret_cast<uintptr_t>(address);
  for (size_t i = 0; i < segment_count_; ++i)
    if (segments_[i].p_type == PT_LOAD &&
        place - base_ - segments_[i].p_vaddr < segments_[i].p_memsz)
      return true;
  return false;
}

bool Loaded::is_named(const Symbol& symbol, std::string_view name) const {
  const char* const own = names_ + symbol.st_name;
  return strncmp(own, name.data(), name.size()) == 0 && own[name.size()] == '\0';
}

const Loaded::Symbol* Loaded::find_by_hash(std::string_view name, uint32_t hash) const {
  if (!may_define(hash)) return nullptr;
  size_t i = bucket_count_ == 0 ? 0 : buckets_[hash % bucket_count_];
  if (i < first_defined_) return nullptr;
  for (;; ++i) {
    const uint32_t its = hashes_[i - first_defined_];
    if ((its | 1) == (hash | 1) && is_named(symbols_[i], name)) return &symbols_[i];
    if ((its & 1) != 0) return nullptr;
  }
}

const Loaded::Symbol* Loaded::find(std::string_view name, uint32_t hash) const {
  const auto is_definition = [](const Symbol& symbol) {
    return symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0;
  };
  if (buckets_ != nullptr) {
    const Symbol* const found = find_by_hash(name, hash);
    return found != nullptr && is_definition(*found) ? found : nullptr;
  }
  for (size_t i = 0; i < symbol_count_; ++i)
    if (is_definition(symbols_[i]) && is_named(symbols_[i], name)) return &symbols_[i];
  return nullptr;
}

void* Loaded::definition(std::string_view name, uint32_t hash) const {
  const Symbol* const symbol = find(name, hash);
  return symbol == nullptr ? nullptr : reinterpret_cast<void*>(base_ + symbol->st_value);
}

bool Loaded::refers_to(std::string_view name) const {
  for (size_t i = 1; i < symbol_count_; ++i)
    if (symbols_[i].st_shndx == SHN_UNDEF && is_named(symbols_[i], name)) return true;
  return false;
}

bool Loaded::write(void* place, uintptr_t word) const {
  const auto page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<uintptr_t>(place);
  void* const page = reinterpret_cast<void*>(address & ~(page_bytes - 1));
  bool writable = false;
  int rights = PROT_READ;
  for (size_t i = 0; i < segment_count_; ++i) {
    const ElfW(Phdr) & segment = segments_[i];
    if (segment.p_type != PT_LOAD || address - base_ - segment.p_vaddr >= segment.p_memsz) continue;
    writable = (segment.p_flags & PF_W) != 0;
    if ((segment.p_flags & PF_X) != 0) rights |= PROT_EXEC;
  }
  // The linker has taken away the right to write from the whole pages of the segment "relro".
  for (size_t i = 0; i < segment_count_; ++i) {
    const ElfW(Phdr) & segment = segments_[i];
    const uintptr_t first = (base_ + segment.p_vaddr) & ~(page_bytes - 1);
    const uintptr_t end = (base_ + segment.p_vaddr + segment.p_memsz) & ~(page_bytes - 1);
    if (segment.p_type == PT_GNU_RELRO && address >= first && address < end) writable = false;
  }
  if (!writable && mprotect(page, page_bytes, rights | PROT_WRITE) != 0) return false;
  std::atomic_ref(*static_cast<uintptr_t*>(place)) = word;
  if (!writable) mprotect(page, page_bytes, rights);
  return true;
}

void Loaded::redirect(const Redirections& redirections) const {
  for (const Relocations& relocations : relocations_)
    for (size_t i = 0; i < relocations.count; ++i) {
      const ElfW(Rela) & one = relocations.first[i];
      const size_t symbol = ELF64_R_SYM(one.r_info);
      if (symbol == 0 || one.r_addend != 0 || !is_reference(ELF64_R_TYPE(one.r_info))) continue;
      const auto found = redirections.find(std::string_view(names_ + symbols_[symbol].st_name));
      if (found == redirections.end()) continue;
      void** const slot = reinterpret_cast<void**>(base_ + one.r_offset);
      // Until its first use, a reference leads to code of this file, which calls the linker.
      const bool unused = &relocations == &relocations_[1] && has(*slot);
      if (*slot == found->second.from || unused)
        write(slot, reinterpret_cast<uintptr_t>(found->second.to));
    }
}

bool Loaded::give_name_to(std::string_view name, const void* function) const {
  const Symbol* const symbol = find(name, symbol_hash(name));
  return symbol != nullptr && write(const_cast<ElfW(Addr)*>(&symbol->st_value),
                                    reinterpret_cast<uintptr_t>(function) - base_);
}

}  // namespace tutti::mpi
