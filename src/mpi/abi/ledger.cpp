#include "mpi/host/ledger.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/log.h"
#include "mpi/abi/abi_host.h"
#include "mpi/host/inside.h"
#include "mpi/host/leftovers.h"

namespace tutti::mpi {
namespace {

enum class Kind : size_t { communicator, group, type, key, error_handler, request, count_ };
constexpr std::array<const char*, static_cast<size_t>(Kind::count_)> names = {
    "communicators", "groups", "types", "attribute keys", "error handlers", "requests"};

constexpr int exit_code = 86;

// Some hosts give out one handle several times, so each has a count.
struct Ledger {
  std::mutex mutex;
  std::array<std::map<uint64_t, int>, static_cast<size_t>(Kind::count_)> left;
};
// Null: none is kept. Never destroyed, because exit handlers may still call MPI.
Ledger* ledger = nullptr;

void note_made(Kind kind, uint64_t handle) {
  const std::lock_guard<std::mutex> lock(ledger->mutex);
  ++ledger->left[static_cast<size_t>(kind)][handle];
}

// The program frees handles of its own by the same functions; the ledger does not have them.
void note_freed(Kind kind, uint64_t handle) {
  const std::lock_guard<std::mutex> lock(ledger->mutex);
  auto& left = ledger->left[static_cast<size_t>(kind)];
  const auto found = left.find(handle);
  if (found != left.end() && --found->second == 0) left.erase(found);
}

// The callers whose calls of a function are Tutti's: all, because the program's calls do not go by
// the table, or those inside Tutti.
enum class By : uint8_t { all, inside };

template <auto member, Kind kind, By by, size_t place, class Function>
struct Maker;
// A function whose argument `place` is where the handle is stored.
template <auto member, Kind kind, By by, size_t place, class... Arguments>
struct Maker<member, kind, by, place, int (*)(Arguments...)> {
  static inline int (*next)(Arguments...) = nullptr;
  static int call(Arguments... arguments) {
    const int code = next(arguments...);
    const auto made = std::get<place>(std::tuple(arguments...));
    if (code == MPI_SUCCESS && (by == By::all || Inside::depth > 0) && *made != null_of(*made))
      note_made(kind, (uint64_t)*made);
    return code;
  }
  template <class Handle>
  static Handle null_of(Handle) {
    if constexpr (kind == Kind::communicator) return theirs<Handle>(host().comm_null);
    if constexpr (kind == Kind::group) return theirs<Handle>(host().group_null);
    if constexpr (kind == Kind::key) return MPI_KEYVAL_INVALID;
    return Handle{};
  }
};

template <auto member, Kind kind, class Function>
struct Freer;
// A function that frees the handle of its only argument.
template <auto member, Kind kind, class Handle>
struct Freer<member, kind, int (*)(Handle*)> {
  static inline int (*next)(Handle*) = nullptr;
  static int call(Handle* handle) {
    const auto freed = handle != nullptr ? (uint64_t)*handle : 0;
    // Before the host's part, because another thread's new object may get the handle.
    if (handle != nullptr) note_freed(kind, freed);
    return next(handle);
  }
};

template <auto member, Kind kind, By by, size_t place>
void count_made() {
  auto& function = abi_functions.*member;
  using Counted = Maker<member, kind, by, place, std::remove_cvref_t<decltype(function)>>;
  if (function != nullptr) Counted::next = std::exchange(function, Counted::call);
}
template <auto member, Kind kind>
void count_freed() {
  auto& function = abi_functions.*member;
  using Counted = Freer<member, kind, std::remove_cvref_t<decltype(function)>>;
  if (function != nullptr) Counted::next = std::exchange(function, Counted::call);
}

// The contents of a type are new references to its parts, unless MPI defines a part itself.
decltype(AbiHost::Type_get_contents) contents = nullptr;
int count_contents(MPI_Datatype type, int integers, int addresses, int types, int* integer_list,
                   MPI_Aint* address_list, MPI_Datatype* type_list) {
  const int code =
      contents(type, integers, addresses, types, integer_list, address_list, type_list);
  for (int i = 0; code == MPI_SUCCESS && i < types; ++i) {
    int numbers[3] = {}, combiner = 0;
    abi_host().Type_get_envelope(type_list[i], &numbers[0], &numbers[1], &numbers[2], &combiner);
    const bool predefined = numbers[1] == 0 && numbers[2] == 0;  // no parts of its own
    if (!predefined) note_made(Kind::type, (uint64_t)type_list[i]);
  }
  return code;
}

// Requests of messages end when they are found complete.
decltype(AbiHost::Wait) wait = nullptr;
int count_waited(MPI_Request* request, MPI_Status* status) {
  const MPI_Request before = *request;
  const int code = wait(request, status);
  if (*request != before) note_freed(Kind::request, (uint64_t)before);
  return code;
}
decltype(AbiHost::Test) test = nullptr;
int count_tested(MPI_Request* request, int* flag, MPI_Status* status) {
  const MPI_Request before = *request;
  const int code = test(request, flag, status);
  if (*request != before) note_freed(Kind::request, (uint64_t)before);
  return code;
}

[[noreturn]] void fail() {
  std::fflush(nullptr);
  _exit(exit_code);
}

}  // namespace

void keep_ledger() {
  const char* const asked = std::getenv("TEST_TUTTI_LEDGER");
  if (asked == nullptr || (*asked != '1' && *asked != '2') || simulated) return;
  ledger = new Ledger;
  if (*asked == '2') note_made(Kind::group, 1);  // a test of the ledger: nobody frees it
  using Makers = CommunicatorFunctions<TheirTypes>;
  count_made<&Makers::Comm_dup, Kind::communicator, By::inside, 1>();
  count_made<&Makers::Comm_create, Kind::communicator, By::inside, 2>();
  count_made<&Makers::Comm_create_group, Kind::communicator, By::inside, 3>();
  count_made<&Makers::Comm_create_from_group, Kind::communicator, By::inside, 4>();
  count_made<&Makers::Comm_split, Kind::communicator, By::inside, 3>();
  count_made<&Makers::Comm_split_type, Kind::communicator, By::inside, 4>();
  count_freed<&Makers::Comm_free, Kind::communicator>();
  count_freed<&Makers::Comm_disconnect, Kind::communicator>();
  using Others = HostFunctions<TheirTypes>;
  count_made<&Others::Comm_group, Kind::group, By::all, 1>();
  count_made<&Others::Group_incl, Kind::group, By::all, 3>();
  count_made<&Others::Group_from_session_pset, Kind::group, By::all, 2>();
  count_freed<&Others::Group_free, Kind::group>();
  count_made<&Others::Comm_create_keyval, Kind::key, By::all, 2>();
  count_freed<&Others::Comm_free_keyval, Kind::key>();
  count_made<&Others::Comm_create_errhandler, Kind::error_handler, By::all, 1>();
  count_freed<&Others::Errhandler_free, Kind::error_handler>();
  count_made<&Others::Send_init, Kind::request, By::all, 6>();
  count_made<&Others::Isend, Kind::request, By::inside, 6>();
  count_made<&Others::Irecv, Kind::request, By::inside, 6>();
  count_freed<&Others::Request_free, Kind::request>();
  wait = std::exchange(abi_functions.Wait, count_waited);
  test = std::exchange(abi_functions.Test, count_tested);
  contents = std::exchange(abi_functions.Type_get_contents, count_contents);
  count_freed<&Others::Type_free, Kind::type>();
}

void check_ledger() {
  if (ledger == nullptr) return;
  const std::lock_guard<std::mutex> lock(ledger->mutex);
  std::string list;
  for (size_t kind = 0; kind < names.size(); ++kind) {
    int count = 0;
    for (const auto& [handle, times] : ledger->left[kind]) count += times;
    if (count > 0) list += (list.empty() ? "" : ", ") + std::to_string(count) + " " + names[kind];
    ledger->left[kind].clear();
  }
  const std::vector<std::string> left = leftovers();
  if (list.empty() && left.empty()) return;
  if (!list.empty())
    log_line(LogLevel::error, "the ledger has handles of the host that Tutti never frees: %s",
             list.c_str());
  for (const std::string& one : left)
    log_line(LogLevel::error, "Tutti has ended and has left: %s", one.c_str());
  std::atexit(fail);  // the program's own end comes first
}

}  // namespace tutti::mpi
