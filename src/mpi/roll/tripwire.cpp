#include "mpi/roll/tripwire.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include "mpi/host/loaded.h"
#include "shm/order.h"

#if defined(__x86_64__)

// The number is also in the assembler text.
constexpr size_t most_wires = 32;
constexpr size_t wire_bytes = 32;

// A wire counts in its word, and jumps to its target.
extern "C" {
__attribute__((visibility("hidden"))) tutti::shm::Word tutti_wire_counts[most_wires];
__attribute__((visibility("hidden"))) void* tutti_wire_targets[most_wires];
__attribute__((visibility("hidden"))) extern const std::byte tutti_wires[];
}

__asm__(R"(
  .text
  .balign 32
  .globl tutti_wires
  .hidden tutti_wires
tutti_wires:
  .set wire, 0
  .rept 32
  .balign 32
  endbr64
  lock incq tutti_wire_counts + 8 * wire(%rip)
  jmp *tutti_wire_targets + 8 * wire(%rip)
  .set wire, wire + 1
  .endr
)");

#endif

namespace tutti::mpi::roll {
namespace {

// The wires of a function's names.
std::map<std::string, std::vector<size_t>>& wires() {
  static auto& made = *new std::map<std::string, std::vector<size_t>>;
  return made;
}

}  // namespace

void set_tripwire([[maybe_unused]] const std::string& function) {
#if defined(__x86_64__)
  static size_t used = 0;
  if (wires().contains(function)) return;
  std::vector<size_t>& own = wires()[function];
  for (const std::string& name :
       {function, "P" + function, function + "_c", "P" + function + "_c"}) {
    void* const target = dlsym(RTLD_DEFAULT, name.c_str());
    if (target == nullptr || used == most_wires) continue;
    tutti_wire_targets[used] = target;
    const Redirections to_wire{
        {name, {target, const_cast<std::byte*>(tutti_wires + used * wire_bytes)}}};
    // The library that defines the function may call it for purposes of its own.
    for (const Loaded& file : Loaded::all())
      if (file.definition(name) == nullptr) file.redirect(to_wire);
    own.push_back(used++);
  }
#endif
}

uint64_t counted_calls([[maybe_unused]] const std::string& function) {
  uint64_t calls = 0;
#if defined(__x86_64__)
  const auto found = wires().find(function);
  if (found == wires().end()) return 0;
  for (const size_t wire : found->second) calls += shm::load_relaxed(tutti_wire_counts[wire]);
#endif
  return calls;
}

std::string function_of_wire([[maybe_unused]] uintptr_t address) {
#if defined(__x86_64__)
  const size_t wire = (address - reinterpret_cast<uintptr_t>(tutti_wires)) / wire_bytes;
  for (const auto& [function, own] : wires())
    if (std::find(own.begin(), own.end(), wire) != own.end()) return function;
#endif
  return {};
}

}  // namespace tutti::mpi::roll
