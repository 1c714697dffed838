// The program and the libraries that the dynamic linker has loaded, as far as their symbols tell
// who defines a function and who calls it.
//
// A Loaded refers to the linker's own tables of one file. It stays valid until that file is
// unloaded; no file of the search order is. Reading is for any thread. The functions that change
// symbols are for the thread that makes the Host, once.
#pragma once

#include <cstdint>
#include <link.h>

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tutti::mpi {

// GNU's hash of a name. A caller with many names computes them once.
constexpr uint32_t symbol_hash(std::string_view name) {
  uint32_t hash = 5381;
  for (const char letter : name) hash = hash * 33 + static_cast<unsigned char>(letter);
  return hash;
}

// A file's references to a function, and the one that they are to lead to; those of a file have the
// names of the functions.
struct Redirection {
  const void* from;
  void* to;
};
struct SymbolHash {
  using is_transparent = void;
  size_t operator()(std::string_view name) const { return symbol_hash(name); }
};
using Redirections = std::unordered_map<std::string, Redirection, SymbolHash, std::equal_to<>>;

class Loaded {
 public:
  // All, in the order in which they were loaded: the program, the preloaded libraries, the rest.
  static std::vector<Loaded> all();

  // The one among these whose memory has the address; null if none has.
  static const Loaded* that_has(const std::vector<Loaded>& all, const void* address);

  // Empty for the program.
  const std::string& path() const { return path_; }
  // The name of its file without the directory, and that without all from ".so" on.
  std::string_view file() const;
  std::string_view stem() const;

  bool has(const void* address) const;
  // The address of a function that the file defines; null if it defines none of this name.
  void* definition(std::string_view name) const { return definition(name, symbol_hash(name)); }
  void* definition(std::string_view name, uint32_t hash) const;
  // Quick. False for nearly all hashes of names that the file does not define, and for no other.
  bool may_define(uint32_t hash) const {
    if (filter_ == nullptr) return true;
    constexpr uint32_t bits = 8 * sizeof *filter_;
    const ElfW(Addr) word = filter_[hash / bits & (filter_words_ - 1)];
    return (word >> hash % bits & word >> (hash >> filter_shift_) % bits & 1) != 0;
  }
  // True if the file leaves the name to others to define.
  bool refers_to(std::string_view name) const;

  // Changes this file's references that the linker has led to `from`, or that it would look up at
  // their first use.
  void redirect(const Redirections& redirections) const;
  // Makes the linker find `function` whenever it finds this file's definition of a name. False if
  // the memory of the symbol cannot be changed.
  bool give_name_to(std::string_view name, const void* function) const;

 private:
  using Symbol = ElfW(Sym);
  struct Relocations {
    const ElfW(Rela) * first = nullptr;
    size_t count = 0;
  };

  explicit Loaded(const dl_phdr_info& info);
  void read_dynamic(const ElfW(Dyn) * entries);
  void read_hashes(const uint32_t* gnu_hash, const uint32_t* hash);
  // An entry of the dynamic section is an address or, on some machines, an offset in the file.
  template <class Item>
  const Item* at(ElfW(Addr) place) const {
    return reinterpret_cast<const Item*>(place < base_ ? base_ + place : place);
  }
  bool is_named(const Symbol& symbol, std::string_view name) const;
  const Symbol* find(std::string_view name, uint32_t hash) const;
  const Symbol* find_by_hash(std::string_view name, uint32_t hash) const;
  // Writes a word that the linker may have made read-only.
  bool write(void* place, uintptr_t word) const;

  std::string path_;
  uintptr_t base_ = 0;
  const ElfW(Phdr) * segments_ = nullptr;
  size_t segment_count_ = 0;
  const Symbol* symbols_ = nullptr;
  const char* names_ = nullptr;
  size_t symbol_count_ = 0;   // with GNU's hash, of those that are no definitions
  size_t first_defined_ = 0;  // the first definition, if buckets_ is not null
  // The table of GNU's hash: a filter with two bits of each definition, the first symbol of each
  // bucket, and for each definition its hash, whose last bit tells that the bucket ends. Null if
  // the file has another table.
  const ElfW(Addr) * filter_ = nullptr;
  uint32_t filter_words_ = 0,
           filter_shift_ = 0;  // a power of two; from a name's first to its second bit
  const uint32_t* buckets_ = nullptr;
  uint32_t bucket_count_ = 0;
  const uint32_t* hashes_ = nullptr;
  Relocations relocations_[2];
};

}  // namespace tutti::mpi
