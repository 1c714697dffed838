#include "plan/plan.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "plan/fault.h"
#include "plan/text.h"
#include "plan/text_line.h"

namespace tutti::plan {
namespace {

// The largest stage that a plan may name. A tick costs every rank a pass over its steps, so a stage
// far beyond any chain of hand-overs is a mistake.
constexpr int32_t max_stage = 1 << 20;
constexpr size_t max_label = 128;

int64_t last_block(const Region& region) {
  return region.first + (int64_t{region.count} - 1) * region.stride;
}

// k in [0, modulus) with step * k = 1 (mod modulus), for coprime step and modulus.
int64_t inverse(int64_t step, int64_t modulus) {
  int64_t remainder = modulus, next_remainder = step % modulus;
  int64_t factor = 0, next_factor = 1;
  while (next_remainder != 0) {
    const int64_t quotient = remainder / next_remainder;
    std::tie(remainder, next_remainder) =
        std::pair(next_remainder, remainder - quotient * next_remainder);
    std::tie(factor, next_factor) = std::pair(next_factor, factor - quotient * next_factor);
  }
  return ((factor % modulus) + modulus) % modulus;
}

bool same_place(const Region& one, const Region& other) {
  return one.first == other.first && one.count == other.count &&
         (one.count == 1 || one.stride == other.stride);
}

std::string range(int64_t count) {
  return count == 1 ? "only 0" : "0.." + std::to_string(count - 1);
}

// Checks one plan by the rules of plan.h, transfer by transfer.
class Validator {
 public:
  Validator(const Plan& plan, std::string_view name) : plan_(plan), name_(name) {}

  void run() {
    header();
    for (index_ = 0; index_ < plan_.transfers.size(); ++index_) transfer(plan_.transfers[index_]);
  }

 private:
  [[noreturn]] void refuse_plan(const std::string& message) const {
    refuse(name_.empty() ? "plan" : std::string(name_), message);
  }

  [[noreturn]] void refuse_here(const std::string& message) const {
    const Transfer& transfer = plan_.transfers[index_];
    refuse(place(plan_, index_, name_), shortened(transfer) + ": " + message);
  }

  void header() const {
    if (plan_.ranks < 1 || plan_.ranks > max_ranks) {
      refuse_plan("it has " + std::to_string(plan_.ranks) + " ranks; a plan has 1 to " +
                  std::to_string(max_ranks));
    }
    if (plan_.blocks < 1 || plan_.blocks > max_blocks) {
      refuse_plan("it has " + std::to_string(plan_.blocks) + " blocks; a plan has 1 to " +
                  std::to_string(max_blocks));
    }
    if (!has_data(plan_.collective) && plan_.blocks != 1) {
      refuse_plan("a barrier has 1 block, of no bytes, not " + std::to_string(plan_.blocks));
    }
    if (parted(plan_.collective) && plan_.blocks != plan_.ranks) {
      refuse_plan("it has " + std::to_string(plan_.blocks) + " blocks; a plan of " +
                  std::string(plan::name(plan_.collective)) + " has one for each of its " +
                  std::to_string(plan_.ranks) + " ranks");
    }
    if (!rooted(plan_.collective) && plan_.root != 0) {
      refuse_plan("root " + std::to_string(plan_.root) +
                  " of a collective that has none; leave the root out (or 0)");
    }
    if (plan_.root < 0 || plan_.root >= plan_.ranks) {
      refuse_plan("there is no rank " + std::to_string(plan_.root) + " to be the root; ranks are " +
                  range(plan_.ranks));
    }
    if (plan_.transfers.size() > max_transfers) {
      refuse_plan("it has " + std::to_string(plan_.transfers.size()) +
                  " transfers; a plan has at most " + std::to_string(max_transfers));
    }
    for (const std::string& fault : {label_fault(plan_.algorithm), shape_fault(plan_.shape)}) {
      if (!fault.empty()) refuse_plan(fault);
    }
    if (plan_.files.size() > max_files) {
      refuse_plan("its transfers are from " + std::to_string(plan_.files.size()) +
                  " files; at most " + std::to_string(max_files));
    }
  }

  void transfer(const Transfer& transfer) {
    if (transfer.kind == TransferKind::token) {
      token(transfer);
      return stage(transfer);
    }
    region(transfer.dst);
    if (transfer.dst.buffer == Buffer::in)
      refuse_here("it writes `in`, which is read-only; write `out` or `tmp`");
    sources(transfer);
    order(transfer);
    stage(transfer);
  }

  void token(const Transfer& transfer) const {
    if (transfer.push || transfer.any_order)
      refuse_here("a token is neither pushed nor in any order");
    if (transfer.src.empty())
      refuse_here("a token from nobody; name the ranks that are waited for");
    named_rank(transfer.dst);
    for (const Region& source : transfer.src) {
      named_rank(source);
      if (source.rank == transfer.dst.rank)
        refuse_here("a token from a rank to itself; a rank's own transfers are in order");
    }
  }

  void named_rank(const Region& region) const {
    if (!(region == nothing_of(region.rank))) refuse_here("a token has ranks, and no blocks");
    existing(region.rank);
  }

  void existing(int32_t rank) const {
    if (rank < 0 || rank >= plan_.ranks) {
      refuse_here("there is no rank " + std::to_string(rank) + "; ranks are " + range(plan_.ranks));
    }
  }

  void order(const Transfer& transfer) const {
    if (!transfer.any_order) return;
    if (transfer.kind == TransferKind::copy)
      refuse_here("a copy has one source and no order; leave `any` out");
    if (transfer.push) refuse_here("a pushed reduce has its sources at hand; leave `any` out");
    if (!plan_.commutative) {
      refuse_here(
          "a reduce in any order in a plan that keeps rank order; leave `any` out, or say "
          "'commutative yes'");
    }
  }

  int64_t blocks_of(Buffer buffer) const {
    switch (buffer) {
      case Buffer::in: return plan_.definition().in_blocks();
      case Buffer::out: return plan_.definition().out_blocks();
      case Buffer::tmp: break;
    }
    return max_blocks;
  }

  void region(const Region& region) const {
    existing(region.rank);
    if (region.count < 1) {
      refuse_here("a region of " + std::to_string(region.count) + " blocks; it has at least 1");
    }
    if (region.stride < 1) {
      refuse_here("a stride of " + std::to_string(region.stride) + "; it is at least 1");
    }
    const int64_t blocks = blocks_of(region.buffer);
    if (region.first < 0 || last_block(region) >= blocks) {
      const int64_t wrong = region.first < 0 ? region.first : last_block(region);
      refuse_here("there is no block " + std::to_string(wrong) + " in " + print(region) +
                  "; blocks are " + range(blocks));
    }
  }

  void sources(const Transfer& transfer) const {
    const size_t count = transfer.src.size();
    if (transfer.kind == TransferKind::copy && count != 1) {
      refuse_here("a copy of " + std::to_string(count) +
                  " sources; it has one, and `reduce` combines more");
    }
    if (transfer.kind == TransferKind::reduce && count < 2) {
      refuse_here("a reduce of " + std::to_string(count) +
                  " sources; it has two or more, and `copy` takes one");
    }
    for (const Region& source : transfer.src) {
      region(source);
      if (source.count != transfer.dst.count) {
        refuse_here(print(source) + " has " + std::to_string(source.count) +
                    " blocks and the destination " + std::to_string(transfer.dst.count) +
                    "; they must be as many");
      }
      if (transfer.push && source.rank != transfer.src.front().rank) {
        refuse_here("pushed from ranks " + std::to_string(transfer.src.front().rank) + " and " +
                    std::to_string(source.rank) + "; the sources of a push belong to one rank");
      }
      if (overlap(transfer.dst, as_stored(source)) && !same_place(transfer.dst, source)) {
        refuse_here("the destination overlaps " + print(source) +
                    "; it may be a source only at its own place, block for block");
      }
    }
  }

  // The root of a bcast has one buffer, its `in` and `out`.
  Region as_stored(Region region) const {
    const bool one_buffer = plan::one_buffer(plan_.collective) && region.rank == plan_.root;
    if (one_buffer && region.buffer == Buffer::in) region.buffer = Buffer::out;
    return region;
  }

  void stage(const Transfer& transfer) {
    const bool explicit_here = transfer.stage != stage_automatic;
    if (explicit_here && (transfer.stage < 0 || transfer.stage > max_stage)) {
      refuse_here("stage " + std::to_string(transfer.stage) + "; stages are 0.." +
                  std::to_string(max_stage));
    }
    const Transfer& first = plan_.transfers.front();
    if (explicit_here != (first.stage != stage_automatic)) {
      refuse_here(std::string(explicit_here
                                  ? "it has a stage where the transfers before it have none"
                                  : "it has no stage where the transfers before it have one") +
                  "; give all of them one, or none");
    }
    if (transfer.stage < stage_before_) {
      refuse_here("stage " + std::to_string(transfer.stage) + " after stage " +
                  std::to_string(stage_before_) + "; stages may not decrease along the plan");
    }
    stage_before_ = transfer.stage;
  }

  const Plan& plan_;
  std::string_view name_;
  size_t index_ = 0;
  int32_t stage_before_ = stage_automatic;
};

}  // namespace

bool overlap(const Region& one, const Region& other) {
  if (one.rank != other.rank || one.buffer != other.buffer) return false;
  const int64_t low = std::max(one.first, other.first);
  const int64_t high = std::min(last_block(one), last_block(other));
  if (low > high) return false;
  if (one.stride == 1 && other.stride == 1) return true;
  // The common blocks of two arithmetic progressions are one too: the least common block at or
  // after one.first, then every least common multiple of the strides.
  const int64_t divisor = std::gcd(one.stride, other.stride);
  const int64_t distance = int64_t{other.first} - one.first;
  if (distance % divisor != 0) return false;
  const int64_t modulus = other.stride / divisor;
  const int64_t wanted = ((distance / divisor) % modulus + modulus) % modulus;
  const int64_t steps =
      modulus == 1 ? 0 : wanted * inverse(one.stride / divisor, modulus) % modulus;
  const int64_t period = one.stride / divisor * int64_t{other.stride};
  int64_t common = one.first + one.stride * steps;
  if (common < low) common += (low - common + period - 1) / period * period;
  return common <= high;
}

int32_t Plan::tmp_blocks(int32_t rank) const {
  int32_t blocks = 0;
  const auto see = [&](const Region& region) {
    if (region.buffer == Buffer::tmp && region.rank == rank)
      blocks = std::max(blocks, region.last() + 1);
  };
  for (const Transfer& transfer : transfers) {
    see(transfer.dst);
    for (const Region& source : transfer.src) see(source);
  }
  return blocks;
}

int32_t Plan::largest_tmp() const {
  int32_t blocks = 0;
  const auto see = [&](const Region& region) {
    if (region.buffer == Buffer::tmp) blocks = std::max(blocks, region.last() + 1);
  };
  for (const Transfer& transfer : transfers) {
    see(transfer.dst);
    for (const Region& source : transfer.src) see(source);
  }
  return blocks;
}

Plan without_transfers(const Plan& plan) {
  return {plan.collective,  plan.algorithm, plan.ranks, plan.root,
          plan.commutative, plan.blocks,    plan.shape, plan.last_segment,
          plan.nodes,       plan.files,     {}};
}

int64_t moves(const Plan& plan) {
  int64_t blocks = 0;
  for (const Transfer& transfer : plan.transfers) {
    blocks += transfer.dst.count * static_cast<int64_t>(transfer.src.size() + 1);
  }
  return blocks;
}

Plan in_fixed_order(Plan plan) {
  for (Transfer& transfer : plan.transfers) transfer.any_order = false;
  return plan;
}

std::string place(const Plan& plan, size_t transfer, std::string_view name) {
  const int32_t line = plan.transfers[transfer].line;
  if (line == 0) return "transfer " + std::to_string(transfer + 1);
  const auto file = static_cast<size_t>(plan.transfers[transfer].file);
  if (name.empty() && file < plan.files.size()) name = plan.files[file];
  return name.empty() ? "line " + std::to_string(line)
                      : std::string(name) + ":" + std::to_string(line);
}

std::string shortened(const Transfer& transfer) {
  constexpr size_t shown_sources = 4;
  if (transfer.src.size() <= shown_sources) return print(transfer);
  Transfer start = transfer;
  start.src.resize(shown_sources);
  return print(start) + ", ...";
}

std::string label_fault(std::string_view label) {
  const auto printable = [](char c) { return c >= ' ' && c <= '~' && c != '#'; };
  const bool right = label.size() <= max_label &&
                     std::all_of(label.begin(), label.end(), printable) &&
                     !label.starts_with(' ') && !label.ends_with(' ');
  if (right) return {};
  return "the algorithm's label must be at most " + std::to_string(max_label) +
         " printable ASCII characters, without # and without spaces around it";
}

std::string shape_fault(std::string_view shape) {
  const std::string fault =
      "the machine's shape must be words such as 'node:4 numa:2 core:8', from the outside in, at "
      "most " +
      std::to_string(max_label) + " characters";
  if (shape.size() > max_label) return fault;
  while (!shape.empty()) {
    const std::string_view word = shape.substr(0, shape.find(' '));
    const size_t colon = std::min(word.find(':'), word.size());
    const std::string_view level = word.substr(0, colon),
                           count = word.substr(std::min(colon + 1, word.size()));
    const bool right =
        !level.empty() &&
        std::all_of(level.begin(), level.end(), [](char c) { return c >= 'a' && c <= 'z'; }) &&
        !count.empty() && std::all_of(count.begin(), count.end(), is_digit);
    const bool last = word.size() == shape.size();
    shape.remove_prefix(last ? shape.size() : word.size() + 1);
    if (!right || (!last && shape.empty())) return fault;
  }
  return {};
}

void validate(const Plan& plan, std::string_view name) { Validator(plan, name).run(); }
void validate(const Plan& plan) { validate(plan, {}); }

}  // namespace tutti::plan
