// A store of files (store.h). A file has the process that wrote it, then the value. It is written
// under another name and renamed, so that readers see all of it or nothing.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "team/store.h"

namespace tutti::team {
namespace {

class DirectoryStore final : public Store {
 public:
  explicit DirectoryStore(std::string directory) : directory_(std::move(directory)) {
    struct stat found{};
    if (stat(directory_.c_str(), &found) != 0 || !S_ISDIR(found.st_mode))
      throw Error(Code::unavailable, directory_ + " is no directory; make one that all ranks see");
  }
  ~DirectoryStore() override {
    for (const std::string& path : written_) unlink(path.c_str());
  }

  std::string name() const override { return "the directory " + directory_; }

  void set(const std::string& key, const void* data, size_t bytes) override {
    const std::string path = path_of(key);
    const std::string draft = path + "." + std::to_string(getpid());
    std::vector<std::byte> content(sizeof own_ + bytes);
    std::memcpy(content.data(), &own_, sizeof own_);
    std::memcpy(content.data() + sizeof own_, data, bytes);
    const int file = open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) throw_errno("cannot create " + draft);
    const ssize_t put = write(file, content.data(), content.size());
    close(file);
    if (put != static_cast<ssize_t>(content.size()) || rename(draft.c_str(), path.c_str()) != 0) {
      const int error = errno;
      unlink(draft.c_str());
      errno = error;
      throw_errno("cannot write " + path);
    }
    written_.push_back(path);
  }

  bool get(const std::string& key, void* data, size_t bytes, Clock::time_point deadline) override {
    const std::string path = path_of(key);
    auto rest = std::chrono::microseconds(100);
    constexpr auto longest_rest = std::chrono::microseconds(10'000);
    for (;;) {
      if (read_whole(path, data, bytes)) return true;
      if (Clock::now() >= deadline) return false;
      std::this_thread::sleep_for(rest);
      rest = std::min(2 * rest, longest_rest);
    }
  }

 private:
  std::string path_of(const std::string& key) const {
    std::string file = key;
    std::replace(file.begin(), file.end(), '/', '_');
    return directory_ + "/" + file;
  }

  // False if the file is not there, or if the process that wrote it has ended.
  bool read_whole(const std::string& path, void* data, size_t bytes) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0 && errno != ENOENT) throw_errno("cannot read " + path);
    if (file < 0) return false;
    std::vector<std::byte> content(sizeof(ProcessId) + bytes + 1);
    const ssize_t got = read(file, content.data(), content.size());
    close(file);
    ProcessId writer;
    if (got < static_cast<ssize_t>(sizeof writer)) return false;
    std::memcpy(&writer, content.data(), sizeof writer);
    if (process_is_gone(writer)) return false;
    if (got != static_cast<ssize_t>(sizeof writer + bytes))
      throw Error(Code::unavailable, path +
                                         " was written by another program; use another team's "
                                         "name, or another directory");
    std::memcpy(data, content.data() + sizeof writer, bytes);
    return true;
  }

  const std::string directory_;
  const ProcessId own_ = this_process();
  std::vector<std::string> written_;
};

}  // namespace

std::unique_ptr<Store> make_directory_store(const std::string& directory) {
  return std::make_unique<DirectoryStore>(directory);
}

}  // namespace tutti::team
