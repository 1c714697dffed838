#include "select/contents.h"

#include <sys/stat.h>

#include <utility>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "base/text.h"

namespace tutti::select {

std::string read_file(const std::string& path, std::string_view remedy) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) {
    throw Error(Code::unavailable, path + ": " + strerror(errno) + "; " + std::string(remedy));
  }
  if (!S_ISREG(status.st_mode))
    throw Error(Code::invalid_plan, path + ": not a file; give the name of a text file");
  if (static_cast<size_t>(status.st_size) > max_file_bytes) {
    throw Error(Code::invalid_plan,
                path + ": " + readable_bytes(static_cast<uint64_t>(status.st_size)) +
                    "; a plan or map has at most " + readable_bytes(max_file_bytes));
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file && status.st_size > 0) text << file.rdbuf();
  if (!file)
    throw Error(Code::unavailable,
                path + ": cannot be read: " + strerror(errno) + "; make it readable");
  return std::move(text).str();
}

}  // namespace tutti::select
