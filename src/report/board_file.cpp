#include "report/board_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/process.h"

namespace tutti::report {
namespace {

constexpr char directory[] = "/dev/shm";
constexpr int places = 1024;  // the file takes memory only for those that are taken

[[noreturn]] void fail(const std::string& path) {
  throw Error(Code::unavailable, path + ": " + std::strerror(errno));
}

// The files of this user whose processes this process can find by their numbers.
std::string path_of_files() {
  return directory + ("/tutti-report-" + std::to_string(getuid())) + "-" +
         std::to_string(process_namespace()) + "-";
}

// True of an open file, which is locked, if all processes that have entered have ended.
bool is_left(int file) {
  struct stat found{};
  if (fstat(file, &found) != 0 || found.st_uid != getuid() || found.st_nlink == 0) return false;
  if (static_cast<size_t>(found.st_size) < Board::bytes(places)) return true;
  void* const mapped =
      mmap(nullptr, Board::bytes(places), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) return false;
  const bool left = Board(static_cast<std::byte*>(mapped), places, 0).all_ended();
  munmap(mapped, Board::bytes(places));
  return left;
}

}  // namespace

BoardFile::BoardFile(const std::string& job, int rank) : path_(path_of_files() + job) {
  std::replace(path_.begin() + sizeof directory, path_.end(), '/', '-');
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
  remove_left_files();
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

void BoardFile::remove_left_files() const {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; entry != end;
       entry.increment(error)) {
    const std::string path = entry->path().string();
    if (!path.starts_with(path_of_files()) || path == path_) continue;
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) continue;
    if (flock(file, LOCK_EX | LOCK_NB) == 0 && is_left(file)) unlink(path.c_str());
    close(file);
  }
}

void BoardFile::remove() {
  if (flock(file_, LOCK_EX) == 0 && board_->nobody_comes(true)) unlink(path_.c_str());
  flock(file_, LOCK_UN);
}

}  // namespace tutti::report
