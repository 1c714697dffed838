#include "trace/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "trace/ring.h"

namespace tutti::trace {

constinit std::atomic<bool> is_of_mpi = false;

namespace {

static_assert(std::endian::native == std::endian::little, "the file is written as memory holds it");

constexpr char magic[8] = {'t', 'u', 't', 't', 'i', '-', 't', 'r'};
constexpr size_t alignment = 64;

struct Front {
  char magic[8];
  uint32_t version;
  uint32_t record_bytes;
  uint64_t header_bytes;
  uint64_t records;
};
static_assert(sizeof(Front) == 32);

}  // namespace

void File::fail(int error) const {
  throw Error(Code::invalid_argument, "cannot write the trace to " + in_quotes(name_) + ": " +
                                          std::strerror(error) + "; " + remedy_ +
                                          " a file that can be written");
}

File::File(const std::string& name, std::string remedy)
    : name_(name),
      beside_(name + "." + std::to_string(getpid()) + ".part"),
      remedy_(std::move(remedy)) {
  struct stat status{};
  if (stat(name.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) fail(EISDIR);
    if (!S_ISREG(status.st_mode))
      throw Error(Code::invalid_argument, "cannot write the trace to " + in_quotes(name_) +
                                              ": it is no plain file; " + remedy_ +
                                              " the name of one");
  }
  file_ = std::fopen(beside_.c_str(), "wbe");
  if (file_ == nullptr) fail(errno);
}

File::~File() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  unlink(beside_.c_str());
}

void File::begin(const std::string& header, uint64_t records) {
  const size_t unpadded = sizeof(Front) + header.size();
  const size_t padding = (alignment - unpadded % alignment) % alignment;
  Front front{};
  std::memcpy(front.magic, magic, sizeof magic);
  front.version = file_version;
  front.record_bytes = sizeof(Record);
  front.header_bytes = header.size() + padding;
  front.records = records;
  append(&front, sizeof front);
  append(header.data(), header.size());
  append(std::string(padding, ' ').data(), padding);
}

void File::append(const void* bytes, size_t count) {
  if (count > 0 && std::fwrite(bytes, 1, count, file_) != count) fail(errno);
}

void File::commit() {
  std::FILE* const file = file_;
  file_ = nullptr;
  if (std::fclose(file) == 0 && std::rename(beside_.c_str(), name_.c_str()) == 0) return;
  const int error = errno;
  unlink(beside_.c_str());
  fail(error);
}

void require_writable(const std::string& name) { File{name}; }

}  // namespace tutti::trace
