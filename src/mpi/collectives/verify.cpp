#include "mpi/collectives/verify.h"

#include <unwind.h>

#include <algorithm>
#include <array>
#include <bit>
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
#include "mpi/communicators/topology.h"
#include "mpi/host/inside.h"
#include "mpi/host/reduced.h"
#include "mpi/job/end.h"
#include "mpi/job/thrown.h"
#include "shm/order.h"

namespace tutti::mpi {
namespace {

constexpr std::string_view function_names[] = {
#define TUTTI_INTERPOSED(name) #name,
#include "mpi/host/host_names.inc.h"
};
constexpr int32_t no_root = INT32_MIN;

// The arguments that must agree. A plain value, which travels between the ranks.
struct Passed {
  int32_t function = 0;  // its plain form, if the call has large counts
  int32_t root = no_root;
  int64_t bytes = 0;  // this rank's, of one part
  Reduced reduced;

  bool operator==(const Passed&) const = default;
};

// The same as the ranks of a node tell it to each other.
exec::Passed words_of(const Passed& call) { return std::bit_cast<exec::Passed>(call); }
Passed passed_in(const exec::Passed& words) { return std::bit_cast<Passed>(words); }

// The part of it that a signature of Tutti's lacks, in the 20 bits that exec::with_number takes.
// Kernels take elements of at most 32 bytes.
uint32_t number_of(const Passed& call) { return number_of(call.reduced) & ((1u << 20) - 1); }

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

// Calls whose parts may differ in length. Both ends of each part know it.
bool has_lengths(const Call& call) { return call.v_form() || call.on_neighbourhood(); }

// The side of which every rank has a part of the same length.
const Side& shared_side(const Call& call) {
  const bool by_out = plan::parted(call.collective) && !plan::combines(call.collective) &&
                      !plan::gathers(call.collective);
  const Side& first = by_out ? call.out : call.in;
  const Side& second = by_out ? call.in : call.out;
  return first.data == abi.in_place ? second : first;
}

// A thread remembers the facts about the last reduction, if the type is predefined, because such a
// handle stays what it is.
const Reduced& reduced(Datatype type, Op op) {
  struct Last {
    Datatype type{};
    Op op{};
    Reduced facts;
  };
  constinit static TUTTI_PER_THREAD Last last;
  const bool is_last = last.type == type && last.op == op && last.facts.element_bytes != 0;
  if (is_last && last.facts.element_class != Reduced::of_user) return last.facts;
  last = {type, op,
          reduced_of(predefined_type(type), static_cast<size_t>(size_of(type)), named_op(op))};
  return last.facts;
}

Passed passed(const Call& call, bool within) {
  Passed own;
  own.function = plain_form(call.function);
  if (!within || call.shape == Shape::barrier) return own;
  if (plan::rooted(call.collective)) own.root = call.root;
  if (plan::combines(call.collective)) {
    own.reduced = reduced(call.in.type, call.op);
    if (!has_lengths(call))
      own.bytes = static_cast<int64_t>(call.in.count) * own.reduced.element_bytes;
  } else if (!has_lengths(call)) {
    own.bytes = bytes_of(shared_side(call), 0);
  }
  return own;
}

std::string text_of(const Passed& call, bool has_arguments) {
  std::string text = "MPI_" + std::string(function_names[call.function]);
  if (!has_arguments) return text;
  if (call.bytes != 0) text += " of " + std::to_string(call.bytes) + " bytes";
  if (call.root != no_root) text += ", root " + std::to_string(call.root);
  return call.reduced.element_bytes == 0 ? text : text + ", " + text_of(call.reduced);
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

// The bytes that pass between this rank and another one, as this rank knows them.
struct Lengths {
  static constexpr int64_t unknown = -1;

  int64_t sends = unknown, expects = unknown;
};

// Those of neighbours: an edge may be there several times.
void find_lengths_of_edges(const Call& call, Comm comm, std::vector<Lengths>* of) {
  const auto neighbourhood = neighbourhood_of(comm);
  if (!neighbourhood) return;
  const auto add = [&](int32_t rank, int64_t Lengths::* way, int64_t bytes) {
    if (rank < 0) return;
    int64_t& length = (*of)[static_cast<size_t>(rank)].*way;
    length = std::max<int64_t>(length, 0) + bytes;
  };
  const bool is_parted = plan::parted_in(call.collective);
  for (size_t i = 0; i < neighbourhood->destinations.size(); ++i)
    add(neighbourhood->destinations[i], &Lengths::sends, bytes_of(call.in, is_parted ? i : 0));
  for (size_t i = 0; i < neighbourhood->sources.size(); ++i)
    add(neighbourhood->sources[i], &Lengths::expects, bytes_of(call.out, i));
}

std::vector<Lengths> lengths_of(const Call& call, Comm comm, int rank, size_t ranks) {
  std::vector<Lengths> of(ranks);
  if (call.on_neighbourhood()) {
    find_lengths_of_edges(call, comm, &of);
    return of;
  }
  const bool keeps_in = call.in.data == abi.in_place, keeps_out = call.out.data == abi.in_place;
  const auto own = static_cast<size_t>(rank), root = static_cast<size_t>(call.root);
  const bool is_root = call.root == rank;
  for (size_t other = 0; other < ranks; ++other) {
    Lengths& one = of[other];
    switch (call.collective) {
      case Collective::gather:
        if (other == root && !keeps_in) one.sends = bytes_of(call.in, 0);
        if (is_root && !(other == own && keeps_in)) one.expects = bytes_of(call.out, other);
        break;
      case Collective::scatter:
        if (is_root && !(other == own && keeps_out)) one.sends = bytes_of(call.in, other);
        if (other == root && !keeps_out) one.expects = bytes_of(call.out, 0);
        break;
      case Collective::allgather:
        one = {keeps_in ? bytes_of(call.out, own) : bytes_of(call.in, 0),
               bytes_of(call.out, other)};
        break;
      case Collective::alltoall:
        one.expects = bytes_of(call.out, other);
        one.sends = keeps_in ? one.expects : bytes_of(call.in, other);
        break;
      default:  // reduce_scatter: the ranks have the same counts
        one = {bytes_of(call.in, other), bytes_of(call.in, own)};
    }
  }
  return of;
}

// A part whose two ends do not fit. A plain value, which travels between the ranks.
struct Misfit {
  int64_t from = -1, to = -1;  // -1: there is none
  int64_t passes = 0, expects = 0;
};

// The first one of this rank's, by its own lengths and those that the others have of it.
Misfit misfit_of(int rank, const std::vector<Lengths>& own, const std::vector<Lengths>& others) {
  const auto fits = [](int64_t passes, int64_t expects) {
    return passes == expects || passes == Lengths::unknown || expects == Lengths::unknown;
  };
  for (size_t i = 0; i < own.size(); ++i) {
    const auto other = static_cast<int64_t>(i);
    if (!fits(others[i].sends, own[i].expects))
      return {other, rank, others[i].sends, own[i].expects};
    if (!fits(own[i].sends, others[i].expects))
      return {rank, other, own[i].sends, others[i].expects};
  }
  return {};
}

std::string text_of(const Misfit& misfit, const Passed& call) {
  if (misfit.from < 0) return {};
  return "rank " + std::to_string(misfit.from) + " passes " + std::to_string(misfit.passes) +
         " bytes to rank " + std::to_string(misfit.to) + " in " + text_of(call, false) +
         ", which expects " + std::to_string(misfit.expects);
}

// An exchange among the ranks of a communicator, and what this rank has passed to it.
struct Exchange {
  int rank = 0;
  bool within = true;  // not between two groups
  Passed own;
  std::vector<Passed> all;  // one a rank; between two groups, the other one's
  // One a rank, in calls that have lengths; else none.
  std::vector<Lengths> lengths, lengths_of_others;
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
  exchange.own = passed(call, exchange.within);
  exchange.all.resize(static_cast<size_t>(ranks));
  exchange.lengths.clear();
  if (exchange.within && has_lengths(call))
    exchange.lengths = lengths_of(call, comm, exchange.rank, exchange.all.size());
  exchange.lengths_of_others.resize(exchange.lengths.size());
}

// The difference between the calls of the ranks; empty: none.
std::string fault_of(const Exchange& exchange) {
  const std::vector<Passed>& all = exchange.all;
  if (std::all_of(all.begin(), all.end(),
                  [&](const Passed& other) { return other == exchange.own; }))
    return {};
  if (exchange.within) return difference(all, true);
  return "ranks of one side of an intercommunicator call " + text_of(exchange.own, false) +
         "; on the other side, " + difference(all, false);
}

// The calls of all ranks of a group, which have told them.
std::vector<Passed> told(const exec::Channel& channel, int ranks) {
  std::vector<Passed> all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(passed_in(channel.told_by(rank)));
  return all;
}

int raise_fault(const std::string& fault, Comm comm, bool says) {
  if (fault.empty()) return success;
  if (says) log_line(LogLevel::error, "--verify: %s", fault.c_str());
  if (call_the_roll != nullptr) call_the_roll("--verify has found calls that differ");
  let_launcher_read();
  return raise(comm, abi.err_other);
}

// The frames of this thread's stack, the innermost first.
struct Frames {
  std::array<uintptr_t, 24> at{};
  size_t count = 0;
};
Frames frames_here() {
  Frames frames;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* data) {
        auto& found = *static_cast<Frames*>(data);
        if (found.count == found.at.size()) return _URC_END_OF_STACK;
        found.at[found.count++] = _Unwind_GetIP(context) - 1;  // in the call
        return _URC_NO_REASON;
      },
      &frames);
  return frames;
}

// Exchanges that are under way. They stay at their places, where the host writes.
struct UnderWay {
  uint64_t number = 0;
  Exchange exchange;
  Frames frames;  // where it was started
  Request request{}, request_of_lengths{};
};
std::mutex mutex;
shm::Word are_under_way{0};  // 1 from the first one on, while there are some
std::list<UnderWay>& under_way() {
  static auto& made = *new std::list<UnderWay>;
  return made;
}

std::list<UnderWay>::iterator numbered(uint64_t number) {
  return std::find_if(under_way().begin(), under_way().end(),
                      [&](const UnderWay& one) { return one.number == number; });
}

// Tests a request of the host's, or waits for it.
int complete(Request* request, bool wait, bool* is_complete) {
  const Inside inside;
  int flag = 1;
  const int code = wait ? host().Wait(request, abi.status_ignore)
                        : host().Test(request, &flag, abi.status_ignore);
  *is_complete = flag != 0;
  return code;
}

// The fault of an exchange that has completed, if *is_complete. Ranks whose calls differ need not
// all exchange lengths, so these are not waited for then.
int find_fault(UnderWay* one, bool wait, bool* is_complete, std::string* fault) {
  Exchange& exchange = one->exchange;
  int code = complete(&one->request, wait, is_complete);
  if (code != success || !*is_complete) return code;
  *fault = fault_of(exchange);
  if (!fault->empty() || exchange.lengths.empty()) return success;
  code = complete(&one->request_of_lengths, wait, is_complete);
  if (code == success && *is_complete)
    *fault = text_of(misfit_of(exchange.rank, exchange.lengths, exchange.lengths_of_others),
                     exchange.own);
  return code;
}

// An error is raised on MPI_COMM_WORLD, because the program may have freed the communicator.
int judge(UnderWay* one, bool wait, bool* is_complete) {
  std::string fault;
  const int tested = find_fault(one, wait, is_complete, &fault);
  if (tested != success || !*is_complete) return tested;
  if (!fault.empty() && site_of_frames != nullptr)
    fault += "; this rank's call is at " + site_of_frames(one->frames.at.data(), one->frames.count);
  return raise_fault(fault, host().comm_world, true);
}

// Judges those that have completed, or all.
int judge_completed(bool wait) {
  const std::lock_guard<std::mutex> lock(mutex);
  int code = success;
  for (auto one = under_way().begin(); one != under_way().end();) {
    bool is_complete = false;
    const int judged = judge(&*one, wait, &is_complete);
    if (judged != success) code = judged;
    if (judged != success && !is_complete) return code;
    one = is_complete ? under_way().erase(one) : std::next(one);
  }
  if (under_way().empty()) shm::store_relaxed(are_under_way, 0);
  return code;
}

// Exchanges Values among all ranks by a blocking collective: each gives `out` what all `in` have.
template <class Value>
Call exchange_of(Function function, Collective collective, const Value* in, Value* out) {
  return {.function = function,
          .shape = Shape::parts,
          .collective = collective,
          .in = side_of({const_cast<Value*>(in), sizeof(Value), host().type_byte}),
          .out = side_of({out, sizeof(Value), host().type_byte})};
}

// Both ends of each part tell their lengths, and then all ranks get the first misfit of each, so
// that all of them have the same fault.
int compare_lengths(Exchange* exchange, const std::function<int(const Call&)>& run,
                    std::string* fault) {
  int code = run(exchange_of(Function::Alltoall, Collective::alltoall, exchange->lengths.data(),
                             exchange->lengths_of_others.data()));
  if (code != success) return code;
  const Misfit own = misfit_of(exchange->rank, exchange->lengths, exchange->lengths_of_others);
  std::vector<Misfit> all(exchange->all.size());
  code = run(exchange_of(Function::Allgather, Collective::allgather, &own, all.data()));
  const auto found =
      std::find_if(all.begin(), all.end(), [](const Misfit& one) { return one.from >= 0; });
  if (code == success && found != all.end()) *fault = text_of(*found, exchange->own);
  return code;
}

// All ranks of the group have told their calls, of which one differs. A rank that has entered the
// call cannot leave it again. Then the group is of no more use to any rank.
int raise_told(Communicator& communicator, Comm comm) {
  group::Group& group = *communicator.group();
  exec::Channel& channel = group.channel();
  const std::string fault = difference(told(channel, group.ranks()), true);
  if (channel.any_runs_at_once()) channel.give_up(Code::mismatch, fault);
  return raise_fault(fault, comm, group.rank() == 0);
}

// The signature of a call, for messages of its wait. The program may have passed a wrong root.
uint64_t signature_of(const Call& call, const Passed& own) {
  const auto bytes = has_lengths(call) ? exec::bytes_not_agreed : static_cast<size_t>(own.bytes);
  const bool has_room = call.root >= 0 && call.root < plan::max_ranks;
  return exec::call_signature(call.collective, bytes, has_room ? call.root : 0);
}

// The ranks tell their calls in the memory of their node.
int compare_in_memory(Communicator& communicator, const Call& call, Comm comm) {
  exec::Channel& channel = communicator.group()->channel();
  const Passed own = passed(call, true);
  channel.tell(words_of(own), false);
  const InHost here(call, comm, InHost::Counts::nothing);
  const Code code = channel.await_told(signature_of(call, own));
  if (code != Code::ok) return communicator.finish(code);
  return channel.tell_alike() ? success : raise_told(communicator, comm);
}

int judge_earlier() {
  return shm::load_relaxed(are_under_way) != 0 ? judge_completed(false) : success;
}

}  // namespace

int verify(Communicator& communicator, const Call& call, Comm comm,
           const std::function<int(const Call&)>& run) {
  if (const int code = judge_earlier(); code != success) return code;
  const bool by_memory = communicator.group() != nullptr && communicator.group()->on_one_node();
  if (by_memory) {
    const int code = compare_in_memory(communicator, call, comm);
    if (code != success || !has_lengths(call)) return code;
  }
  thread_local Exchange exchange;  // keeps its memory
  begin_exchange(&communicator, call, comm, &exchange);
  const auto run_before_call = [&](const Call& before) {
    const InHost here(call, comm, InHost::Counts::no);
    return run(before);
  };
  std::string fault;
  if (!by_memory) {
    const int code = run_before_call(exchange_of(Function::Allgather, Collective::allgather,
                                                 &exchange.own, exchange.all.data()));
    if (code != success) return code;
    fault = fault_of(exchange);
  }
  int code = success;
  if (fault.empty() && !exchange.lengths.empty())
    code = compare_lengths(&exchange, run_before_call, &fault);
  return code == success ? raise_fault(fault, comm, exchange.rank == 0) : code;
}

bool verifies_while_it_runs(const group::KnownCall& known, const Call& call) {
  return known.start.hears_all && !plan::rooted(call.collective);
}

int run_verified(Communicator& communicator, group::KnownCall& known, const void* in, void* out,
                 const Call& call, Comm comm) {
  if (const int code = judge_earlier(); code != success) return code;
  group::Group& group = *communicator.group();
  exec::Channel& channel = group.channel();
  const Passed own = passed(call, true);
  channel.tell(words_of(own), true);
  Code code = group.run_compared(known, in, out, number_of(own));
  if (code != Code::mismatch) return communicator.finish(code);
  const InHost here(call, comm, InHost::Counts::nothing);
  // Others tell their calls before they find that these differ.
  code = channel.await_told(signature_of(call, own));
  const bool differ = code == Code::ok && !channel.tell_alike();
  return differ ? raise_told(communicator, comm) : communicator.finish(Code::mismatch);
}

int verify_start(const Call& call, Comm comm, uint64_t* number) {
  static uint64_t last = 0;
  if (const int code = judge_completed(false); code != success) return code;
  const std::lock_guard<std::mutex> lock(mutex);
  UnderWay& one = under_way().emplace_back();
  shm::store_relaxed(are_under_way, 1);
  *number = one.number = ++last;
  one.frames = frames_here();
  Exchange& exchange = one.exchange;
  begin_exchange(nullptr, call, comm, &exchange);
  const Inside inside;
  const Datatype byte = host().type_byte;
  int code = host().Iallgather(&exchange.own, sizeof(Passed), byte, exchange.all.data(),
                               sizeof(Passed), byte, comm, &one.request);
  if (code == success && !exchange.lengths.empty())
    code = host().Ialltoall(exchange.lengths.data(), sizeof(Lengths), byte,
                            exchange.lengths_of_others.data(), sizeof(Lengths), byte, comm,
                            &one.request_of_lengths);
  if (code != success) under_way().pop_back();
  return code;
}

bool verify_has_ended(uint64_t number) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto one = numbered(number);
  bool is_complete = true;
  std::string fault;
  if (one != under_way().end()) find_fault(&*one, false, &is_complete, &fault);
  return is_complete;
}

int verify_end(uint64_t number) {
  std::list<UnderWay> own;
  {  // the lock is not held while this rank waits
    const std::lock_guard<std::mutex> lock(mutex);
    const auto one = numbered(number);
    if (one == under_way().end()) return success;
    own.splice(own.end(), under_way(), one);
  }
  bool is_complete = false;
  const int code = judge(&own.front(), true, &is_complete);
  if (is_complete) return code;
  const std::lock_guard<std::mutex> lock(mutex);  // the host may still write to it
  under_way().splice(under_way().end(), own);
  return code;
}

void end_verifying() {
  if (verifies_calls) judge_completed(true);
}

}  // namespace tutti::mpi
