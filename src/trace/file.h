// The file of a trace: what rank 0 writes at finalize. docs/tracing.md describes it for readers.
//
//   8 bytes   "tutti-tr"
//   u32       version of the format, 1
//   u32       bytes of a record, 32
//   u64       bytes of the header
//   u64       number of records
//   header    JSON, padded with spaces so that the records start on a multiple of 64 bytes
//   records   those of every track, in the order of the header's tracks
//
// All numbers are little-endian. A File belongs to one thread. It is written beside its final name
// and renamed when it is whole, so that under the final name there is never a part of one; what was
// not committed is removed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace tutti::trace {

inline constexpr uint32_t file_version = 1;

class File {
 public:
  // Throw Error(invalid_argument), one line with the name and the reason, where the file cannot be
  // made. A name that is taken by anything but a plain file is refused: renaming would replace it.
  explicit File(const std::string& name);
  ~File();
  File(const File&) = delete;

  void begin(const std::string& header, uint64_t records);
  void append(const void* bytes, size_t count);
  void commit();

 private:
  [[noreturn]] void fail(int error) const;

  std::string name_;
  std::string beside_;
  std::FILE* file_ = nullptr;
};

// Whether a File could be made, found out by making and removing one. Throws as it does.
void require_writable(const std::string& name);

}  // namespace tutti::trace
