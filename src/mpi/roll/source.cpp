#include "mpi/roll/source.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>

#include "mpi/roll/tripwire.h"

#if defined(TUTTI_HAS_BACKTRACE)
#include <backtrace.h>
#endif

namespace tutti::mpi::roll {
namespace {

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  return status == 0 && text != nullptr ? text.get() : name;
}

std::string without_directory(const std::string& path) { return path.substr(path.rfind('/') + 1); }

#if defined(TUTTI_HAS_BACKTRACE)
void ignore(void*, const char*, int) {}

// Inlining makes several frames of one address; the innermost comes first.
int note_line(void* data, uintptr_t, const char* file, int line, const char* function) {
  auto& source = *static_cast<Source*>(data);
  if (file == nullptr) return 0;
  source.file = file;
  source.line = line;
  if (function != nullptr) source.function = demangled(function);
  return 1;
}

void note_symbol(void* data, uintptr_t, const char* name, uintptr_t, uintptr_t) {
  if (name != nullptr) static_cast<Source*>(data)->symbol = name;
}

void add_debug_information(uintptr_t address, Source* source) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  static backtrace_state* const state = backtrace_create_state(nullptr, 0, ignore, nullptr);
  if (state == nullptr) return;
  backtrace_pcinfo(state, address, note_line, ignore, source);
  if (source->symbol.empty()) backtrace_syminfo(state, address, note_symbol, ignore, source);
}
#else
void add_debug_information(uintptr_t, Source*) {}
#endif

#if defined(__x86_64__)
// Memory that may not be there.
template <class Value>
std::optional<Value> copy_of(uintptr_t address) {
  Value value{};
  const iovec to{&value, sizeof value};
  const iovec from{reinterpret_cast<void*>(address), sizeof value};
  if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != static_cast<ssize_t>(sizeof value))
    return {};
  return value;
}
#endif

}  // namespace

Source symbol_of(uintptr_t address) {
  Source source;
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(address), &info) == 0) return source;
  source.object = info.dli_fname;
  if (info.dli_sname != nullptr) source.symbol = info.dli_sname;
  return source;
}

Source source_of(uintptr_t address) {
  Source source = symbol_of(address);
  add_debug_information(address, &source);
  if (source.function.empty() && !source.symbol.empty())
    source.function = demangled(source.symbol.c_str());
  if (source.file.empty() && source.function.empty())
    source.function = without_directory(object_at(address));
  return source;
}

std::string object_at(uintptr_t address) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(address), &info) == 0) return {};
  char offset[32];
  std::snprintf(offset, sizeof offset, "+0x%zx",
                address - reinterpret_cast<uintptr_t>(info.dli_fbase));
  return info.dli_fname + std::string(offset);
}

std::string called_at([[maybe_unused]] uintptr_t address) {
#if defined(__x86_64__)
  const uintptr_t end = address + 1;
  const auto code = copy_of<std::array<unsigned char, 6>>(end - 6);
  if (!code) return {};
  const auto distance = copy_of<int32_t>(end - 4);
  uintptr_t entry = 0;  // in the table of addresses
  if ((*code)[0] == 0xFF && (*code)[1] == 0x15) {
    entry = end + static_cast<uintptr_t>(*distance);
  } else if ((*code)[1] == 0xE8) {
    uintptr_t stub = end + static_cast<uintptr_t>(*distance);
    constexpr std::array<unsigned char, 4> branch_target = {0xF3, 0x0F, 0x1E, 0xFA};
    if (copy_of<std::array<unsigned char, 4>>(stub) == branch_target) stub += branch_target.size();
    if (copy_of<unsigned char>(stub) == 0xF2) ++stub;
    if (copy_of<uint16_t>(stub) != 0x25FF) return symbol_of(stub).symbol;
    if (const auto further = copy_of<int32_t>(stub + 2))
      entry = stub + 6 + static_cast<uintptr_t>(*further);
  }
  const auto function = copy_of<uintptr_t>(entry);
  if (!function) return {};
  const std::string watched = function_of_wire(*function);
  return watched.empty() ? symbol_of(*function).symbol : watched;
#else
  return {};
#endif
}

std::string Source::text() const {
  if (file.empty()) return function;
  const std::string place = without_directory(file) + ":" + std::to_string(line);
  return function.empty() ? place : place + " (" + function + ")";
}

}  // namespace tutti::mpi::roll
