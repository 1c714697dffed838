#include "mpi/host/tools.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "base/gpu.h"
#include "mpi/host/abi.h"

namespace tutti::mpi {
namespace {

// A function's two names, PMPI_X and, behind the first letter, MPI_X.
struct Names {
  constexpr Names(const char* name)
      : second(name), first_hash(symbol_hash(name + 1)), second_hash(symbol_hash(name)) {}
  const char* first() const { return second + 1; }
  void* second_in(const Loaded& file) const { return file.definition(second, second_hash); }
  bool any_in(const Loaded& file) const {
    return (file.may_define(first_hash) && file.definition(first(), first_hash) != nullptr) ||
           (file.may_define(second_hash) && second_in(file) != nullptr);
  }

  const char* second;
  uint32_t first_hash, second_hash;
};
constexpr std::array<Names, interposed_count> names = {
#define TUTTI_INTERPOSED(name) "PMPI_" #name,
#define TUTTI_MAKER(name) "PMPI_" #name,
#include "mpi/host/host_names.inc.h"
};

constexpr Interposed beginnings[] = {Interposed::Init, Interposed::Init_thread};
constexpr Interposed life[] = {Interposed::Init,         Interposed::Init_thread,
                               Interposed::Finalize,     Interposed::Abort,
                               Interposed::Session_init, Interposed::Session_finalize};
constexpr Interposed makers[] = {
#define TUTTI_MAKER(name) Interposed::name,
#include "mpi/host/host_names.inc.h"
};
// Tutti only counts their calls, or repeats them, so it may miss some.
constexpr Interposed not_needed[] = {Interposed::Query_thread,
                                     Interposed::Put,
                                     Interposed::Get,
                                     Interposed::Accumulate,
                                     Interposed::Get_accumulate,
                                     Interposed::Fetch_and_op,
                                     Interposed::Rput,
                                     Interposed::Compare_and_swap,
                                     Interposed::Rget,
                                     Interposed::Raccumulate,
                                     Interposed::Iprobe,
                                     Interposed::Rget_accumulate,
                                     Interposed::Improbe,
                                     Interposed::Win_test};

template <class List>
bool is_among(const List& list, Interposed function) {
  return std::find(std::begin(list), std::end(list), function) != std::end(list);
}
bool is_collective(size_t function) {
  return function < static_cast<size_t>(Interposed::Init);  // the first that is none
}
bool is_noted_around(Interposed function) {
  return is_among(life, function) || is_among(makers, function);
}

struct State {
  std::array<void*, interposed_count> around{};
  std::array<void*, interposed_count> beginning{};
  std::vector<uint64_t> visible = std::vector<uint64_t>(interposed_count, 1);
  std::map<std::string, std::string> hidden_by;  // the names of functions by tool
  std::string text;
  bool any = false;
  Redirections hosts_calls;
};
// Never destroyed: exit handlers may still call MPI.
State& state() {
  static State& made = *new State;
  return made;
}

bool begins_with_one_of(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::any_of(list.begin(), list.end(), [&](auto one) { return text.starts_with(one); });
}

// Names of the libraries of MPIs, with those of their bindings to languages, and of libraries that
// translate one MPI's calls to another. A tool's may begin like one (libmpiP, libmpitrace).
bool has_name_of_mpi(const Loaded& file) {
  const std::string_view name = file.stem();
  for (const char* whole :
       {"libmpi", "libpmpi", "libmpich", "libpmpich", "libmpi_abi", "libpmpi_abi", "libmpi_ilp64",
        "libmpi_cxx", "libmpicxx", "libmpichcxx"})
    if (name == whole) return true;
  return begins_with_one_of(name, {"libmpifort", "libmpichfort", "libmpi_mpifh", "libmpi_usempi",
                                   "libmpitrampoline", "libmpiwrapper", "libwi4mpi"});
}

class Search {
 public:
  Search(const std::vector<Loaded>& all, const Loaded& host)
      : all_(all), host_(host), own_(Loaded::that_has(all, names.data())) {}

  void run() {
    if (own_ == nullptr || own_->path().empty()) return;  // linked into the program
    others_define_ = others_define_any();
    for (size_t i = 0; others_define_ && i < interposed_count; ++i)
      look_for(static_cast<Interposed>(i));
    if (!replaced_.empty())
      for (const Loaded& file : all_) file.redirect(replaced_);
    if (host_.path().empty()) return;
    find_hosts_calls();
    host_.redirect(state().hosts_calls);
  }

 private:
  struct Definition {
    const Loaded* file = nullptr;
    void* function = nullptr;
  };

  // True if a file beside Tutti's and the host's defines a function of MPI. Mostly none does. Then
  // there is no tool, and whichever of the two is first for one function is first for all, so the
  // linker need not search all files for each.
  bool others_define_any() const {
    const auto defines_any = [](const Loaded& file) {
      return std::any_of(names.begin(), names.end(),
                         [&](const Names& name) { return name.any_in(file); });
    };
    return std::any_of(all_.begin(), all_.end(), [&](const Loaded& file) {
      return &file != own_ && &file != &host_ && defines_any(file);
    });
  }

  // A program that is not position-independent has an address of its own for a function that it
  // refers to; the function is then another file's.
  Definition defined(void* address, const char* name) const {
    const Loaded* const file = address == nullptr ? nullptr : Loaded::that_has(all_, address);
    if (file == nullptr || file->definition(name) != address) return {};
    return {file, address};
  }
  // The first definition after Tutti's that is no other interposer's.
  Definition after_own(const char* name) const {
    Definition next = defined(dlsym(RTLD_NEXT, name), name);
    if (next.file == nullptr || !is_interposer(*next.file)) return next;
    for (const Loaded* file = next.file; file != all_.data() + all_.size(); ++file)
      if (void* const function = file->definition(name);
          function != nullptr && !is_interposer(*file))
        return {file, function};
    return {};
  }
  bool is_tool(const Loaded& file) const {
    return &file != own_ && &file != &host_ && !is_interposer(file) && !has_name_of_mpi(file);
  }

  void look_for(Interposed function) {
    const char* const name = names[static_cast<size_t>(function)].first();
    const char* const second_name = names[static_cast<size_t>(function)].second;
    void* const own = own_->definition(name);
    if (own == nullptr) return;  // this MPI lacks it
    Definition first = defined(dlsym(RTLD_DEFAULT, name), name);
    const bool is_after = first.file == nullptr || first.file == own_ || is_interposer(*first.file);
    if (is_after) first = after_own(name);
    if (first.file == nullptr || !is_tool(*first.file)) return;
    const bool comes_back = first.file->refers_to(second_name) && leads_to_own(second_name);
    if (is_after && !comes_back && is_noted_around(function)) {
      state().around[static_cast<size_t>(function)] = first.function;
      return;
    }
    if (is_after) put_before(function, own, first.function);
    if (!comes_back && !is_among(life, function) && !is_among(not_needed, function))
      hide(function, *first.file);
  }

  void find_hosts_calls() {
    Redirections& calls = state().hosts_calls;
    calls.reserve(interposed_count);
    for (const Names& name : names) {
      void* const own = name.second_in(*own_);
      void* const hosts = name.second_in(host_);
      if (own == nullptr || hosts == nullptr) continue;
      const bool asks = others_define_ || calls.empty();
      if (!asks || leads_to_own(name.second)) calls[name.second] = {own, hosts};
      if (calls.empty() && !others_define_) return;
    }
  }

  // True unless another file's definition comes before.
  bool leads_to_own(const char* second_name) const {
    const Definition first = defined(dlsym(RTLD_DEFAULT, second_name), second_name);
    return first.file == nullptr || first.file == own_ || is_interposer(*first.file);
  }

  void put_before(Interposed function, void* own, void* tools) {
    const char* const name = names[static_cast<size_t>(function)].first();
    if (!own_->give_name_to(name, tools)) return;
    replaced_[name] = {own, tools};
    if (is_among(beginnings, function)) state().beginning[static_cast<size_t>(function)] = tools;
  }

  static void hide(Interposed function, const Loaded& tool) {
    state().visible[static_cast<size_t>(function)] = 0;
    const std::string file = tool.path().empty() ? "the program" : std::string(tool.file());
    std::string& list = state().hidden_by[file];
    list.append(list.empty() ? "" : ", ").append(names[static_cast<size_t>(function)].first());
  }

  const std::vector<Loaded>& all_;
  const Loaded& host_;
  const Loaded* own_;
  bool others_define_ = true;
  Redirections replaced_;
};

}  // namespace

bool is_interposer(const Loaded& file) { return file.file().starts_with("libtutti-"); }

const Loaded* find_host_library(const std::vector<Loaded>& all) {
  const auto is_mpi = [](const Loaded& file) {
    return begins_with_one_of(file.stem(), {"libmpi", "libpmpi"}) &&
           file.definition("PMPI_Init") != nullptr;
  };
  const auto named = std::find_if(all.begin(), all.end(), is_mpi);
  if (named != all.end()) return &*named;
  // Another name, or the program itself. Tools come before their MPI.
  const Loaded* const own = Loaded::that_has(all, names.data());
  const auto found = std::find_if(all.rbegin(), all.rend(), [&](const Loaded& file) {
    const bool is_own = &file == own && !simulated;
    return !is_own && !is_interposer(file) && file.definition("PMPI_Init") != nullptr;
  });
  return found != all.rend() ? &*found : nullptr;
}

void find_tools(const std::vector<Loaded>& all, const Loaded& host) {
  if (!simulated) Search(all, host).run();
  std::string& text = state().text;
  for (const auto& [tool, functions] : state().hidden_by)
    text += (text.empty() ? "" : "; ") + tool + " hides " + functions;
}

void* tool_around(Interposed function) { return state().around[static_cast<size_t>(function)]; }

void* take_tools_beginning(Interposed function) {
  return std::exchange(state().beginning[static_cast<size_t>(function)], nullptr);
}

const std::vector<uint64_t>& visible() { return state().visible; }

bool hides_what_is_needed() {
  for (size_t i = 0; i < interposed_count; ++i)
    if (state().visible[i] == 0 && !is_collective(i)) return true;
  return false;
}

std::string hidden_here() { return state().text; }

void note_hidden(std::vector<uint64_t> visible_at_all, std::string text) {
  state().visible = std::move(visible_at_all);
  state().text = std::move(text);
  state().any = true;
  gpu::never_rule_out();
}

const std::string& hidden_text() { return state().text; }
bool hides_any() { return state().any; }
bool is_hidden(size_t function) { return state().visible[function] == 0; }

void lead_plugin_to_host(const char* path, int flags, void* (*load)(const char* path, int flags)) {
  const std::string_view name = path == nullptr ? "" : path;
  if (!name.substr(name.rfind('/') + 1).starts_with("mca_") || state().hosts_calls.empty() ||
      load(path, flags) == nullptr)
    return;
  for (const Loaded& file : Loaded::all())
    if (file.path() == name) file.redirect(state().hosts_calls);
}

}  // namespace tutti::mpi
