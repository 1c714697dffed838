// Plans that Python makes, transfer by transfer. The plan language (python/tutti/plan) writes
// through this.
//
// A PlanBuilder is the only mutable object here. It belongs to the call of one plan function and to
// one thread; the Plan that finish() returns is a value like any other. The language checks ranges
// of ranks and blocks, because it can name the user's line; finish() finds all other mistakes, by
// plan::validate.

#include <optional>
#include <tuple>

#include "base/error.h"
#include "plan/plan.h"
#include "python/functions.h"

namespace tutti::python {
namespace {

// (rank, buffer, first, count, stride), the buffer as in plan::Buffer.
using RegionTuple = std::tuple<int32_t, int32_t, int32_t, int32_t, int32_t>;

// Regions hold no larger numbers than ranks of any plan can have; validate() compares the others.
int32_t checked_rank(int32_t rank) {
  if (rank < -plan::max_ranks || rank > plan::max_ranks)
    throw Error(Code::invalid_argument,
                "there is no rank " + std::to_string(rank) + "; name one of the plan's ranks");
  return rank;
}

plan::Region region(const RegionTuple& tuple) {
  const auto [rank, buffer, first, count, stride] = tuple;
  if (buffer < 0 || buffer > static_cast<int32_t>(plan::Buffer::tmp)) {
    throw Error(Code::invalid_argument,
                "buffer " + std::to_string(buffer) + "; 0 is in, 1 out, 2 tmp");
  }
  return {checked_rank(rank), static_cast<plan::Buffer>(buffer), first, count, stride};
}

class PlanBuilder {
 public:
  PlanBuilder(std::string_view collective, int32_t ranks, int32_t root) {
    plan_.collective = plan::collective_named(collective);
    plan_.ranks = ranks;
    plan_.root = root;
  }

  int32_t file(const std::string& name) {
    plan_.files.push_back(name);
    return static_cast<int32_t>(plan_.files.size()) - 1;
  }

  // A copy if there is one source, else a reduce. `included`: the transfer and its stage come from
  // another plan, which is included in this one.
  void transfer(const RegionTuple& dst, const std::vector<RegionTuple>& src, bool push,
                bool any_order, std::optional<int32_t> stage, int32_t file, int32_t line,
                bool included) {
    plan::Transfer transfer;
    transfer.kind = src.size() > 1 ? plan::TransferKind::reduce : plan::TransferKind::copy;
    transfer.push = push;
    transfer.any_order = any_order;
    transfer.dst = region(dst);
    transfer.src.reserve(src.size());
    for (const RegionTuple& source : src) transfer.src.push_back(region(source));
    if (transfer.src.empty())
      throw Error(Code::invalid_argument, "a transfer reads nothing; name a source");
    add(std::move(transfer), stage, file, line, included);
  }

  // Later transfers of `rank` wait for all earlier transfers of the ranks `after`.
  void token(int32_t rank, const std::vector<int32_t>& after, std::optional<int32_t> stage,
             int32_t file, int32_t line, bool included) {
    plan::Transfer transfer;
    transfer.kind = plan::TransferKind::token;
    transfer.dst = plan::nothing_of(checked_rank(rank));
    for (int32_t other : after) transfer.src.push_back(plan::nothing_of(checked_rank(other)));
    add(std::move(transfer), stage, file, line, included);
  }

  plan::Plan finish(std::string_view algorithm, int32_t blocks, bool commutative,
                    std::string_view shape) const {
    plan::Plan plan = plan_;
    plan.algorithm = algorithm;
    plan.blocks = blocks;
    plan.commutative = commutative;
    plan.shape = shape;
    if (!has_stages(plan)) {
      for (size_t index : included_) plan.transfers[index].stage = plan::stage_automatic;
    }
    plan::validate(plan);
    return plan;
  }

 private:
  void add(plan::Transfer transfer, std::optional<int32_t> stage, int32_t file, int32_t line,
           bool included) {
    if (stage) transfer.stage = *stage;
    transfer.line = line;
    transfer.file = file;
    if (included) included_.push_back(plan_.transfers.size());
    plan_.transfers.push_back(std::move(transfer));
  }

  // True if every transfer has a stage and stages do not decrease. Stages of included plans were
  // chosen for those plans only, so they are kept only then.
  static bool has_stages(const plan::Plan& plan) {
    int32_t before = 0;
    for (const plan::Transfer& transfer : plan.transfers) {
      if (transfer.stage < before) return false;
      before = transfer.stage;
    }
    return true;
  }

  plan::Plan plan_;
  std::vector<size_t> included_;  // indices of the transfers that come from included plans
};

PlanBuilder begin(std::string_view collective, int32_t ranks, int32_t root) {
  return {collective, ranks, root};
}

}  // namespace

void bind_builder(Module& module) {
  Class<PlanBuilder>(module.get(), "PlanBuilder", "A plan in the making.")
      .init<&begin>("collective"_a, "ranks"_a, "root"_a)
      .def<&PlanBuilder::file>("file", "name"_a,
                               "Names a file that transfers are written in; returns its index.")
      .def<&PlanBuilder::transfer>(
          "transfer", "dst"_a, "src"_a, "push"_a, "any_order"_a, "stage"_a, "file"_a, "line"_a,
          "included"_a = false,
          "Appends a transfer; regions are (rank, buffer, first, count, stride).")
      .def<&PlanBuilder::token>(
          "token", "rank"_a, "after"_a, "stage"_a, "file"_a, "line"_a, "included"_a = false,
          "Appends a token: the rank goes on when the ranks `after` have executed all their "
          "earlier "
          "transfers.")
      .def<&PlanBuilder::finish>("finish", "algorithm"_a, "blocks"_a, "commutative"_a, "shape"_a,
                                 "Returns the plan, or raises Error if it is not well formed.")
      .add();
}

}  // namespace tutti::python
