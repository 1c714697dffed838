#include "base/detached.h"

#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/error.h"
#include "base/signals_blocked.h"

// ThreadSanitizer takes every clone for a fork and changes its state of this thread twice, in both
// processes, which here share it. It leaves the C library's other name for the function alone.
#ifdef __SANITIZE_THREAD__
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...);
#define clone __clone
#endif

namespace tutti {
namespace {

constexpr size_t stack_bytes = size_t{64} << 10;

// The intermediate process gets and reports this.
struct Start {
  const char* path;
  char* const* arguments;
  char* const* environment;
  const posix_spawn_file_actions_t* actions;
  const posix_spawnattr_t* attributes;
  pid_t process = 0;
  int error = 0;
};

// Runs in the process between, in this process's memory.
int start_and_end(void* pointer) {
  Start& start = *static_cast<Start*>(pointer);
  start.error = posix_spawn(&start.process, start.path, start.actions, start.attributes,
                            start.arguments, start.environment);
  return 0;
}

class Stack {
 public:
  Stack()
      : memory_(mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0)) {
    if (memory_ == MAP_FAILED) throw_errno("a stack for a new process");
  }
  ~Stack() { munmap(memory_, stack_bytes); }
  Stack(const Stack&) = delete;
  void* top() const { return static_cast<char*>(memory_) + stack_bytes; }

 private:
  void* memory_;
};

// Owns what posix_spawn is told.
struct Told {
  explicit Told(int descriptor) {
    posix_spawn_file_actions_init(&actions);
    if (descriptor >= 0) posix_spawn_file_actions_adddup2(&actions, descriptor, 3);
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &all);
  }
  ~Told() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  Told(const Told&) = delete;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// A process of which this one is the parent after all would be found by wait(-1).
void refuse_adoption() {
  int adopts = 0;
  prctl(PR_GET_CHILD_SUBREAPER, &adopts, 0, 0, 0);
  if (adopts != 0 || getpid() == 1)
    throw Error(Code::unavailable,
                "this process adopts the processes below it (it is a subreaper, or the first "
                "process of a container), so the program would see one more child");
}

}  // namespace

pid_t start_detached(const DetachedProgram& program) {
  refuse_adoption();
  std::vector<std::string> words{program.path};
  words.insert(words.end(), program.arguments.begin(), program.arguments.end());
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> environment = pointers(program.environment);
  const Told told(program.descriptor);
  Start start{.path = program.path.c_str(),
              .arguments = arguments.data(),
              .environment = environment.data(),
              .actions = &told.actions,
              .attributes = &told.attributes};
  const Stack stack;
  const SignalsBlocked blocked;  // no handler may run in a process that shares this memory
  // The lowest byte of the flags is the signal that the process's end sends: none. So it is no
  // child for wait() and its like, unless they ask for such children (__WCLONE).
  const pid_t between = clone(&start_and_end, stack.top(), CLONE_VM | CLONE_VFORK, &start);
  if (between < 0) throw_errno("a process for a server");
  while (waitpid(between, nullptr, __WCLONE) < 0 && errno == EINTR) {
  }
  if (start.error != 0) throw Error(Code::unavailable, program.path + ": " + strerror(start.error));
  return start.process;
}

}  // namespace tutti
