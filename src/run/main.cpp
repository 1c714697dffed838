// tutti-run: runs a program with the interposer of its MPI. `mpiexec -n 4 tutti-run ./app`
//
// Finds out which MPI the program speaks, sets LD_PRELOAD and becomes the program. Whatever prevents that is said in
// one line, by one rank of the job, and ends all of them with exit code 2 before anything ran.
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/options.h"
#include "run/bind.h"
#include "run/elf.h"
#include "run/which_mpi.h"
#include "shm/heap.h"

namespace tutti::run {
namespace {

constexpr const char* usage =
    "usage: [mpiexec -n N] tutti-run [options] [--] PROGRAM [ARGUMENTS]\n"
    "Runs an MPI program with Tutti's collectives.\n"
    "  --report[=FILE]  print at the end what each collective did; FILE: into a file (JSON where it ends in .json)\n"
    "  --trace FILE     record every step of every collective into a file, for `tutti trace`\n"
    "  --plans DIR      use the plans of a directory as its map says\n"
    "  --table FILE     choose algorithms by the rules of a table, as `tutti tune` writes it\n"
    "  --shared-heap    give the program its memory from a heap that the node's other ranks reach directly\n"
    "  --bind WHERE     numa, core or none: bind ranks that the launcher left unbound to a numa region or a core each\n"
    "  --mpi NAME       mpich, openmpi or mpiabi, instead of finding out\n"
    "  --check          check every plan before it runs\n"
    "  --version        print the version\n"
    "  --help           print this\n"
    "Environment variables (TUTTI_*) are described in docs/environment.md.\n";

[[noreturn]] void fail(const std::string& message) { throw Error(Code::invalid_argument, message); }

// Of a job's many ranks one speaks; a process that no launcher started speaks for itself.
bool speaks() {
  for (const char* name : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PALS_RANKID", "SLURM_PROCID"})
    if (const char* value = getenv(name); value != nullptr && *value != '\0') return atoi(value) == 0;
  return true;
}

struct Request {
  std::string mpi;
  std::vector<char*> program;  // with its arguments and a null
};

bool takes_value(const std::string& option, const char* name, int& i, int count, char** arguments, std::string& value) {
  const std::string with_equals = std::string(name) + "=";
  if (option.starts_with(with_equals)) {
    value = option.substr(with_equals.size());
    return true;
  }
  if (option != name) return false;
  if (i + 1 >= count) fail(option + " needs a value: mpich, openmpi or mpiabi");
  value = arguments[++i];
  return true;
}

void ask_for_report(const std::string& option) {
  const size_t equals = option.find('=');
  std::string file = equals == std::string::npos ? "1" : option.substr(equals + 1);
  if (file.empty()) fail("--report= needs the name of a file");
  // Programs change their directory; the user meant this one.
  if (file != "1" && file != "-") file = std::filesystem::absolute(file).string();
  setenv("TUTTI_REPORT", file.c_str(), 1);
}

// --trace FILE or --trace=FILE.
bool ask_for_trace(const std::string& option, int& i, int count, char** arguments) {
  if (option != "--trace" && !option.starts_with("--trace=")) return false;
  if (option == "--trace" && i + 1 >= count) fail("--trace needs the name of a file");
  const std::string file = option == "--trace" ? arguments[++i] : option.substr(std::string("--trace=").size());
  if (file.empty()) fail("--trace needs the name of a file");
  setenv("TUTTI_TRACE", std::filesystem::absolute(file).c_str(), 1);
  return true;
}

// --plans DIR or --plans=DIR. What is in it is read when the program starts MPI.
bool ask_for_plans(const std::string& option, int& i, int count, char** arguments) {
  if (option != "--plans" && !option.starts_with("--plans=")) return false;
  if (option == "--plans" && i + 1 >= count) fail("--plans needs the name of a directory");
  const std::string directory = option == "--plans" ? arguments[++i] : option.substr(std::string("--plans=").size());
  if (directory.empty()) fail("--plans needs the name of a directory");
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error))
    fail("--plans " + directory + ": " + (error ? error.message() : "not a directory") +
         "; give a directory with a map and plans");
  setenv("TUTTI_PLANS", std::filesystem::absolute(directory).c_str(), 1);
  return true;
}

// --table FILE or --table=FILE. What is in it is read when the program starts MPI.
bool ask_for_table(const std::string& option, int& i, int count, char** arguments) {
  if (option != "--table" && !option.starts_with("--table=")) return false;
  if (option == "--table" && i + 1 >= count) fail("--table needs the name of a file");
  const std::string file = option == "--table" ? arguments[++i] : option.substr(std::string("--table=").size());
  if (file.empty()) fail("--table needs the name of a file");
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error))
    fail("--table " + file + ": " + (error ? error.message() : "not a file") + "; give a table, as `tutti tune` writes it");
  setenv("TUTTI_TABLE", std::filesystem::absolute(file).c_str(), 1);
  return true;
}

// --bind WHERE or --bind=WHERE; checked with the other variables.
bool ask_to_bind(const std::string& option, int& i, int count, char** arguments) {
  if (option != "--bind" && !option.starts_with("--bind=")) return false;
  if (option == "--bind" && i + 1 >= count) fail("--bind needs a value: numa, core or none");
  const std::string where = option == "--bind" ? arguments[++i] : option.substr(std::string("--bind=").size());
  if (where != "numa" && where != "core" && where != "none")
    fail("--bind " + where + " is not accepted: give numa, core or none");
  setenv("TUTTI_BIND", where.c_str(), 1);
  return true;
}

Request read_arguments(int count, char** arguments) {
  Request request;
  int i = 1;
  for (; i < count; ++i) {
    const std::string option = arguments[i];
    if (option == "--") {
      ++i;
      break;
    }
    if (!option.starts_with("-") || option == "-") break;
    if (option == "--help" || option == "-h") {
      if (speaks()) fputs(usage, stdout);
      exit(0);
    } else if (option == "--version") {
      if (speaks()) printf("tutti-run %s\n", TUTTI_VERSION);
      exit(0);
    } else if (option == "--check") {
      setenv("TUTTI_CHECK", "1", 1);
    } else if (option == "--shared-heap") {
      setenv("TUTTI_SHARED_HEAP", "1", 1);
    } else if (ask_to_bind(option, i, count, arguments)) {
      continue;
    } else if (option == "--report" || option.starts_with("--report=")) {
      ask_for_report(option);
    } else if (ask_for_plans(option, i, count, arguments)) {
      continue;
    } else if (ask_for_table(option, i, count, arguments)) {
      continue;
    } else if (ask_for_trace(option, i, count, arguments)) {
      continue;
    } else if (!takes_value(option, "--mpi", i, count, arguments, request.mpi)) {
      fail("unknown option " + option + "; accepted: --report[=FILE], --plans DIR, --table FILE, --trace FILE, "
           "--shared-heap, --bind WHERE, --mpi NAME, --check, --version, --help");
    }
  }
  if (i >= count) fail("no program given; usage: tutti-run [options] PROGRAM [ARGUMENTS]");
  request.program.assign(arguments + i, arguments + count);
  request.program.push_back(nullptr);
  return request;
}

bool is_file(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// As a shell finds it.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    struct stat status;
    if (stat(name.c_str(), &status) != 0) fail(name + ": " + strerror(errno) + "; give the path of a program");
    if (S_ISDIR(status.st_mode)) fail(name + " is a directory; give the path of a program");
    if (access(name.c_str(), X_OK) != 0) fail(name + " is not executable; chmod +x it, or name its interpreter first");
    return name;
  }
  const char* path = getenv("PATH");
  for (const std::string& directory : split(path != nullptr ? path : "/usr/bin:/bin", ':')) {
    const std::string candidate = (directory.empty() ? "." : directory) + "/" + name;
    if (is_file(candidate) && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  if (is_file(name)) fail(name + " is not on the PATH; to run the file of this directory say ./" + name);
  fail(name + " is not on the PATH");
}

// The dynamic linker ignores LD_PRELOAD for programs with more rights than their user.
void refuse_privileged(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)) != 0)
    fail(path + " is setuid or setgid, so nothing can be preloaded into it; run it without tutti-run, or chmod ug-s it");
  if (getxattr(path.c_str(), "security.capability", nullptr, 0) > 0)
    fail(path + " has file capabilities, so nothing can be preloaded into it; run it without tutti-run");
}

std::vector<std::string> interposers_for(const std::string& path, const std::string& asked) {
  const auto elf = read_elf(path);
  if (elf) {
    refuse_privileged(path);
    if (!elf->this_machine) fail(path + " is a program for another kind of processor; build it for this one");
    if (!elf->has_interpreter)
      fail(path + " is statically linked, so nothing can be preloaded into it; link its MPI dynamically");
  }
  if (!asked.empty()) return {asked};
  if (elf) {
    const Choice choice = mpi_of_program(*elf, path);
    if (!choice.interposers.empty()) return choice.interposers;
    if (!choice.unknown_mpi.empty())
      fail(path + " uses " + choice.unknown_mpi +
           ", an MPI for which there is no interposer (there are: mpich, openmpi, mpiabi); --mpi NAME if it has one of "
           "these ABIs");
  }
  const Choice choice = mpi_of_launcher();
  if (choice.interposers.empty())
    fail(path + " is linked to no MPI and no launcher tells which one it will load; add --mpi mpich, openmpi or mpiabi");
  return choice.interposers;
}

// Where installations put the libraries, from the directory of this program: build tree and cmake --install, 64-bit
// library directories, the wheel in an environment.
std::vector<std::string> library_directories() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path prefix = self.parent_path().parent_path();
  std::vector<std::string> directories;
  for (const char* place : {"lib", "lib64", "lib/" TUTTI_ARCHITECTURE, "tutti/lib"})
    directories.push_back((prefix / place).string());
  for (const char* library : {"lib", "lib64"})
    for (const auto& entry : fs::directory_iterator(prefix / library, error))
      if (entry.path().filename().string().starts_with("python3"))
        for (const char* packages : {"site-packages", "dist-packages"})
          directories.push_back((entry.path() / packages / "tutti" / "lib").string());
  return directories;
}

// Of an ABI's interposer, or of the heap.
std::string find_preload(const std::string& kind) {
  const std::string name = "libtutti-" + kind + ".so";
  for (const std::string& directory : library_directories()) {
    const std::string path = directory + "/" + name;
    if (!is_file(path)) continue;
    if (path.find_first_of(" :") != std::string::npos)
      fail(path + " cannot be preloaded because its path holds a space or a colon; install Tutti elsewhere");
    return path;
  }
  return {};
}

// Said once for a job, and the program runs with the memory that it would have had.
void say_no_heap(const std::string& why) {
  if (speaks()) fprintf(stderr, "tutti-run: no shared heap, the program has its usual memory: %s\n", why.c_str());
}

// The library that gives the program its memory, where one is asked for and can be made here; it comes before the
// interposers, which take their part of the same heap.
std::string heap_library() {
  if (!options().shared_heap || options().disable) return {};
  const std::string path = find_preload("heap");
  if (path.empty()) {
    say_no_heap("libtutti-heap.so is not installed; reinstall Tutti, built where jemalloc is (libjemalloc-dev)");
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

void preload(const std::vector<std::string>& interposers) {
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
  if (const std::string heap = heap_library(); !heap.empty()) list = heap + ":" + list;
  // The user's own come first: sanitizers insist on it.
  const char* own = getenv("LD_PRELOAD");
  if (own != nullptr && *own != '\0') list = std::string(own) + ":" + list;
  setenv("LD_PRELOAD", list.c_str(), 1);
}

std::string asked_mpi(const Request& request) {
  constexpr const char* names[] = {"mpich", "openmpi", "mpiabi"};
  if (!request.mpi.empty()) {
    if (std::find(std::begin(names), std::end(names), request.mpi) == std::end(names))
      fail("--mpi " + request.mpi + ": no such MPI; accepted: mpich, openmpi or mpiabi");
    return request.mpi;
  }
  const MpiChoice choice = options().mpi;
  return choice == MpiChoice::automatic ? "" : names[static_cast<int>(choice) - 1];
}

int run(int count, char** arguments) {
  const Request request = read_arguments(count, arguments);
  const std::string asked = asked_mpi(request);
  const std::string path = find_program(request.program.front());
  preload(interposers_for(path, asked));
  if (const std::string why = bind(options().disable ? BindChoice::none : options().bind); !why.empty() && speaks())
    fprintf(stderr, "tutti-run: ranks are not bound: %s\n", why.c_str());
  execvp(path.c_str(), request.program.data());
  fail(path + ": " + strerror(errno));
}

}  // namespace
}  // namespace tutti::run

int main(int count, char** arguments) {
  try {
    return tutti::run::run(count, arguments);
  } catch (const std::exception& error) {
    if (tutti::run::speaks()) fprintf(stderr, "tutti-run: %s\n", error.what());
    return 2;
  }
}
