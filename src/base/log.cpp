#include "base/log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <set>

namespace tutti {
namespace {

std::atomic<int> highest_level{static_cast<int>(LogLevel::warning)};
std::atomic<int> rank_in_prefix{-1};

const char* level_name(LogLevel level) {
  switch (level) {
    case LogLevel::error: return "error";
    case LogLevel::warning: return "warning";
    case LogLevel::info: return "info";
    case LogLevel::debug: return "debug";
  }
  return "unknown";
}

void write_whole(const char* data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = write(STDERR_FILENO, data, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // stderr is gone, so nothing can be reported
    data += written;
    bytes -= static_cast<size_t>(written);
  }
}

void log_arguments(LogLevel level, const char* format, va_list arguments) {
  const int saved_errno = errno;
  char line[PIPE_BUF];
  const int rank = rank_in_prefix.load();
  const int prefix =
      rank < 0 ? snprintf(line, sizeof line, "tutti: %s: ", level_name(level))
               : snprintf(line, sizeof line, "tutti: [rank %d] %s: ", rank, level_name(level));
  const size_t start = static_cast<size_t>(prefix);
  errno = saved_errno;  // for %m
  const int message = std::max(0, vsnprintf(line + start, sizeof line - start, format, arguments));
  // The last byte of a full line is the terminator of the message that was cut; the newline takes
  // its place.
  const size_t end = std::min(start + static_cast<size_t>(message), sizeof line - 1);
  std::replace_if(line, line + end, [](char c) { return (c >= 0 && c < ' ') || c == 127; }, ' ');
  line[end] = '\n';
  write_whole(line, end + 1);
  errno = saved_errno;
}

// True for the first call with a key. Both objects live until the process ends, because other
// libraries' exit handlers may still log.
bool first_use(const std::string& key) {
  static std::mutex& mutex = *new std::mutex;
  static std::set<std::string>& used = *new std::set<std::string>;
  const std::lock_guard<std::mutex> lock(mutex);
  return used.insert(key).second;
}

}  // namespace

void set_log_level(LogLevel level) { highest_level.store(static_cast<int>(level)); }

bool log_enabled(LogLevel level) { return static_cast<int>(level) <= highest_level.load(); }

void set_log_rank(int rank) { rank_in_prefix.store(rank); }

void log_line(LogLevel level, const char* format, ...) {
  if (!log_enabled(level)) return;
  va_list arguments;
  va_start(arguments, format);
  log_arguments(level, format, arguments);
  va_end(arguments);
}

void let_launcher_read() { usleep(200'000); }

void log_once(const std::string& key, LogLevel level, const char* format, ...) {
  if (!log_enabled(level) || !first_use(key)) return;
  va_list arguments;
  va_start(arguments, format);
  log_arguments(level, format, arguments);
  va_end(arguments);
}

}  // namespace tutti
