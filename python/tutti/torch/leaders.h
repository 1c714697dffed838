// Collectives over several nodes. The ranks of a node form a team, whose first rank is the node's
// leader; gloo joins the leaders, and all ranks for calls in which each rank has other data.
//
// Each collective begins with an agreement: all ranks tell which call they make, so calls that
// differ, and ranks that have died or do not come, become an error at every rank. One thread at a
// time calls (several_nodes.h).
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/extension.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <regex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "arguments.h"
#include "places.h"
#include "tutti/tutti.h"
#include "works.h"

namespace tutti_torch {

using Gloo = c10::intrusive_ptr<c10d::Backend>;

// Ranks make different calls. All of them learn it, so the group goes on.
struct Disagreement : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline at::Tensor bytes_at(void* data, size_t bytes) {
  return at::from_blob(data, {static_cast<int64_t>(bytes)}, at::kByte);
}
// The bytes of a tensor, which lives as long as they.
inline at::Tensor bytes_of(const at::Tensor& tensor) {
  return at::from_blob(
      tensor.data_ptr(), {static_cast<int64_t>(tensor.nbytes())}, [tensor](void*) {}, at::kByte);
}
inline at::Tensor new_bytes(size_t bytes) {
  return at::zeros({static_cast<int64_t>(bytes)}, at::kByte);
}
inline char* place_in(const at::Tensor& tensor, size_t byte) {
  return static_cast<char*>(tensor.data_ptr()) + byte;
}

// Combines vectors in their order, by the library's kernels: a team whose ranks this thread plays.
class Combiner {
 public:
  explicit Combiner(size_t vectors) : groups_(vectors) {
    require_ok(tutti_team_create(static_cast<int>(vectors), &team_));
    for (size_t rank = 0; rank < vectors; ++rank)
      require_ok(tutti_team_join(team_, static_cast<int>(rank), &groups_[rank]));
  }
  Combiner(const Combiner&) = delete;
  ~Combiner() {
    for (tutti_group* group : groups_) tutti_group_free(group);
    tutti_team_free(team_);
  }

  // `vectors` has the vectors one after the other.
  at::Tensor combine(const at::Tensor& vectors, Combination how) const {
    const size_t bytes = vectors.nbytes() / groups_.size();
    const at::Tensor result =
        at::empty({vectors.numel() / static_cast<int64_t>(groups_.size())}, vectors.options());
    std::vector<tutti_request*> requests(groups_.size());
    for (size_t rank = 0; rank < groups_.size(); ++rank)
      require_ok(tutti_ireduce(groups_[rank], place_in(vectors, rank * bytes), result.data_ptr(),
                               count_of(result), how.type, how.op, 0, &requests[rank]));
    for (tutti_request*& request : requests) require_ok(tutti_request_wait(&request, -1));
    return result;
  }

 private:
  tutti_team* team_ = nullptr;
  std::vector<tutti_group*> groups_;
};

class Leaders {
 public:
  struct Settings {
    std::shared_ptr<Group> group;  // joins this node's ranks
    Places places;
    int rank = 0;
    Gloo leaders;  // joins the nodes; null unless this rank is a leader
    Gloo all;      // joins the ranks
  };
  explicit Leaders(Settings settings)
      : group_(std::move(settings.group)),
        places_(std::move(settings.places)),
        rank_(settings.rank),
        leaders_(std::move(settings.leaders)),
        all_(std::move(settings.all)) {
    if (leaders_) combiner_ = std::make_unique<Combiner>(places_.members.size());
  }

  // All below ends by then, or little later. Throws Disagreement, or another exception, after which
  // the ranks may be at different places of a call.
  void set_deadline(Clock::time_point deadline) { deadline_ = deadline; }
  // The other leaders learn at once that this rank does not go on.
  void leave() { leaders_.reset(); }

  void barrier() { agree("barrier"); }

  // The tensors are this object's; some are used for the results.
  at::Tensor broadcast(const at::Tensor& bytes, int root) {
    agree("broadcast", bytes.nbytes(), root);
    if (bytes.numel() == 0) return bytes;
    const size_t at_node = places_.node_of(root);
    lead(
        [&] {
          if (at_node == places_.node) broadcast_here(bytes, places_.local_of(at_node, root));
        },
        [&] {
          c10d::BroadcastOptions options;
          options.rootRank = static_cast<int64_t>(at_node);
          options.timeout = left();
          Tensors list{bytes};
          leaders_->broadcast(list, options)->wait();
        });
    if (at_node != places_.node) broadcast_here(bytes, 0);
    return bytes;
  }

  // All ranks get the same bits: of each piece of the sum they get what one leader has computed.
  at::Tensor allreduce(const at::Tensor& own, const ReduceOp& op, int root = -1) {
    agree(described(root < 0 ? "all_reduce" : "reduce", own, op), own.nbytes(), root);
    if (own.numel() == 0) return own;
    const at::Tensor sum = wide(own);
    const Combination how = sum_of(op, sum);
    lead([&] { reduce_here(sum, how); },
         [&] {
           const auto nodes = static_cast<int64_t>(places_.members.size());
           const int64_t piece = (sum.numel() + nodes - 1) / nodes;
           const at::Tensor pieces = at::zeros({nodes * piece}, sum.options());
           pieces.narrow(0, 0, sum.numel()).copy_(sum.reshape({-1}));
           at::Tensor mine = bytes_of(combined(pieces, how)), all = bytes_of(pieces);
           leaders_->_allgather_base(all, mine, with_timeout<c10d::AllgatherOptions>())->wait();
           sum.copy_(pieces.narrow(0, 0, sum.numel()).view(sum.sizes()));
         });
    broadcast_here(sum, 0);
    return finished(sum, own, op);
  }

  // `own` has a part for each rank.
  at::Tensor reduce_scatter(const at::Tensor& own, const ReduceOp& op) {
    agree(described("reduce_scatter", own, op), own.nbytes());
    const auto count = own.numel() / static_cast<int64_t>(places_.ranks);
    if (count == 0) return own;
    const at::Tensor sum = wide(own);
    const Combination how = sum_of(op, sum);
    at::Tensor parts;
    lead(
        [&] { reduce_here(sum, how); },
        [&] {
          const auto nodes = static_cast<int64_t>(places_.members.size());
          const at::Tensor of_nodes =
              at::zeros({nodes, static_cast<int64_t>(places_.most), count}, sum.options());
          const at::Tensor of_ranks = sum.view({static_cast<int64_t>(places_.ranks), count});
          for_each_rank([&](size_t node, size_t local, int rank) {
            of_nodes[static_cast<int64_t>(node)][static_cast<int64_t>(local)].copy_(of_ranks[rank]);
          });
          parts = combined(of_nodes.view({-1}), how);
        });
    const at::Tensor part = at::empty({count}, sum.options());
    here([&](auto* group, auto* request) {
      return tutti_iscatter(group, parts.defined() ? parts.data_ptr() : nullptr, part.data_ptr(),
                            part.nbytes(), 0, request);
    });
    return finished(part, own, op);
  }

  at::Tensor allgather(const at::Tensor& bytes) {
    const size_t each = bytes.nbytes();
    agree("all_gather", each);
    const at::Tensor whole = new_bytes(places_.ranks * each);
    if (each == 0) return whole;
    at::Tensor mine = new_bytes(places_.most * each);
    lead(
        [&] {
          here([&](auto* group, auto* request) {
            return tutti_igather(group, bytes.data_ptr(), mine.data_ptr(), each, 0, request);
          });
        },
        [&] {
          at::Tensor all = new_bytes(places_.members.size() * places_.most * each);
          leaders_->_allgather_base(all, mine, with_timeout<c10d::AllgatherOptions>())->wait();
          for_each_rank([&](size_t node, size_t local, int rank) {
            std::memcpy(place_in(whole, static_cast<size_t>(rank) * each),
                        place_in(all, (node * places_.most + local) * each), each);
          });
        });
    broadcast_here(whole, 0);
    return whole;
  }

  // The result is the root's: all parts.
  at::Tensor gather(const at::Tensor& bytes, int root) {
    const size_t each = bytes.nbytes();
    agree("gather", each, root);
    const at::Tensor whole = new_bytes(rank_ == root ? places_.ranks * each : 0);
    if (each == 0) return whole;
    Tensors inputs{bytes};
    std::vector<Tensors> outputs;
    if (rank_ == root) outputs.push_back(whole.split(static_cast<int64_t>(each)));
    auto options = with_timeout<c10d::GatherOptions>();
    options.rootRank = root;
    all_->gather(outputs, inputs, options)->wait();
    return whole;
  }

  // `whole` is the root's, and has a part for each rank.
  at::Tensor scatter(const at::Tensor& whole, size_t each, int root) {
    agree("scatter", each, root);
    at::Tensor part = new_bytes(each);
    if (each == 0) return part;
    Tensors outputs{part};
    std::vector<Tensors> inputs;
    if (rank_ == root) inputs.push_back(whole.split(static_cast<int64_t>(each)));
    auto options = with_timeout<c10d::ScatterOptions>();
    options.rootRank = root;
    all_->scatter(outputs, inputs, options)->wait();
    return part;
  }

  // The lengths of the parts for each rank, and of those that this rank expects. Ranks tell each
  // other the lengths first, so one that expects others gets an error, and nobody waits for it.
  at::Tensor alltoall(at::Tensor bytes, std::vector<int64_t> give,
                      const std::vector<int64_t>& expected) {
    agree("all_to_all");
    std::vector<int64_t> get(places_.ranks), even;
    const auto of = [](std::vector<int64_t>& lengths) {
      return at::from_blob(lengths.data(), {static_cast<int64_t>(lengths.size())}, at::kLong);
    };
    at::Tensor from = of(give), to = of(get);
    const auto options = with_timeout<c10d::AllToAllOptions>();
    all_->alltoall_base(to, from, even, even, options)->wait();
    int64_t total = 0;
    for (const int64_t length : get) total += length;
    at::Tensor whole = new_bytes(static_cast<size_t>(total));
    std::vector<int64_t> to_get = get;  // gloo takes the vectors for itself
    all_->alltoall_base(whole, bytes, to_get, give, options)->wait();
    for (size_t rank = 0; rank < places_.ranks; ++rank)
      if (get[rank] != expected[rank])
        throw Disagreement("rank " + std::to_string(rank) + " has given " +
                           std::to_string(get[rank]) + " bytes in all_to_all where rank " +
                           std::to_string(rank_) + " expects " + std::to_string(expected[rank]));
    return whole;
  }

 private:
  // How a rank, or a leader, tells others of its call and of its failure.
  struct Told {
    char call[128];
    char failure[383];
    char disagrees;

    void fail_by(const std::exception& error) {
      snprintf(failure, sizeof failure, "%s", text_of(error).c_str());
      disagrees = dynamic_cast<const Disagreement*>(&error) != nullptr;
    }
    void require_no_failure() const {
      if (failure[0] == '\0') return;
      if (disagrees) throw Disagreement(failure);
      throw std::runtime_error(failure);
    }
  };

  static std::string described(const char* call, const at::Tensor& tensor, const ReduceOp& op) {
    return std::string(call) + " by " + name_of(op.op_) + " of " +
           c10::toString(tensor.scalar_type());
  }
  // Numbers of 16 bits are combined in float, and rounded once.
  static at::Tensor wide(const at::Tensor& tensor) {
    const bool is_half = tensor.scalar_type() == at::kHalf || tensor.scalar_type() == at::kBFloat16;
    return is_half ? tensor.to(at::kFloat) : tensor;
  }
  static Combination sum_of(const ReduceOp& op, const at::Tensor& tensor) {
    return combination_of(op == ReduceOp::AVG ? ReduceOp::SUM : op.op_, tensor.scalar_type());
  }
  at::Tensor finished(const at::Tensor& sum, const at::Tensor& own, const ReduceOp& op) const {
    if (op == ReduceOp::AVG) sum.div_(static_cast<int64_t>(places_.ranks));
    return sum.to(own.scalar_type());
  }

  template <class Call>
  void for_each_rank(Call call) const {
    for (size_t node = 0; node < places_.members.size(); ++node)
      for (size_t local = 0; local < places_.members[node].size(); ++local)
        call(node, local, places_.members[node][local]);
  }
  const std::vector<int>& members_here() const { return places_.members[places_.node]; }
  bool is_leader() const { return places_.local == 0; }

  // gloo's time: a second more, in which a leader whose time is over tells the others.
  Milliseconds left() const {
    return Milliseconds(1000 + static_cast<int64_t>(1000 * seconds_until(deadline_)));
  }
  template <class Options>
  Options with_timeout() const {
    Options options;
    options.timeout = left();
    return options;
  }

  // Starts a collective of this node's ranks and waits for it. Leaders may need a little longer
  // than the deadline to tell what has happened. Errors have the numbers of the group.
  template <class Call>
  void here(Call call) const {
    const double patience = seconds_until(deadline_) + (is_leader() ? 0.0 : 2.0);
    tutti_request* request = nullptr;
    tutti_status status = call(group_->group, &request);
    if (status == TUTTI_OK) {
      tutti_request_limit(request, patience);
      status = tutti_request_wait(&request, patience);
    }
    if (status == TUTTI_OK) return;
    std::string told = status == TUTTI_TIMEOUT ? "Timed out: a rank of this node has not come"
                                               : tutti_error_message();
    if (request != nullptr) tutti_request_free(&request);
    const std::regex rank("rank ([0-9]+)");
    std::string text;
    for (std::smatch found; std::regex_search(told, found, rank); told = found.suffix()) {
      const size_t local = std::stoul(found[1]);
      const auto& all = members_here();
      text += found.prefix().str() + "rank " + std::to_string(all.at(local));
    }
    throw std::runtime_error(text + told);
  }
  void broadcast_here(const at::Tensor& tensor, int root) const {
    here([&](auto* group, auto* request) {
      return tutti_ibcast(group, tensor.data_ptr(), tensor.nbytes(), root, request);
    });
  }
  void reduce_here(const at::Tensor& tensor, Combination how) const {
    here([&](auto* group, auto* request) {
      return tutti_ireduce(group, tensor.data_ptr(), tensor.data_ptr(), count_of(tensor), how.type,
                           how.op, 0, request);
    });
  }

  // All ranks give, then leaders join the nodes. All ranks of a node learn whether its leader
  // could.
  template <class Give, class Join>
  void lead(Give give, Join join) const {
    Told told{};
    if (is_leader()) {
      try {
        give();
        join();
      } catch (const std::exception& error) {
        told.fail_by(error);
      }
    } else {
      give();
    }
    try {
      broadcast_here(bytes_at(&told, sizeof told), 0);
    } catch (const std::exception&) {
      told.require_no_failure();
      throw;
    }
    told.require_no_failure();
  }

  // `ranks` have told it, in this order.
  static void require_same_call(const std::vector<Told>& all, const std::vector<int>& ranks) {
    for (size_t i = 1; i < all.size(); ++i)
      if (std::strcmp(all[i].call, all[0].call) != 0)
        throw Disagreement("rank " + std::to_string(ranks[0]) + " calls " + all[0].call +
                           ", but rank " + std::to_string(ranks[i]) + " " + all[i].call);
  }

  void agree(const std::string& call, size_t bytes = 0, int root = -1) const {
    Told own{};
    const std::string length = bytes == 0 ? "" : ", " + std::to_string(bytes) + " bytes";
    const std::string where = root < 0 ? "" : ", root " + std::to_string(root);
    snprintf(own.call, sizeof own.call, "%s", (call + length + where).c_str());
    std::vector<Told> on_node(members_here().size());
    const auto give = [&] {
      here([&](auto* group, auto* request) {
        return tutti_igather(group, &own, on_node.data(), sizeof own, 0, request);
      });
    };
    const auto join = [&] {
      try {
        give();
        require_same_call(on_node, members_here());
      } catch (const std::exception& error) {
        own.fail_by(error);
      }
      std::vector<Told> of_nodes(places_.members.size());
      at::Tensor all = bytes_at(of_nodes.data(), of_nodes.size() * sizeof own),
                 mine = bytes_at(&own, sizeof own);
      try {
        leaders_->_allgather_base(all, mine, with_timeout<c10d::AllgatherOptions>())->wait();
      } catch (const std::exception&) {
        own.require_no_failure();
        throw;
      }
      for (const Told& one : of_nodes)
        if (!one.disagrees) one.require_no_failure();
      for (const Told& one : of_nodes) one.require_no_failure();
      std::vector<int> first;
      for (const std::vector<int>& members : places_.members) first.push_back(members[0]);
      require_same_call(of_nodes, first);
    };
    lead(
        [&] {
          if (!is_leader()) give();
        },
        join);
  }

  // Leaders give a vector of as many chunks as there are nodes, and each combines one.
  at::Tensor combined(const at::Tensor& chunks, Combination how) const {
    const at::Tensor got = at::empty_like(chunks);
    at::Tensor to = bytes_of(got), from = bytes_of(chunks);
    std::vector<int64_t> even;
    leaders_->alltoall_base(to, from, even, even, with_timeout<c10d::AllToAllOptions>())->wait();
    return combiner_->combine(got, how);
  }

  const std::shared_ptr<Group> group_;
  const Places places_;
  const int rank_;
  Gloo leaders_;
  const Gloo all_;
  std::unique_ptr<Combiner> combiner_;
  Clock::time_point deadline_;
};

}  // namespace tutti_torch
