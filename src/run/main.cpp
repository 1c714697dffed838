// tutti-run: runs a program with the interposer of its MPI. `mpiexec -n 4 tutti-run ./app`
//
// It finds out which MPI the program uses, sets LD_PRELOAD and becomes the program. If it cannot,
// one rank of the job says why in one line, and all ranks end with exit code 2 before the program
// runs.
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <exception>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/launched.h"
#include "base/options.h"
#include "run/arguments.h"
#include "run/bind.h"
#include "run/elf.h"
#include "run/libraries.h"
#include "run/messages.h"
#include "run/say.h"
#include "run/servers.h"
#include "run/which_mpi.h"
#include "shm/heap.h"

namespace tutti::run {
namespace {

bool is_file(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// Finds the program as a shell does.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    struct stat status;
    if (stat(name.c_str(), &status) != 0)
      fail(name + ": " + strerror(errno) + "; give the path of a program");
    if (S_ISDIR(status.st_mode)) fail(name + " is a directory; give the path of a program");
    if (access(name.c_str(), X_OK) != 0)
      fail(name + " is not executable; chmod +x it, or name its interpreter first");
    return name;
  }
  const char* path = getenv("PATH");
  for (const std::string& directory : split(path != nullptr ? path : "/usr/bin:/bin", ':')) {
    const std::string candidate = (directory.empty() ? "." : directory) + "/" + name;
    if (is_file(candidate) && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  if (is_file(name))
    fail(name + " is not on the PATH; to run the file of this directory say ./" + name);
  fail(name + " is not on the PATH");
}

// The dynamic linker ignores LD_PRELOAD for programs that have more rights than their user.
void refuse_privileged(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)) != 0)
    fail(path +
         " is setuid or setgid, so nothing can be preloaded into it; run it without tutti-run, or "
         "chmod ug-s it");
  if (getxattr(path.c_str(), "security.capability", nullptr, 0) > 0)
    fail(path +
         " has file capabilities, so nothing can be preloaded into it; run it without tutti-run");
}

// True for launchers of ranks, with any suffix that an installation adds to their names
// (mpiexec.hydra, mpirun.openmpi).
bool starts_ranks(const std::string& path) {
  const std::string file = path.substr(path.rfind('/') + 1);
  const std::string name = file.substr(0, file.find('.'));
  for (const char* launcher :
       {"mpiexec", "mpirun", "orterun", "prterun", "prun", "srun", "aprun", "jsrun"})
    if (name == launcher) return true;
  return false;
}

// tutti-run must run in each rank; a launcher is not a rank.
[[noreturn]] void refuse_launcher(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  fail(name + " starts the ranks, so tutti-run comes after it: " + name + " ... tutti-run ./app");
}

std::vector<std::string> interposers_for(const std::string& path, const std::string& asked) {
  const auto elf = read_elf(path);
  if (elf) {
    refuse_privileged(path);
    if (!elf->this_machine)
      fail(path + " is a program for another kind of processor; build it for this one");
    if (!elf->has_interpreter)
      fail(path +
           " is statically linked, so nothing can be preloaded into it; link its MPI dynamically");
  }
  if (elf) {
    const Choice choice = mpi_of_program(*elf, path);
    if (!choice.interposers.empty() && !asked.empty() && choice.interposers.front() != asked)
      fail(path + " is linked to an MPI of the ABI " + choice.interposers.front() +
           ", of which --mpi " + asked + " (or TUTTI_MPI) would serve nothing; leave it out");
    if (!choice.interposers.empty()) return choice.interposers;
    if (!choice.unknown_mpi.empty() && asked.empty())
      fail(path + " uses " + choice.unknown_mpi +
           ", an MPI for which there is no interposer; add --mpi " + one_of(mpi_words) +
           " if it has one of these ABIs");
  }
  if (!asked.empty()) return {asked};
  if (starts_ranks(path)) refuse_launcher(path);
  const Choice choice = mpi_of_launcher();
  if (choice.interposers.empty())
    fail(path + " is linked to no MPI and no launcher tells which one it will load; add --mpi " +
         one_of(mpi_words));
  return choice.interposers;
}

// The directories in which installations put the libraries, relative to this program: those of the
// build tree and of cmake --install, 64-bit library directories, Debian's package, the wheel in a
// Python environment.
std::vector<std::string> library_directories() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error)
    fail("/proc/self/exe, beside which tutti-run looks for Tutti's libraries, cannot be read: " +
         error.message() + "; mount /proc");
  const fs::path prefix = self.parent_path().parent_path();
  std::vector<std::string> directories;
  for (const char* place :
       {"lib", "lib64", "lib/" TUTTI_ARCHITECTURE, "lib/tutti/lib", "tutti/lib"})
    directories.push_back((prefix / place).string());
  for (const char* library : {"lib", "lib64"})
    for (const auto& entry : fs::directory_iterator(prefix / library, error))
      if (entry.path().filename().string().starts_with("python3"))
        for (const char* packages : {"site-packages", "dist-packages"})
          directories.push_back((entry.path() / packages / "tutti" / "lib").string());
  return directories;
}

// The path of an ABI's interposer, or of the heap's library (`kind` is "heap"); empty if there is
// none.
std::string find_preload(const std::string& kind) {
  const std::string name = "libtutti-" + kind + ".so";
  for (const std::string& directory : library_directories()) {
    const std::string path = directory + "/" + name;
    if (!is_file(path)) continue;
    if (path.find_first_of(" :") != std::string::npos)
      fail(path +
           " cannot be preloaded because its path holds a space or a colon; install Tutti "
           "elsewhere");
    return path;
  }
  return {};
}

// One rank of the job says it; the program runs with its usual memory.
void say_no_heap(const std::string& why) {
  if (speaks())
    fprintf(stderr, "tutti-run: no shared heap, the program has its usual memory: %s\n",
            why.c_str());
}

// The library that gives the program memory from the shared heap; empty if the user does not ask
// for it or a heap cannot be made. It is preloaded before the interposers, which use the same heap.
std::string heap_library() {
  if (!options().shared_heap || options().disable) return {};
  const std::string path = find_preload("heap");
  if (path.empty()) {
    say_no_heap(
        "libtutti-heap.so is not installed; reinstall Tutti, built where jemalloc is "
        "(libjemalloc-dev)");
    return {};
  }
  try {
    const shm::Heap trial;
  } catch (const Error& error) {
    say_no_heap(error.what());
    return {};
  }
  return path;
}

// The runtime of a sanitizer that the program is linked to, which must come before all other
// libraries; empty if there is none, or if the user's own libraries are there to be first.
std::string sanitizer_of(const std::string& path, const std::string& own) {
  const auto elf = read_elf(path);
  if (!elf) return {};
  for (const std::string& name : elf->needed)
    for (const char* runtime : {"libasan.so", "libhwasan.so", "libtsan.so", "liblsan.so",
                                "libclang_rt.asan", "libclang_rt.hwasan", "libclang_rt.tsan"})
      if (name.starts_with(runtime) && own.find(name) == std::string::npos)
        return LibraryFinder().find(name, *elf, path);
  return {};
}

void preload(const std::vector<std::string>& interposers, const std::string& program) {
  std::string list;
  for (const std::string& abi : interposers) {
    const std::string path = find_preload(abi);
    if (path.empty()) continue;
    if (!list.empty()) list += ':';
    list += path;
  }
  if (list.empty())
    fail("libtutti-" + interposers.front() + ".so is not in " + library_directories().front() +
         " nor in a Python environment beside it; reinstall Tutti with the interposer of this MPI");
  const char* const given = getenv("LD_PRELOAD");
  const std::string own = given != nullptr ? given : "";
  const std::string sanitizer = sanitizer_of(program, own);
  const std::string heap = heap_library();
  if (!heap.empty() && !sanitizer.empty())
    say_no_heap("the sanitizer that it is linked to has a malloc of its own");
  else if (!heap.empty())
    list = heap + ":" + list;
  // The user's own libraries come first, because sanitizers require it.
  if (!own.empty()) list = own + ":" + list;
  if (!sanitizer.empty()) list = sanitizer + ":" + list;
  setenv("LD_PRELOAD", list.c_str(), 1);
}

// The MPI that the user names, by --mpi or TUTTI_MPI; empty if none.
std::string asked_mpi() {
  if (options().mpi == MpiChoice::automatic) return "";
  return std::string(mpi_words.at(static_cast<size_t>(options().mpi) - 1));
}

int run(int count, char** arguments) {
  const Request request = read_arguments(count, arguments);
  const std::string path = find_program(request.program.front());
  preload(interposers_for(path, asked_mpi()), path);
  if (!options().disable) {
    permit_many_messages();
    const std::string why = bind(options().bind, set_servers_apart(request.servers_typed_before));
    if (!why.empty() && speaks())
      fprintf(stderr, "tutti-run: ranks are not bound: %s\n", why.c_str());
  }
  execvp(path.c_str(), request.program.data());
  fail(path + ": " + strerror(errno));
}

}  // namespace
}  // namespace tutti::run

int main(int count, char** arguments) {
  try {
    return tutti::run::run(count, arguments);
  } catch (const std::exception& error) {
    const bool reports = tutti::run::speaks();
    if (reports) fprintf(stderr, "tutti-run: %s\n", error.what());
    tutti::let_reporter_first(reports);
    return 2;
  }
}
