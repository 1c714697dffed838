#include "mpi/roll/stack.h"

#include <dlfcn.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>

#include "mpi/collectives/in_host.h"
#include "mpi/job/served.h"
#include "mpi/roll/pipe.h"
#include "mpi/roll/python.h"

namespace tutti::mpi::roll {
namespace {

constexpr int asking_signal = SIGURG;
constexpr size_t most_frames = 64;
constexpr int answer_milliseconds = 500;  // many threads may share a core
constexpr pid_t answers = -1;
constexpr int most_tries = 5;
constexpr size_t most_stack_bytes = 16 * 1024;
// The callers of a system call lie so near its stack pointer.
constexpr size_t near_bytes = 512;

// The answer of the thread that is asked. The watchdog alone asks, one thread at a time.
struct Answer {
  std::atomic<pid_t> asked{0};  // the thread; 0: nobody, or it has answered; -1: it answers
  uintptr_t frames[most_frames];
  size_t count = 0;
  uint64_t served = 0, left_to_host = 0;
  bool has_call = false;
  alignas(Call) std::byte call[sizeof(Call)];
  Comm communicator{};
  LastMessage message;
};
Answer answer;
Pipe answered;
bool handles = false;

struct Unwinding {
  uintptr_t interrupted;  // where the signal came
  bool begun = false;
};

_Unwind_Reason_Code note_frame(_Unwind_Context* context, void* data) {
  auto& unwinding = *static_cast<Unwinding*>(data);
  int is_exact = 0;
  const uintptr_t at = _Unwind_GetIPInfo(context, &is_exact);
  if (at == unwinding.interrupted) unwinding.begun = true;
  if (!unwinding.begun) return _URC_NO_REASON;
  if (answer.count == most_frames) return _URC_END_OF_STACK;
  // A return address is behind the call, which may be the last instruction of a line.
  answer.frames[answer.count++] = is_exact != 0 || at == 0 ? at : at - 1;
  return _URC_NO_REASON;
}

uintptr_t program_counter(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<uintptr_t>(machine.pc);
#else
  (void)machine;
  return 0;
#endif
}

void tell(int, siginfo_t*, void* context) {
  const int error = errno;
  auto own = static_cast<pid_t>(syscall(SYS_gettid));
  if (answer.asked.compare_exchange_strong(own, answers)) {
    Unwinding unwinding{program_counter(context)};
    answer.count = 0;
    _Unwind_Backtrace(note_frame, &unwinding);
    if (answer.count == 0) answer.frames[answer.count++] = unwinding.interrupted;
    answer.served = ServedCalls::of_this_thread();
    answer.left_to_host = shm::load_relaxed(InHost::ended);
    answer.message = last_message;
    answer.has_call = InHost::current != nullptr;
    if (answer.has_call) {
      std::memcpy(answer.call, &InHost::current->call, sizeof(Call));
      answer.communicator = InHost::current->communicator;
    }
    take_python_frame();
    answer.asked = 0;
    const char done = 1;
    (void)!write(answered.in(), &done, 1);
  }
  errno = error;
}

std::string task(pid_t thread, const char* file) {
  return "/proc/self/task/" + std::to_string(thread) + "/" + file;
}

bool blocks_signal(pid_t thread) {
  std::ifstream file(task(thread, "status"));
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("SigBlk:"))
      return (std::strtoull(line.c_str() + 7, nullptr, 16) >> (asking_signal - 1) & 1) != 0;
  return true;
}

// The program may have changed what a signal does.
bool handler_is_ours() {
  struct sigaction now{};
  return sigaction(asking_signal, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
         now.sa_sigaction == tell;
}

struct Blocked {
  long call = -1;  // it runs
  uint64_t argument = 0, fourth = 0, stack_pointer = 0;

  bool operator==(const Blocked&) const = default;
};

Blocked blocked_in(pid_t thread) {
  Blocked blocked;
  std::string line;
  std::ifstream file(task(thread, "syscall"));
  std::getline(file, line);
  if (std::sscanf(line.c_str(), "%ld %" SCNx64 " %*x %*x %" SCNx64 " %*x %*x %" SCNx64,
                  &blocked.call, &blocked.argument, &blocked.fourth, &blocked.stack_pointer) != 4)
    return {};
  return blocked;
}

bool is_among(long number, std::span<const long> numbers) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

// A socket whose calls end by themselves after a time, or what tells of changes of files.
bool is_timed(int file) {
  timeval receives{}, sends{};
  socklen_t bytes = sizeof receives;
  if (getsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &receives, &bytes) == 0 &&
      getsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &sends, &bytes) == 0)
    return receives.tv_sec != 0 || receives.tv_usec != 0 || sends.tv_sec != 0 || sends.tv_usec != 0;
  std::error_code unreadable;
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file), unreadable) ==
         "anon_inode:inotify";
}

// A handler ends the system call early, whatever its flags are (signal(7) of Linux lists them).
bool ends_early(const Blocked& blocked) {
  static constexpr long always[] = {
#if defined(SYS_poll)
      SYS_poll,         SYS_select,          SYS_epoll_wait,    SYS_pause,
#endif
      SYS_nanosleep,    SYS_clock_nanosleep, SYS_ppoll,         SYS_pselect6,
      SYS_epoll_pwait,  SYS_rt_sigtimedwait, SYS_rt_sigsuspend, SYS_semtimedop,
      SYS_io_getevents, SYS_msgrcv,          SYS_msgsnd,        SYS_semop};
  static constexpr long of_files[] = {SYS_read,   SYS_readv,   SYS_recvfrom, SYS_recvmsg,
                                      SYS_write,  SYS_writev,  SYS_sendto,   SYS_sendmsg,
                                      SYS_accept, SYS_accept4, SYS_connect};
  if (is_among(blocked.call, always)) return true;
  if (blocked.call == SYS_futex) return blocked.fourth != 0;  // it has a limit of time
  return is_among(blocked.call, of_files) && is_timed(static_cast<int>(blocked.argument));
}

// A call instruction ends at `at`. Other processors than these are not looked at.
bool follows_call(const unsigned char* at) {
#if defined(__x86_64__)
  if (at[-5] == 0xE8) return true;
  const auto calls = [](unsigned char byte) { return (byte & 0x38) == 0x10; };
  return (at[-2] == 0xFF && calls(at[-1])) || (at[-3] == 0xFF && calls(at[-2])) ||
         (at[-6] == 0xFF && calls(at[-5]));
#else
  (void)at;
  return true;
#endif
}

bool is_return_address(uintptr_t at) {
  Dl_info info{};
  if (at < 4096 || dladdr(reinterpret_cast<void*>(at), &info) == 0) return false;
  struct Searched {
    uintptr_t at;
    bool is_code;
  } searched{at, false};
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* data) {
        auto& searched = *static_cast<Searched*>(data);
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const auto& part = object->dlpi_phdr[i];
          const uintptr_t first = object->dlpi_addr + part.p_vaddr;
          if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0 && searched.at >= first + 8 &&
              searched.at < first + part.p_memsz)
            return static_cast<int>(searched.is_code = true);
        }
        return 0;
      },
      &searched);
  return searched.is_code && follows_call(reinterpret_cast<const unsigned char*>(at));
}

// Looks for return addresses from the stack pointer on. `offsets` gets where they were.
std::vector<uintptr_t> read_stack(uintptr_t stack_pointer, std::vector<size_t>* offsets) {
  std::vector<uintptr_t> words(most_stack_bytes / sizeof(uintptr_t)), found;
  const iovec to{words.data(), most_stack_bytes};
  size_t bytes = most_stack_bytes;
  for (; bytes >= near_bytes; bytes /= 2) {  // the stack may end before
    const iovec from{reinterpret_cast<void*>(stack_pointer), bytes};
    if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) > 0) break;
  }
  words.resize(bytes >= near_bytes ? bytes / sizeof(uintptr_t) : 0);
  for (size_t i = 0; i < words.size() && found.size() < most_frames; ++i) {
    if (!is_return_address(words[i])) continue;
    found.push_back(words[i] - 1);
    offsets->push_back(i * sizeof(uintptr_t));
  }
  return found;
}

// Tutti's waits and the host's go on after a sleep that ended early.
bool is_of_mpi(uintptr_t at) {
  Dl_info info{}, own{};
  if (dladdr(reinterpret_cast<void*>(at), &info) == 0) return false;
  static const int here = 0;
  dladdr(&here, &own);
  const char* const slash = strrchr(info.dli_fname, '/');
  return info.dli_fbase == own.dli_fbase ||
         std::string_view(slash != nullptr ? slash + 1 : info.dli_fname).starts_with("libmpi");
}

bool may_be_asked(pid_t thread) { return handles && handler_is_ours() && !blocks_signal(thread); }

bool ask(pid_t thread, Stack* stack) {
  answer.asked = thread;
  if (syscall(SYS_tgkill, getpid(), thread, asking_signal) != 0) return false;
  pollfd waits{answered.out(), POLLIN, 0};
  poll(&waits, 1, answer_milliseconds);
  pid_t asked = thread;
  // A thread that is late finds that nobody asks. One that answers at this moment has more time; if
  // it needs still more, something is wrong with its stack, and no thread is asked any more.
  if (answer.asked.compare_exchange_strong(asked, 0)) return false;
  if (asked == answers) poll(&waits, 1, answer_milliseconds);
  if (answer.asked != 0) return handles = false;
  stack->frames.assign(answer.frames, answer.frames + answer.count);
  stack->was_asked = true;
  stack->served = answer.served;
  stack->left_to_host = answer.left_to_host;
  stack->communicator = answer.communicator;
  stack->message = answer.message;
  if (answer.has_call) {
    stack->call.emplace();
    std::memcpy(static_cast<void*>(&*stack->call), answer.call, sizeof(Call));
  }
  stack->python = python_frame();
  return true;
}

}  // namespace

void begin_asking() {
  if (!answered.open()) return;
  begin_asking_python();
  struct sigaction before{};
  if (sigaction(asking_signal, nullptr, &before) != 0 || (before.sa_flags & SA_SIGINFO) != 0 ||
      (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN))
    return;
  struct sigaction ours{};
  ours.sa_sigaction = tell;
  // SA_NODEFER: else a thread that has just answered still blocks the signal.
  ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK | SA_NODEFER;
  handles = sigaction(asking_signal, &ours, nullptr) == 0;
}

void end_asking() {
  if (handles && handler_is_ours()) {
    struct sigaction ignored{};
    ignored.sa_handler = SIG_DFL;
    sigaction(asking_signal, &ignored, nullptr);
  }
  handles = false;
  answer.asked.store(0);
  answered.close();
  end_asking_python();
}

Stack stack_of(pid_t thread) {
  // A thread that goes on meanwhile may leave what looks like a sleep of the program's.
  Stack stack;
  for (int tries = 0; tries < most_tries; ++tries) {
    stack = {};
    const bool may_ask = may_be_asked(thread);
    answered.drain();
    prepare_python();
    // Little is done between this look and the signal, because the thread may enter another call.
    const Blocked blocked = blocked_in(thread);
    stack.system_call = blocked.call;
    stack.argument = blocked.argument;
    std::vector<size_t> offsets;
    if (ends_early(blocked)) {
      stack.frames = read_stack(blocked.stack_pointer, &offsets);
      bool in_mpi = false;
      for (size_t i = 0; i < offsets.size() && offsets[i] < near_bytes; ++i)
        in_mpi = in_mpi || is_of_mpi(stack.frames[i]);
      if (!in_mpi && !(blocked_in(thread) == blocked)) continue;
      if (!in_mpi) return stack;
    }
    if (may_ask && ask(thread, &stack)) return stack;
    if (blocked.call >= 0 && offsets.empty())
      stack.frames = read_stack(blocked.stack_pointer, &offsets);
    return stack;
  }
  return stack;
}

std::vector<pid_t> threads() {
  std::vector<pid_t> all{getpid()};
  for (const auto& entry : std::filesystem::directory_iterator(
           "/proc/self/task", std::filesystem::directory_options::skip_permission_denied)) {
    const auto thread = static_cast<pid_t>(std::atoi(entry.path().filename().c_str()));
    if (thread > 0 && thread != getpid()) all.push_back(thread);
  }
  return all;
}

}  // namespace tutti::mpi::roll
