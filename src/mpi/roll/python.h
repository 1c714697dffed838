// The innermost frame of a thread's Python code, found without the interpreter's lock.
//
// Python 3.11 and 3.12 export the function by which faulthandler writes a stack. Python 3.13
// and 3.14 do not; they have a table instead, at the begin of _PyRuntime, that tells debuggers
// where the parts of frames and code objects are (PEP 768 describes it). Python 3.10 has neither,
// but its parts have not moved since. Where the places are known, the frame is copied by the
// system, which refuses addresses that are not there: the thread may be interrupted in the middle
// of making a frame.
//
// The watchdog prepares, the thread in question takes its frame in the handler of a signal, and the
// watchdog makes a text of it then (stack.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tutti::mpi::roll {

// Offsets in bytes, from a table of the interpreter's.
struct PythonOffsets {
  // True for Python 3.10: a frame has the number of its instruction in place of its address, and
  // line tables have another format.
  bool is_3_10 = false;
  uint64_t current_frame;                                   // in the state of a thread
  uint64_t previous, executable, instruction;               // in a frame
  uint64_t file, name, line_table, first_line, first_code;  // in a code object
  uint64_t type;                                            // in an object
  uint64_t bytes_size, bytes;                               // in a bytes object
  uint64_t text_size, text;                                 // in a string of ASCII

  bool operator==(const PythonOffsets&) const = default;
};
inline constexpr size_t words_of_python_table = 81;
// Nothing: another version of Python, or one without the lock, whose code is elsewhere.
std::optional<PythonOffsets> python_offsets(std::span<const uint64_t, words_of_python_table> table);
// The line of the instruction at an offset, by a code object's line table; nothing: it has none.
// (CPython's InternalDocs/code_objects.md describes the format.)
std::optional<int> python_line(std::span<const uint8_t> line_table, int first_line,
                               uint64_t offset);
// The same in Python 3.10 (Objects/lnotab_notes.txt of its source).
std::optional<int> line_of_python_3_10(std::span<const uint8_t> line_table, int first_line,
                                       uint64_t offset);

void begin_asking_python();
void end_asking_python();
// Before a thread is asked.
void prepare_python();
// For the handler of a signal, in the thread that is asked.
void take_python_frame();
// The frame that was taken: FILE:LINE (FUNCTION); empty: none.
std::string python_frame();

}  // namespace tutti::mpi::roll
