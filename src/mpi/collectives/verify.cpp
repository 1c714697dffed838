#include "mpi/collectives/verify.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "mpi/collectives/in_host.h"
#include "mpi/host/inside.h"
#include "mpi/host/types.h"
#include "mpi/job/end.h"
#include "mpi/job/thrown.h"
#include "shm/order.h"

namespace tutti::mpi {
namespace {

constexpr std::string_view function_names[] = {
#define TUTTI_INTERPOSED(name) #name,
#define TUTTI_MAKER(name)
#define TUTTI_OF_HOST(name)
#include "mpi/host/host_names.inc.h"
#undef TUTTI_INTERPOSED
#undef TUTTI_MAKER
#undef TUTTI_OF_HOST
};
constexpr std::string_view class_names[] = {"integers",     "natural numbers", "Fortran integers",
                                            "real numbers", "complex numbers", "logicals",
                                            "booleans",     "bytes",           "characters",
                                            "pairs"};
constexpr int32_t no_root = INT32_MIN;
constexpr int32_t of_user = -1;  // the number of a type or an operation that the program has made

// The arguments that must agree. A plain value, which travels between the ranks.
struct Passed {
  int32_t function = 0;  // its plain form, if the call has large counts
  int32_t root = no_root;
  int64_t bytes = 0;          // this rank's, of one part
  int32_t element_class = 0;  // a reduction's type
  int32_t element_bytes = 0;
  int32_t op = 0;

  bool operator==(const Passed&) const = default;
};

int32_t plain_form(Function function) {
  const auto number = static_cast<int32_t>(function);
  // The form for large counts follows the plain one.
  return function_names[number].ends_with("_c") ? number - 1 : number;
}

int64_t size_of(Datatype type) {
  if (const NamedType* const named = named_type(type)) return static_cast<int64_t>(named->bytes);
  int bytes = 0;
  return type != host().type_null && host().Type_size(type, &bytes) == success ? bytes : 0;
}

int64_t bytes_of(const Side& side, size_t part) {
  const Datatype type = side.type_of(part);
  return static_cast<int64_t>(side.count_of(part)) * size_of(type);
}

bool is_among_all(const Call& call) { return call.collective == Collective::alltoall; }

// The side of which every rank has a part of the same length, or this rank's own part.
const Side& shared_side(const Call& call) {
  const bool by_out = plan::parted(call.collective) && !plan::combines(call.collective) &&
                      !plan::gathers(call.collective);
  const Side& first = by_out ? call.out : call.in;
  const Side& second = by_out ? call.in : call.out;
  return first.data == abi.in_place ? second : first;
}

Passed passed(const Call& call, int rank, int ranks, bool within) {
  Passed own;
  own.function = plain_form(call.function);
  if (!within || call.shape == Shape::barrier) return own;
  if (plan::rooted(call.collective)) own.root = call.root;
  if (plan::combines(call.collective)) {
    const NamedType* const element = predefined_type(call.in.type);
    own.element_class = element == nullptr ? of_user : static_cast<int32_t>(element->kind);
    own.element_bytes = static_cast<int32_t>(size_of(call.in.type));
    const auto op = named_op(call.op);
    own.op = op ? static_cast<int32_t>(*op) : of_user;
  }
  if (call.v_form() && is_among_all(call)) return own;
  if (call.shape == Shape::v_reduction) {  // the ranks have the same counts
    for (int part = 0; part < ranks; ++part)
      own.bytes += bytes_of(call.in, static_cast<size_t>(part));
    return own;
  }
  const Side& side = shared_side(call);
  own.bytes = bytes_of(side, side.counts.given() ? static_cast<size_t>(rank) : 0);
  return own;
}

std::string text_of(const Passed& call, bool has_arguments) {
  std::string text = "MPI_" + std::string(function_names[call.function]);
  if (!has_arguments) return text;
  if (call.bytes != 0) text += " of " + std::to_string(call.bytes) + " bytes";
  if (call.root != no_root) text += ", root " + std::to_string(call.root);
  if (call.element_bytes == 0) return text;
  text += call.element_class == of_user
              ? ", a type of the program's"
              : ", " + std::string(class_names[call.element_class]) + " of " +
                    std::to_string(call.element_bytes) + " bytes";
  const auto op = static_cast<kernels::Op>(call.op);
  return text + ", " + std::string(name_of(call.op == of_user ? std::nullopt : std::optional(op)));
}

std::string ranks_text(const std::vector<int>& ranks) {
  constexpr size_t most = 8;
  std::string text = ranks.size() == 1 ? "rank" : "ranks";
  for (size_t i = 0; i < ranks.size() && i < most; ++i)
    text += (i == 0 ? " " : ", ") + std::to_string(ranks[i]);
  return ranks.size() > most ? text + " and others" : text;
}

// The ranks that passed each kind of call, the fewest first.
std::string difference(const std::vector<Passed>& all, bool has_bytes) {
  std::vector<std::pair<Passed, std::vector<int>>> kinds;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    auto kind = std::find_if(kinds.begin(), kinds.end(),
                             [&](const auto& one) { return one.first == all[rank]; });
    if (kind == kinds.end()) kind = kinds.insert(kind, {all[rank], {}});
    kind->second.push_back(static_cast<int>(rank));
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  std::string text;
  for (const auto& [call, ranks] : kinds)
    text += (text.empty() ? "" : "; ") + ranks_text(ranks) +
            (ranks.size() == 1 ? " calls " : " call ") + text_of(call, has_bytes);
  return text;
}

// A function whose ranks may pass different lengths: each is compared where it is received.
bool may_differ_in_bytes(const Passed& call) {
  const std::string_view name = function_names[call.function];
  return name.find("atherv") != std::string_view::npos ||
         name.find("catterv") != std::string_view::npos;
}

bool agrees(Passed a, Passed b) {
  if (a.function == b.function && may_differ_in_bytes(a)) a.bytes = b.bytes = 0;
  return a == b;
}

// The lengths that this rank expects of the others, in a v-form; empty: it receives or sends none.
std::vector<int64_t> expected_lengths(const Call& call, int rank, size_t ranks) {
  if (call.shape != Shape::v_parts || is_among_all(call)) return {};
  const bool is_scatter = call.collective == Collective::scatter;
  const bool has_counts = plan::rooted(call.collective) ? call.root == rank : true;
  const Side& side = is_scatter ? call.in : call.out;
  if (!has_counts || !side.counts.given()) return {};
  std::vector<int64_t> lengths(ranks);
  for (size_t part = 0; part < ranks; ++part) lengths[part] = bytes_of(side, part);
  return lengths;
}

// An exchange among the ranks of a communicator, and what this rank has passed to it.
struct Exchange {
  int rank = 0;
  bool within = true;  // not between two groups
  Passed own;
  std::vector<int64_t> lengths;
  std::vector<Passed> all;  // one a rank; between two groups, the other one's
};

void begin_exchange(const Communicator* communicator, const Call& call, Comm comm,
                    Exchange* begun) {
  Exchange& exchange = *begun;
  int inter = 0, ranks = 0;
  if (communicator != nullptr && communicator->group() != nullptr) {
    exchange.rank = communicator->rank();
    ranks = communicator->ranks();
  } else {
    host().Comm_test_inter(comm, &inter);
    host().Comm_rank(comm, &exchange.rank);
    if (inter != 0)
      host().Comm_remote_size(comm, &ranks);
    else
      host().Comm_size(comm, &ranks);
  }
  exchange.within = inter == 0;
  exchange.own = passed(call, exchange.rank, ranks, exchange.within);
  exchange.all.resize(static_cast<size_t>(ranks));
  exchange.lengths.clear();
  if (exchange.within)
    exchange.lengths = expected_lengths(call, exchange.rank, static_cast<size_t>(ranks));
}

// The fault that this rank finds; empty: none.
std::string fault_of(const Exchange& exchange) {
  const std::vector<Passed>& all = exchange.all;
  const auto differs = [&](const Passed& other) { return !agrees(exchange.own, other); };
  if (std::any_of(all.begin(), all.end(), differs)) {
    if (exchange.within) return difference(all, true);
    return "ranks of one side of an intercommunicator call " + text_of(exchange.own, false) +
           "; on the other side, " + difference(all, false);
  }
  for (size_t part = 0; part < exchange.lengths.size(); ++part) {
    if (exchange.lengths[part] == all[part].bytes) continue;
    return "rank " + std::to_string(exchange.rank) + " has " +
           std::to_string(exchange.lengths[part]) + " bytes for the part of rank " +
           std::to_string(part) + " in MPI_" + std::string(function_names[exchange.own.function]) +
           ", which passes " + std::to_string(all[part].bytes);
  }
  return {};
}

int judge(const Exchange& exchange, Comm comm, bool says) {
  const std::string fault = fault_of(exchange);
  if (fault.empty()) return success;
  if (says) log_line(LogLevel::error, "--verify: %s", fault.c_str());
  if (call_the_roll != nullptr) call_the_roll("--verify has found calls that differ");
  let_launcher_read();
  return raise(comm, abi.err_other);
}

// Exchanges that are under way. They stay at their places, where the host writes.
struct UnderWay {
  Exchange exchange;
  Request request{};
};
std::mutex mutex;
shm::Word are_under_way{0};  // 1 from the first one on, while there are some
std::list<UnderWay>& under_way() {
  static auto& made = *new std::list<UnderWay>;
  return made;
}

// Judges those that have completed, or all. An error is raised on MPI_COMM_WORLD, because the
// program may have freed the communicator.
int judge_completed(bool wait) {
  const std::lock_guard<std::mutex> lock(mutex);
  int code = success;
  for (auto one = under_way().begin(); one != under_way().end();) {
    int is_complete = 0;
    {
      const Inside inside;
      const int tested = wait ? host().Wait(&one->request, abi.status_ignore)
                              : host().Test(&one->request, &is_complete, abi.status_ignore);
      if (tested != success) return tested;
    }
    if (!wait && is_complete == 0) {
      ++one;
      continue;
    }
    const int judged = judge(one->exchange, host().comm_world, true);
    if (judged != success) code = judged;
    one = under_way().erase(one);
  }
  if (under_way().empty()) shm::store_relaxed(are_under_way, 0);
  return code;
}

}  // namespace

int verify(const Communicator& communicator, const Call& call, Comm comm,
           const std::function<int(const Call&)>& run) {
  if (shm::load_relaxed(are_under_way) != 0)
    if (const int code = judge_completed(false); code != success) return code;
  thread_local Exchange exchange;  // keeps its memory
  begin_exchange(&communicator, call, comm, &exchange);
  int code = success;
  {
    const InHost here(call, comm, InHost::Counts::no);
    code = run({.function = Function::Allgather,
                .shape = Shape::parts,
                .collective = Collective::allgather,
                .in = side_of({&exchange.own, sizeof(Passed), host().type_byte}),
                .out = side_of({exchange.all.data(), sizeof(Passed), host().type_byte})});
  }
  if (code != success) return code;
  // All ranks find it now, unless it is in the parts that one of them has.
  return judge(exchange, comm, exchange.rank == 0 || !exchange.lengths.empty());
}

int verify_start(const Call& call, Comm comm) {
  if (const int code = judge_completed(false); code != success) return code;
  const std::lock_guard<std::mutex> lock(mutex);
  UnderWay& one = under_way().emplace_back();
  shm::store_relaxed(are_under_way, 1);
  begin_exchange(nullptr, call, comm, &one.exchange);
  const Inside inside;
  const int code = host().Iallgather(&one.exchange.own, sizeof(Passed), host().type_byte,
                                     one.exchange.all.data(), sizeof(Passed), host().type_byte,
                                     comm, &one.request);
  if (code != success) under_way().pop_back();
  return code;
}

void end_verifying() {
  if (verifies_calls) judge_completed(true);
}

}  // namespace tutti::mpi
