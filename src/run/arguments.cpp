#include "run/arguments.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/options.h"
#include "run/say.h"

namespace tutti::run {
namespace {

constexpr const char* usage =
    "usage: [mpiexec -n N] tutti-run [options] [--] PROGRAM [ARGUMENTS]\n"
    "Runs an MPI program with Tutti's collectives.\n"
    "  --report[=FILE]  print at the end what each collective did; FILE: into a file (JSON if its "
    "name ends in .json)\n"
    "  --trace FILE     record every step of every collective into a file, for `tutti trace`\n"
    "  --plans DIR      use the plans of a directory as its map says\n"
    "  --table FILE     choose algorithms by the rules of a table, as `tutti tune` writes it;\n"
    "                   none: do not look for one\n"
    "  --shared-heap    give the program its memory from a heap that the node's other ranks reach "
    "directly\n"
    "  --bind WHERE     numa, core or none: bind ranks that the launcher left unbound to a numa "
    "region or a core each\n"
    "  --idle HOW       auto, spin, yield or sleep: how ranks wait; sleep: they use no core after "
    "a "
    "millisecond\n"
    "  --servers N[@CORES]  N servers in each domain, which move data while ranks compute; ranks "
    "keep off their cores\n"
    "  --servers-domain WHAT  node, socket or numa: whose ranks share servers\n"
    "  --servers-as WHAT  threads or processes: what servers are that execute one-sided transfers\n"
    "  --serve WHICH    all, selective or none: which one-sided transfers servers get\n"
    "  --mpi NAME       mpich, openmpi or mpiabi, instead of finding out\n"
    "  --verify         compare what the ranks pass to each collective, and say where they "
    "differ\n"
    "  --check          check every plan before it runs\n"
    "  --version        print the version\n"
    "  --help           print this\n"
    "Environment variables (TUTTI_*) are described in docs/environment.md.\n";

// The words of the command line, read one after another.
class Words {
 public:
  Words(int count, char** words) : count_(count), words_(words) {}

  bool left() const { return at_ < count_; }
  std::string word() const { return words_[at_]; }
  void next() { ++at_; }
  char** rest() const { return words_ + at_; }
  char** end() const { return words_ + count_; }

  // The value of --name VALUE or --name=VALUE; nothing if the word is another option. `what`
  // describes the value, for the error message if it is missing.
  std::optional<std::string> value(const std::string& name, const std::string& what) {
    std::string found;
    if (word().starts_with(name + "="))
      found = word().substr(name.size() + 1);
    else if (word() != name)
      return std::nullopt;
    else if (at_ + 1 < count_)
      found = words_[++at_];
    if (found.empty()) fail(name + " needs " + what);
    return found;
  }

 private:
  const int count_;
  char** const words_;
  int at_ = 1;
};

void set(const char* variable, const std::string& value) { setenv(variable, value.c_str(), 1); }

// Makes a name absolute, because programs may change their directory.
std::string from_here(const std::string& name) { return std::filesystem::absolute(name).string(); }

void ask_for_report(const std::string& word) {
  const size_t equals = word.find('=');
  const std::string file = equals == std::string::npos ? "1" : word.substr(equals + 1);
  if (file.empty()) fail("--report= needs the name of a file");
  set("TUTTI_REPORT", file == "1" || file == "-" ? file : from_here(file));
}

// The plans are read when the program calls MPI_Init.
void ask_for_plans(const std::string& directory) {
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error))
    fail("--plans " + directory + ": " + (error ? error.message() : "not a directory") +
         "; give a directory with a map and plans");
  set("TUTTI_PLANS", from_here(directory));
}

// The table is read when the program calls MPI_Init.
void ask_for_table(const std::string& file) {
  if (file == no_table_word) return set("TUTTI_TABLE", file);
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error))
    fail("--table " + file + ": " + (error ? error.message() : "not a file") +
         "; give a table, as `tutti tune` writes it");
  set("TUTTI_TABLE", from_here(file));
}

void ask_to_bind(const std::string& where) {
  if (where != "numa" && where != "core" && where != "none")
    fail("--bind " + where + " is not accepted: give numa, core or none");
  set("TUTTI_BIND", where);
}

void ask_for_servers(const std::string& servers, Request& request) {
  if (!read_servers_asked(servers))
    fail("--servers " + servers + " is not accepted: give " + std::string(servers_asked_form));
  set("TUTTI_SERVERS", servers);
  request.servers_typed_before = "--servers ";
}

// One of the accepted words of a variable.
void ask_for_word(const std::string& option, const std::string& word, const char* variable) {
  for (const OptionRow& row : option_table()) {
    if (row.name != variable) continue;
    if (std::find(row.words.begin(), row.words.end(), word) == row.words.end())
      fail(option + " " + word + " is not accepted: give " + accepted_values(row));
  }
  set(variable, word);
}

void ask_for_mpi(const std::string& name) {
  if (std::find(mpi_words.begin(), mpi_words.end(), name) == mpi_words.end())
    fail("--mpi " + name + ": no such MPI; accepted: " + one_of(mpi_words));
  set("TUTTI_MPI", name);
}

void answer(const std::string& word) {
  if (!speaks()) return;
  if (word == "--version")
    printf("tutti-run %s\n", TUTTI_VERSION);
  else
    fputs(usage, stdout);
}

void read_option(Words& words, Request& request) {
  const std::string word = words.word();
  if (word == "--help" || word == "-h" || word == "--version") {
    answer(word);
    exit(0);
  }
  if (word == "--check")
    set("TUTTI_CHECK", "1");
  else if (word == "--verify")
    set("TUTTI_VERIFY", "1");
  else if (word == "--shared-heap")
    set("TUTTI_SHARED_HEAP", "1");
  else if (word == "--report" || word.starts_with("--report="))
    ask_for_report(word);
  else if (const auto where = words.value("--bind", "a value: numa, core or none"))
    ask_to_bind(*where);
  else if (const auto how = words.value("--idle", "a value: auto, spin, yield or sleep"))
    ask_for_word("--idle", *how, "TUTTI_WAIT");
  else if (const auto servers = words.value("--servers", "a number of servers, as 2 or 2@6,7"))
    ask_for_servers(*servers, request);
  else if (const auto domain = words.value("--servers-domain", "a value: node, socket or numa"))
    ask_for_word("--servers-domain", *domain, "TUTTI_SERVERS_DOMAIN");
  else if (const auto as = words.value("--servers-as", "a value: threads or processes"))
    ask_for_word("--servers-as", *as, "TUTTI_SERVERS_AS");
  else if (const auto serve = words.value("--serve", "a value: all, selective or none"))
    ask_for_word("--serve", *serve, "TUTTI_SERVE");
  else if (const auto directory = words.value("--plans", "the name of a directory"))
    ask_for_plans(*directory);
  else if (const auto table = words.value("--table", "the name of a file, or none"))
    ask_for_table(*table);
  else if (const auto trace = words.value("--trace", "the name of a file"))
    set("TUTTI_TRACE", from_here(*trace));
  else if (const auto mpi = words.value("--mpi", "a value: " + one_of(mpi_words)))
    ask_for_mpi(*mpi);
  else
    fail("unknown option " + word +
         "; accepted: --report[=FILE], --plans DIR, --table FILE, --trace FILE, "
         "--shared-heap, --bind WHERE, --idle HOW, --servers N[@CORES], --servers-domain WHAT, "
         "--servers-as "
         "WHAT, "
         "--serve WHICH, "
         "--mpi NAME, --verify, --check, --version, --help");
}

}  // namespace

Request read_arguments(int count, char** arguments) {
  Request request;
  Words words(count, arguments);
  for (; words.left() && words.word().starts_with("-") && words.word() != "-"; words.next()) {
    if (words.word() != "--") {
      read_option(words, request);
      continue;
    }
    words.next();
    break;
  }
  if (!words.left()) fail("no program given; usage: tutti-run [options] PROGRAM [ARGUMENTS]");
  request.program.assign(words.rest(), words.end());
  request.program.push_back(nullptr);
  return request;
}

}  // namespace tutti::run
