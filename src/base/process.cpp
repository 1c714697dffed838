#include "base/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

namespace tutti {

std::string host_name() {
  utsname names{};
  uname(&names);
  return names.nodename;
}

uint64_t process_namespace() {
  struct stat status{};
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

namespace {

// Some fields of /proc/PROCESS/stat: the kernel's view of a process.
struct Told {
  char state = '?';
  int64_t threads = 1;
  uint64_t started = 0;
};
// Allocates nothing, because waits call it, and memory may have run out.
std::optional<Told> told_of(int64_t process) {
  char path[32], text[1024];
  snprintf(path, sizeof path, "/proc/%lld/stat", static_cast<long long>(process));
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return std::nullopt;
  text[length] = '\0';
  // The name is in brackets and may hold any character; the state follows as the third field.
  const char* const end_of_name = strrchr(text, ')');
  long long threads = 0;
  unsigned long long started = 0;
  Told told;
  if (end_of_name == nullptr ||
      sscanf(end_of_name + 1,
             " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lld %*s %llu",
             &told.state, &threads, &started) != 3)
    return std::nullopt;
  told.threads = threads;
  told.started = started;
  return told;
}

// The first thread of a process may have ended while others run.
bool has_ended(const Told& told) {
  return (told.state == 'Z' || told.state == 'X') && told.threads <= 1;
}

bool is_free(int64_t process) {
  return kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
}

bool is_another(const Told& told, const ProcessId& process) {
  return process.started != 0 && told.started != process.started;
}

}  // namespace

ProcessId this_process() { return {getpid(), start_of_process(getpid())}; }

uint64_t start_of_process(int64_t process) {
  const auto told = told_of(process);
  return told ? told->started : 0;
}

bool process_is_gone(const ProcessId& process) {
  if (is_free(process.number)) return true;
  const auto told = told_of(process.number);
  return told && (has_ended(*told) || is_another(*told, process));
}

bool process_is_gone(uint64_t process) {
  return process_is_gone(ProcessId{static_cast<int64_t>(process), 0});
}

bool process_is_stopped(const ProcessId& process) {
  const auto told = told_of(process.number);
  return told && !is_another(*told, process) && (told->state == 'T' || told->state == 't');
}

const char* stopped_note(uint64_t process) {
  const bool stopped = process_is_stopped({static_cast<int64_t>(process), 0});
  return stopped ? ", stopped by a signal" : "";
}

// With a descriptor of the process, so that no other one can get its number before the signal.
bool kill_process(const ProcessId& process) {
  const auto number = static_cast<pid_t>(process.number);
  const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, number, 0));
  if (descriptor < 0 && errno == ESRCH) return false;
  const auto told = told_of(process.number);
  const bool is_it = told && !is_another(*told, process) && !has_ended(*told);
  const bool sent =
      is_it && (descriptor >= 0 ? syscall(SYS_pidfd_send_signal, descriptor, SIGKILL, nullptr, 0)
                                : kill(number, SIGKILL)) == 0;
  if (descriptor >= 0) close(descriptor);
  return sent;
}

}  // namespace tutti
