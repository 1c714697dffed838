#include "mpi/roll/python.h"

#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "mpi/roll/pipe.h"

namespace tutti::mpi::roll {
namespace {

using ThisThread = void* (*)();
using DumpTraceback = void (*)(int file, void* thread);

ThisThread this_python_thread = nullptr;
DumpTraceback dump_traceback = nullptr;
Pipe dumped;

constexpr size_t longest_text = 512, longest_table = 16 * 1024;
constexpr uint64_t bytes_of_unit = 2;  // instructions and their operands are some units long
constexpr int most_frames = 16;        // until one of a function in Python

// The frame of the thread that was asked last, as it was copied.
struct Taken {
  bool is_there;
  size_t file_bytes, name_bytes, table_bytes;
  int first_line;
  uint64_t offset;  // from the code's begin to the instruction
  char file[longest_text], name[longest_text];
  uint8_t table[longest_table];
};
Taken taken;
std::optional<PythonOffsets> offsets;
uintptr_t code_type = 0;

bool copy(uintptr_t from, void* to, size_t bytes) {
  const iovec local{to, bytes}, remote{reinterpret_cast<void*>(from), bytes};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}
template <class Value>
Value word_at(uintptr_t address) {
  Value value{};
  return copy(address, &value, sizeof value) ? value : Value{};
}

// The bytes of a bytes object or a string of ASCII; 0: it is too long, or cannot be read.
size_t copy_object(uintptr_t object, uint64_t size_at, uint64_t data_at, void* to, size_t most) {
  const auto size = word_at<uint64_t>(object + size_at);
  return size > 0 && size <= most && copy(object + data_at, to, size) ? size : 0;
}

void copy_frame(uintptr_t frame) {
  constexpr uintptr_t tag = 3;  // Python 3.14 marks references that it does not count
  uintptr_t code = 0;
  for (int i = 0; i < most_frames && frame != 0; ++i) {
    code = word_at<uintptr_t>(frame + offsets->executable) & ~tag;
    if (code != 0 && word_at<uintptr_t>(code + offsets->type) == code_type) break;
    frame = word_at<uintptr_t>(frame + offsets->previous);
    code = 0;
  }
  if (frame == 0 || code == 0) return;
  const auto text_of = [&](uint64_t at, char* to) {
    return copy_object(word_at<uintptr_t>(code + at), offsets->text_size, offsets->text, to,
                       longest_text);
  };
  taken.file_bytes = text_of(offsets->file, taken.file);
  taken.name_bytes = text_of(offsets->name, taken.name);
  taken.table_bytes = copy_object(word_at<uintptr_t>(code + offsets->line_table),
                                  offsets->bytes_size, offsets->bytes, taken.table, longest_table);
  taken.first_line = word_at<int>(code + offsets->first_line);
  const uintptr_t instruction = frame + offsets->instruction;
  taken.offset = offsets->is_3_10
                     ? bytes_of_unit * static_cast<uint64_t>(std::max(word_at<int>(instruction), 0))
                     : word_at<uintptr_t>(instruction) - (code + offsets->first_code);
  taken.is_there = taken.file_bytes > 0;
}

// The headers of Python 3.10 say so on processors of 64 bits, without options for debugging.
constexpr PythonOffsets of_python_3_10{.is_3_10 = true,
                                       .current_frame = 24,
                                       .previous = 24,
                                       .executable = 32,
                                       .instruction = 96,
                                       .file = 104,
                                       .name = 112,
                                       .line_table = 120,
                                       .first_line = 40,
                                       .first_code = 0,
                                       .type = 8,
                                       .bytes_size = 16,
                                       .bytes = 32,
                                       .text_size = 16,
                                       .text = 48};
bool is_python_3_10() {
  using Version = const char* (*)();
  const auto version = reinterpret_cast<Version>(dlsym(RTLD_DEFAULT, "Py_GetVersion"));
  return sizeof(void*) == 8 && version != nullptr &&
         std::string_view(version()).starts_with("3.10.");
}

std::string_view file_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string text_of(std::string_view path, std::string_view line, std::string_view function) {
  return std::string(file_of(path)) + ":" + std::string(line) + " (" + std::string(function) + ")";
}

// A string that is not of ASCII has other data at this place, in which bytes are 0.
std::string_view printable(const char* text, size_t bytes) {
  const std::string_view all(text, bytes);
  return !all.empty() && all.find('\0') == std::string_view::npos ? all : "?";
}

// Reads the first line `  File "FILE", line LINE in FUNCTION`.
std::string innermost_of(const std::string& dump) {
  constexpr std::string_view before_path = "File \"", before_line = "\", line ",
                             before_name = " in ";
  const size_t path = dump.find(before_path);
  if (path == std::string::npos) return {};
  const size_t line = dump.find(before_line, path);
  if (line == std::string::npos) return {};
  const size_t name = dump.find(before_name, line);
  if (name == std::string::npos) return {};
  const auto between = [&](size_t begin, std::string_view word, size_t end) {
    return std::string_view(dump).substr(begin + word.size(), end - begin - word.size());
  };
  return text_of(between(path, before_path, line), between(line, before_line, name),
                 between(name, before_name, std::min(dump.find('\n', name), dump.size())));
}

}  // namespace

std::optional<PythonOffsets> python_offsets(
    std::span<const uint64_t, words_of_python_table> table) {
  constexpr uint64_t cookie = 0x7970677562656478;  // "xdebugpy"
  const uint64_t version = table[1] >> 16;
  const bool without_lock = table[2] != 0;
  if (table[0] != cookie || without_lock) return {};
  PythonOffsets found{};
  uint64_t text_at = 0;
  if (version == 0x030D) {
    found = {false,     table[23], table[29], table[30], table[31], table[35], table[36], table[38],
             table[39], table[43], table[45], table[65], table[66], table[69], table[70]};
    text_at = 67;
  } else if (version == 0x030E) {
    found = {false,     table[26], table[32], table[33], table[34], table[40], table[41], table[43],
             table[44], table[48], table[51], table[75], table[76], table[79], table[80]};
    text_at = 77;
  } else {
    return {};
  }
  // Members whose places have never changed: the table is the one that it is taken for.
  const bool fits = found.type == 8 && found.bytes_size == 16 && found.bytes == 32 &&
                    table[text_at] == 64 && found.text == 40;
  return fits ? std::optional(found) : std::nullopt;
}

std::optional<int> python_line(std::span<const uint8_t> line_table, int first_line,
                               uint64_t offset) {
  size_t at = 0;
  // 6 bits in each byte, the lowest first; another byte follows if bit 6 is set.
  const auto number = [&] {
    unsigned value = 0;
    for (int shift = 0; at < line_table.size() && shift < 30; shift += 6) {
      const uint8_t byte = line_table[at++];
      value |= static_cast<unsigned>(byte & 63) << shift;
      if ((byte & 64) == 0) break;
    }
    return value;
  };
  const auto signed_number = [&] {
    const unsigned value = number();
    const auto size = static_cast<int>(value >> 1);
    return (value & 1) != 0 ? -size : size;
  };
  int line = first_line;
  for (uint64_t begin = 0; at < line_table.size();) {
    const uint8_t head = line_table[at++];
    const int kind = head >> 3 & 15;
    const bool has_line = kind != 15;
    if (kind >= 10 && kind <= 12) line += kind - 10;
    if (kind == 13 || kind == 14) line += signed_number();
    begin += bytes_of_unit * (static_cast<uint64_t>(head & 7) + 1);
    if (offset < begin) return has_line ? std::optional(line) : std::nullopt;
    // The next entry begins at the next byte whose highest bit is set.
    while (at < line_table.size() && line_table[at] < 128) ++at;
  }
  return {};
}

std::optional<int> line_of_python_3_10(std::span<const uint8_t> line_table, int first_line,
                                       uint64_t offset) {
  constexpr auto no_line = int8_t{-128};
  int line = first_line;
  uint64_t end = 0;
  for (size_t i = 0; i + 1 < line_table.size(); i += 2) {
    const auto step = static_cast<int8_t>(line_table[i + 1]);
    if (step != no_line) line += step;
    end += line_table[i];
    if (offset < end) return step != no_line ? std::optional(line) : std::nullopt;
  }
  return {};
}

void begin_asking_python() { dumped.open(); }
void end_asking_python() { dumped.close(); }

void prepare_python() {
  dumped.drain();
  taken.is_there = false;
  if (this_python_thread != nullptr) return;
  dump_traceback = reinterpret_cast<DumpTraceback>(dlsym(RTLD_DEFAULT, "_Py_DumpTraceback"));
  const void* const runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
  if (dump_traceback == nullptr && runtime != nullptr) {
    std::array<uint64_t, words_of_python_table> table{};
    if (copy(reinterpret_cast<uintptr_t>(runtime), table.data(), sizeof table))
      offsets = python_offsets(table);
    if (is_python_3_10()) offsets = of_python_3_10;
    code_type = reinterpret_cast<uintptr_t>(dlsym(RTLD_DEFAULT, "PyCode_Type"));
  }
  if (dump_traceback != nullptr || offsets)
    this_python_thread =
        reinterpret_cast<ThisThread>(dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState"));
}

void take_python_frame() {
  void* const thread = this_python_thread != nullptr ? this_python_thread() : nullptr;
  if (thread == nullptr) return;
  if (dump_traceback != nullptr)
    dump_traceback(dumped.in(), thread);
  else
    copy_frame(word_at<uintptr_t>(reinterpret_cast<uintptr_t>(thread) + offsets->current_frame));
}

std::string python_frame() {
  if (!taken.is_there) return innermost_of(dumped.drain());
  const auto line_of = offsets->is_3_10 ? line_of_python_3_10 : python_line;
  const std::optional<int> line =
      line_of({taken.table, taken.table_bytes}, taken.first_line, taken.offset);
  return text_of(printable(taken.file, taken.file_bytes), line ? std::to_string(*line) : "?",
                 printable(taken.name, taken.name_bytes));
}

}  // namespace tutti::mpi::roll
