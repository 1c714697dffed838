#include "mpi/roll/look.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "mpi/collectives/verify.h"
#include "mpi/communicators/registry.h"
#include "mpi/host/last_message.h"
#include "mpi/host/reduced.h"
#include "mpi/roll/source.h"
#include "mpi/roll/stack.h"
#include "mpi/roll/tripwire.h"

namespace tutti::mpi::roll {
namespace {

std::string_view file_of(const std::string& path) {
  return std::string_view(path).substr(path.rfind('/') + 1);
}

// Tutti, the host MPI, its bindings of other languages, and what they are made of.
bool is_of_mpi(const Source& source) {
  const std::string_view file = file_of(source.object);
  for (const char* const prefix :
       {"libmpi", "libpmpi", "libtutti-", "libopen-", "libucp", "libuct", "libucs", "libucm"})
    if (file.starts_with(prefix)) return true;
  return false;
}

bool is_of_system(const Source& source) {
  return source.object.empty() || file_of(source.object).starts_with("ld-linux") ||
         source.object.starts_with("/lib") || source.object.starts_with("/usr/lib") ||
         source.object.starts_with("linux-vdso");
}

// MPI_Send of MPI_Send, PMPI_Send and MPI_Send_c; else empty.
std::string mpi_name(std::string symbol) {
  if (symbol.ends_with("_c")) symbol.resize(symbol.size() - 2);
  const size_t begin = symbol.starts_with("PMPI") ? 1 : 0;
  const bool is_name =
      symbol.compare(begin, 4, "MPI_") == 0 || symbol.compare(begin, 5, "MPIX_") == 0;
  return is_name && symbol.find('.') == std::string::npos ? symbol.substr(begin) : std::string{};
}

// Functions that look once whether something is there.
bool only_looks(std::string_view function) {
  return function.starts_with("MPI_Test") || function == "MPI_Iprobe" ||
         function == "MPI_Improbe" || function == "MPI_Wtime" ||
         function.starts_with("MPI_Request_get_status") || function == "MPI_Win_test";
}

struct Known {
  long number;
  const char* name;
  bool is_of_file;
};
constexpr Known system_calls[] = {
    {SYS_read, "read", true},
    {SYS_write, "write", true},
    {SYS_pread64, "pread", true},
    {SYS_pwrite64, "pwrite", true},
    {SYS_readv, "readv", true},
    {SYS_writev, "writev", true},
    {SYS_openat, "open", true},
    {SYS_fsync, "fsync", true},
    {SYS_fdatasync, "fdatasync", true},
    {SYS_flock, "flock", true},
    {SYS_fcntl, "fcntl", true},
    {SYS_futex, "futex", false},
    {SYS_nanosleep, "nanosleep", false},
    {SYS_clock_nanosleep, "nanosleep", false},
    {SYS_wait4, "wait", false},
    {SYS_ppoll, "poll", false},
    {SYS_recvfrom, "recv", false},
    {SYS_recvmsg, "recv", false},
#if defined(SYS_poll)
    {SYS_poll, "poll", false},
    {SYS_select, "select", false},
    {SYS_epoll_wait, "epoll_wait", false},
    {SYS_open, "open", true},
    {SYS_pause, "pause", false},
#endif
};

std::string name_of_descriptor(uint64_t number) {
  std::error_code unreadable;
  const auto target =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(number), unreadable);
  return unreadable ? "descriptor " + std::to_string(number) : target.string();
}

void note_system_call(const Stack& stack, Place* place) {
  if (stack.system_call < 0) {
    place->doing = stack.was_asked ? Doing::computes : Doing::silent;
    return;
  }
  place->doing = Doing::sleeps;
  place->function = "system call " + std::to_string(stack.system_call);
  for (const Known& known : system_calls) {
    if (known.number != stack.system_call) continue;
    place->function = known.name;
    if (!known.is_of_file) return;
    place->doing = Doing::file;
    const bool has_path = place->function == "open";
    if (!has_path) place->note = "of " + name_of_descriptor(stack.argument);
    return;
  }
}

// "NAME", if the program has named it, and how it was made: 2.1 is the first communicator that was
// made from the second one that was made from MPI_COMM_WORLD.
std::string text_of(const Communicator& communicator, const std::string& name) {
  if (communicator.handle() == host().comm_world) return "MPI_COMM_WORLD";
  if (communicator.handle() == host().comm_self) return "MPI_COMM_SELF";
  std::string path;
  for (uint64_t left = communicator.path(); left != 0; left >>= Lineage::bits_of_step) {
    const uint64_t step = left & Lineage::largest_step;
    path = std::to_string(step) + (path.empty() ? "" : ".") + path;
  }
  const std::string made = path.empty()
                               ? "the rank's communicator " + std::to_string(communicator.number())
                               : "communicator " + path + " of MPI_COMM_WORLD";
  return name.empty() ? made : "\"" + name + "\" (" + made + ")";
}

void note_communicator(Comm handle, Place* place) {
  visit_communicators([&](const Communicator& communicator, const std::string& name) {
    if (communicator.handle() == handle) place->communicator = text_of(communicator, name);
  });
}

std::string arguments_of(const Call& call) {
  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  const Side& side = call.in.type == Datatype{} && call.in.count == 0 ? call.out : call.in;
  if (call.shape != Shape::barrier && !side.counts.given()) {
    const NamedType* const type = named_type(side.type);
    if (type != nullptr)
      add(std::to_string(static_cast<size_t>(side.count) * type->bytes) + " bytes");
    else
      add(std::to_string(side.count) + " elements");
  }
  if (plan::rooted(call.collective)) add("root " + std::to_string(call.root));
  if (!plan::combines(call.collective)) return text;
  const NamedType* const type = predefined_type(call.in.type);
  add(text_of(reduced_of(type, type != nullptr ? type->bytes : 0, named_op(call.op))));
  return text;
}

// The collective of this thread that Tutti serves. Several threads may be in one, on different
// communicators; then the first is taken that waits.
void note_served(Place* place) {
  visit_communicators([&](const Communicator& communicator, const std::string& name) {
    if (!place->communicator.empty() || communicator.group() == nullptr) return;
    const exec::Channel::Waiting waiting = communicator.group()->waits_in();
    if (waiting.call == 0) return;
    place->communicator = text_of(communicator, name);
    const std::string call = exec::describe_call(waiting.call);
    const size_t arguments = call.find(" of "), root = call.find(", root ");
    if (arguments != std::string::npos)
      place->arguments = call.substr(arguments + 4);
    else if (root != std::string::npos)
      place->arguments = call.substr(root + 2);
    if (waiting.kind != 0)
      place->arguments +=
          (place->arguments.empty() ? "" : ", ") + text_of(reduced_with(waiting.kind));
  });
}

void note_left_to_host(const Stack& stack, Place* place) {
  place->arguments = arguments_of(*stack.call);
  note_communicator(stack.communicator, place);
}

// The peers and the tags, if the thread's last message is the one that it is in.
void note_message(const LastMessage& last, Place* place) {
  using By = LastMessage::By;
  static constexpr std::pair<By, std::string_view> functions[] = {
      {By::send, "MPI_Send"},         {By::ssend, "MPI_Ssend"},
      {By::rsend, "MPI_Rsend"},       {By::recv, "MPI_Recv"},
      {By::probe, "MPI_Probe"},       {By::mprobe, "MPI_Mprobe"},
      {By::sendrecv, "MPI_Sendrecv"}, {By::sendrecv_replace, "MPI_Sendrecv_replace"}};
  const auto found = std::find_if(std::begin(functions), std::end(functions),
                                  [&](const auto& one) { return one.first == last.by; });
  if (found == std::end(functions) || found->second != place->function) return;
  const auto peer = [](int rank) {
    if (rank == abi.any_source) return Message::any;
    return rank == abi.proc_null ? Message::proc_null : rank;
  };
  const bool receives = last.by >= By::recv, sends = last.by < By::recv || last.by >= By::sendrecv;
  if (sends) {
    place->message.dest = peer(last.dest);
    place->message.send_tag = last.send_tag;
  }
  if (receives) {
    place->message.source = peer(last.source);
    place->message.receive_tag = std::max<int>(last.receive_tag, Message::any);  // MPI_ANY_TAG
  }
  note_communicator(last.communicator, place);
}

bool is_blocking_collective(std::string_view function) {
  for (const char* const name : {"MPI_Barrier", "MPI_Bcast", "MPI_Gather", "MPI_Scatter", "MPI_All",
                                 "MPI_Reduce", "MPI_Scan", "MPI_Exscan", "MPI_Neighbor_"})
    if (function.starts_with(name))
      return !function.ends_with("_init") && !function.ends_with("_init_c") &&
             !function.starts_with("MPI_Reduce_local") && function != "MPI_Alloc_mem";
  return false;
}

}  // namespace

std::string site_of_frames(const uintptr_t* frames, size_t count) {
  const uintptr_t* const found =
      std::find_if(frames, frames + count, [](uintptr_t at) { return !is_of_mpi(symbol_of(at)); });
  return found == frames + count ? std::string{} : source_of(*found).text();
}

Place place_of(pid_t thread) {
  Place place;
  place.process = getpid();
  place.thread = thread;
  place.is_first = thread == getpid();
  const Stack stack = stack_of(thread);
  place.has_answered = stack.was_asked;
  place.number = stack.was_asked ? stack.served + stack.left_to_host + 1 : 0;
  // The innermost call of MPI, and the frame that has called it. A user's operation and a callback
  // may make one inside another.
  size_t at = 0;
  std::string function;
  bool in_mpi = false, has_large_counts = false;
  for (; at < stack.frames.size(); ++at) {
    const Source source = symbol_of(stack.frames[at]);
    if (is_of_mpi(source)) {
      in_mpi = true;
      if (std::string name = mpi_name(source.symbol); !name.empty()) {
        function = std::move(name);
        has_large_counts = source.symbol.ends_with("_c");
      }
    } else if (in_mpi) {
      // The frame of the function may be missing, because the function ends with another call; then
      // the innermost name is that of a host's function which waits for it.
      const std::string called = called_at(stack.frames[at]);
      if (std::string name = mpi_name(called); !name.empty()) {
        function = std::move(name);
        has_large_counts = called.ends_with("_c");
      }
      if (!function.empty()) break;
    }
  }
  if (!function.empty()) {
    place.doing = only_looks(function) ? Doing::computes : Doing::mpi;
    place.function = function;
    place.calls = counted_calls(function);
    if (stack.call)
      note_left_to_host(stack, &place);
    else if (is_blocking_collective(function))
      note_served(&place);
    else if (abi.large_counts || !has_large_counts)  // else Tutti has not seen the call
      note_message(stack.message, &place);
  } else {
    note_system_call(stack, &place);
    // The program's own innermost frame. While the program calls exit, Tutti's handler tells it.
    for (at = 0; at < stack.frames.size(); ++at) {
      const Source source = symbol_of(stack.frames[at]);
      if (in_mpi && source.symbol == "exit") {
        place.doing = Doing::ended;
        place.function = source.symbol;
      }
      if (!is_of_system(source) && !is_of_mpi(source)) break;
    }
    if (at == stack.frames.size()) at = 0;
  }
  if (at < stack.frames.size()) place.frame = stack.frames[at];
  if (!stack.python.empty()) place.site = stack.python;
  if (!is_blocking_collective(place.function)) place.number = 0;
  return place;
}

void add_object(Place* place) {
  if (place->site.empty() && place->frame != 0) place->object = object_at(place->frame);
}

}  // namespace tutti::mpi::roll
