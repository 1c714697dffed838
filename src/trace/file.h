// The file of a trace, which rank 0 writes in MPI_Finalize. docs/tracing.md describes it for
// readers.
//
//   8 bytes   "tutti-tr"
//   u32       version of the format, 2
//   u32       bytes of a record, 32
//   u64       bytes of the header
//   u64       number of records
//   header    JSON, padded with spaces so that the records start at a multiple of 64 bytes
//   records   those of every ring, in the order of the header's rings
//
// All numbers are little-endian. A File belongs to one thread. It is written under another name and
// renamed when it is whole, so that a file with the final name is always whole. The destructor
// removes a file that was not committed.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>

namespace tutti::trace {

inline constexpr uint32_t file_version = 2;

class File {
 public:
  // Constructor and functions throw Error(invalid_argument), one line with the name and the reason,
  // where the file cannot be written. A name that something else than a plain file has is refused,
  // because renaming would replace it.
  // `remedy`: what a user does to name another file.
  explicit File(const std::string& name, std::string remedy = "set TUTTI_TRACE to");
  ~File();
  File(const File&) = delete;

  void begin(const std::string& header, uint64_t records);
  void append(const void* bytes, size_t count);
  void commit();

 private:
  [[noreturn]] void fail(int error) const;

  std::string name_;
  std::string beside_;
  std::string remedy_;
  std::FILE* file_ = nullptr;
};

// True if the trace of an MPI program, which all of its processes write together, has the name that
// TUTTI_TRACE gives. Set inside MPI_Init, by the thread that calls it.
extern constinit std::atomic<bool> is_of_mpi;

// Makes a File and removes it, to find out whether it can be made. Throws as File does.
void require_writable(const std::string& name);

}  // namespace tutti::trace
