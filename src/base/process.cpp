#include "base/process.h"

#include <signal.h>
#include <sys/utsname.h>

#include <cerrno>
#include <fstream>
#include <string>

namespace tutti {

std::string host_name() {
  utsname names{};
  uname(&names);
  return names.nodename;
}

bool process_is_gone(uint64_t process) {
  if (kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH) return true;
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  if (!std::getline(stat, text)) return false;
  // The name is in brackets and may hold any character; the state follows.
  const size_t end_of_name = text.rfind(')');
  return end_of_name != std::string::npos && end_of_name + 2 < text.size() &&
         (text[end_of_name + 2] == 'Z' || text[end_of_name + 2] == 'X');
}

}  // namespace tutti
