#include "report/board_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace tutti::report {
namespace {

constexpr int places = 1024;  // the file takes memory only for those that are taken

[[noreturn]] void fail(const std::string& path) {
  throw Error(Code::unavailable, path + ": " + std::strerror(errno));
}

}  // namespace

BoardFile::BoardFile(const std::string& job, int rank)
    : path_("/dev/shm/tutti-report-" + std::to_string(getuid()) + "-" + job) {
  std::replace(path_.begin() + sizeof "/dev/shm", path_.end(), '/', '-');
  while (!open_and_lock()) close(file_);
  void* const mapped =
      ftruncate(file_, static_cast<off_t>(Board::bytes(places))) == 0
          ? mmap(nullptr, Board::bytes(places), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0)
          : MAP_FAILED;
  if (mapped == MAP_FAILED) {
    close(file_);
    fail(path_);
  }
  memory_ = static_cast<std::byte*>(mapped);
  const int own = Board::place_of_this_process(memory_, places);
  if (own < 0) {
    errno = ENOSPC;
    close(file_);
    munmap(memory_, Board::bytes(places));
    fail(path_);
  }
  board_.emplace(memory_, places, own);
  board_->enter(rank);
  flock(file_, LOCK_UN);
}

BoardFile::~BoardFile() {
  munmap(memory_, Board::bytes(places));
  close(file_);
}

bool BoardFile::open_and_lock() {
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file_ < 0 || flock(file_, LOCK_EX) != 0) fail(path_);
  struct stat found{};
  if (fstat(file_, &found) != 0 || found.st_uid != getuid()) fail(path_);
  return found.st_nlink > 0;
}

void BoardFile::remove() {
  if (flock(file_, LOCK_EX) == 0 && board_->nobody_comes(true)) unlink(path_.c_str());
  flock(file_, LOCK_UN);
}

}  // namespace tutti::report
