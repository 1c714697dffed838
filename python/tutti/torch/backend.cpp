// torch.distributed's backend "tutti": c10d::Backend on the C API of teams of processes.
//
// A call starts a collective (tutti_iallreduce and the like) and returns a Work. The start
// publishes what this rank gives; the results are taken by whoever waits for the Work first. So
// groups may be used in different orders, and a rank owes the others nothing between its calls. A
// helper thread completes what nobody waits for: futures, and Works that are dropped (works.h).
// arguments.h has the checks, start.h what all starts have in common, threads.h the threads that
// share long work.
//
// `python/tutti/torch/extension.py` compiles this file at the first use, against the torch that is
// there.
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torch/extension.h>

#include <pthread.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arguments.h"
#include "carriers.h"
#include "places.h"
#include "several_nodes.h"
#include "start.h"
#include "threads.h"
#include "tutti/tutti.h"
#include "works.h"

namespace {

using namespace tutti_torch;
using c10d::OpType;

class TuttiBackend final : public c10d::Backend {
 public:
  TuttiBackend(std::shared_ptr<Group> group, std::unique_ptr<Carrier> carrier, int rank, int size,
               Milliseconds timeout)
      : Backend(rank, size),
        calls_(std::move(group), rank, c10::make_intrusive<Options>("tutti", timeout)),
        carrier_(std::move(carrier)) {}

  const std::string getBackendName() const override { return "tutti"; }
  c10::intrusive_ptr<Options> getBackendOptions() override { return calls_.options; }
  void setTimeout(Milliseconds timeout) override { calls_.options->timeout = timeout; }
  // Works that are under way fail, and so do later calls. The others learn it by their timeouts.
  void abort() override { carrier_->abort(); }
  void setSequenceNumberForGroup() override {}  // each rank counts from 0
  uint64_t getSequenceNumberForGroup() override { return calls_.number(); }

  c10::intrusive_ptr<c10d::Work> broadcast(Tensors& tensors,
                                           const c10d::BroadcastOptions& options) override {
    Start start(calls_, options.timeout);
    require_root(options.rootRank, size_);
    require_root_tensor(options.rootTensor, tensors.size());
    at::Tensor& own = tensors[static_cast<size_t>(options.rootTensor)];
    require_dense(own);
    const at::Tensor buffer = start.in_and_out(own);
    if (tensors.size() > 1) {
      require_same(tensors, own);
      for (const at::Tensor& tensor : tensors)
        if (!tensor.is_same(own)) start.copy_back(tensor, buffer.view(tensor.sizes()));
    }
    carrier_->broadcast(start, buffer, static_cast<int>(options.rootRank));
    return start.work(OpType::BROADCAST, "tutti:broadcast", tensors, tensors);
  }

  c10::intrusive_ptr<c10d::Work> allreduce(Tensors& tensors,
                                           const c10d::AllreduceOptions& options) override {
    Start start(calls_, options.timeout);
    TORCH_CHECK(!tensors.empty(), "tutti: allreduce requires non-empty tensor list");
    if (tensors.size() > 1) require_same(tensors, tensors[0]);
    if (tensors[0].layout() == at::kSparse)
      start_sparse_allreduce(start, tensors, options.reduceOp);
    else
      start_allreduce(start, tensors, options.reduceOp);
    return start.work(OpType::ALLREDUCE, "tutti:all_reduce", tensors, tensors);
  }

  c10::intrusive_ptr<c10d::Work> allreduce_coalesced(
      Tensors& tensors, const c10d::AllreduceCoalescedOptions& options) override {
    Start start(calls_, options.timeout);
    TORCH_CHECK(!tensors.empty(), "tutti: allreduce_coalesced requires non-empty tensor list");
    for (size_t i = 0; i < tensors.size(); ++i) {
      TORCH_CHECK(tensors[i].layout() == tensors[0].layout(),
                  "tutti: invalid tensor layout at index ", i);
      TORCH_CHECK(tensors[i].scalar_type() == tensors[0].scalar_type(),
                  "tutti: tensors must all have the same type in allreduce_coalesced");
      require_dense(tensors[i]);
    }
    for (const at::Tensor& tensor : tensors) start_allreduce(start, {tensor}, options.reduceOp);
    return start.work(OpType::ALLREDUCE_COALESCED, "tutti:all_reduce", tensors, tensors);
  }

  c10::intrusive_ptr<c10d::Work> reduce(Tensors& tensors,
                                        const c10d::ReduceOptions& options) override {
    Start start(calls_, options.timeout);
    require_root(options.rootRank, size_);
    const at::Tensor real = as_real(only(tensors, "tensor list"), options.reduceOp);
    require_root_tensor(options.rootTensor, tensors.size());
    const at::Tensor given = given_by(real, options.reduceOp);
    const int root = static_cast<int>(options.rootRank);
    const at::Tensor buffer = root == rank_ ? start.in_and_out(real, given) : start.in(given);
    carrier_->reduce(start, buffer, options.reduceOp, root);
    return start.work(OpType::REDUCE, "tutti:reduce", tensors, tensors);
  }

  c10::intrusive_ptr<c10d::Work> allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                                           const c10d::AllgatherOptions& options) override {
    Start start(calls_, options.timeout);
    TORCH_CHECK(!inputs.empty(), "tutti: allgather requires non-empty input tensor list");
    TORCH_CHECK(outputs.size() == inputs.size(),
                "tutti: allgather requires input/output tensor lists to have the same length");
    if (inputs.size() > 1) return allgather_several(start, outputs, inputs);
    require_dense(inputs[0]);
    start_allgather(start, outputs[0], inputs[0]);
    return start.work(OpType::ALLGATHER, "tutti:all_gather", outputs[0], inputs);
  }

  c10::intrusive_ptr<c10d::Work> _allgather_base(at::Tensor& output, at::Tensor& input,
                                                 const c10d::AllgatherOptions& options) override {
    Start start(calls_, options.timeout);
    start_allgather_base(start, output, input);
    return start.work(OpType::_ALLGATHER_BASE, "tutti:_all_gather_base", {output}, {input});
  }

  c10::intrusive_ptr<c10d::Work> allgather_coalesced(
      std::vector<Tensors>& outputs, Tensors& inputs,
      const c10d::AllgatherOptions& options) override {
    Start start(calls_, options.timeout);
    TORCH_CHECK(outputs.size() == static_cast<size_t>(size_),
                "tutti: allgather_coalesced's output lists should be equal to world size");
    Tensors results;
    for (size_t i = 0; i < inputs.size(); ++i) {
      Tensors parts;
      for (Tensors& of_rank : outputs) {
        TORCH_CHECK(of_rank.size() == inputs.size(),
                    "tutti: a list of outputs is not as long as the inputs");
        TORCH_CHECK(of_rank[i].numel() == inputs[i].numel(),
                    "tutti: invalid size of output tensor at index ", i);
        parts.push_back(of_rank[i]);
        results.push_back(of_rank[i]);
      }
      require_dense(inputs[i]);
      start_allgather(start, parts, inputs[i]);
    }
    return start.work(OpType::ALLGATHER_COALESCED, "tutti:all_gather", results, inputs);
  }

  c10::intrusive_ptr<c10d::Work> allgather_into_tensor_coalesced(
      Tensors& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) override {
    Start start(calls_, options.timeout);
    TORCH_CHECK(outputs.size() == inputs.size(), "tutti: as many outputs as inputs");
    for (size_t i = 0; i < inputs.size(); ++i) start_allgather_base(start, outputs[i], inputs[i]);
    return start.work(OpType::COALESCED, "tutti:_all_gather_base", outputs, inputs);
  }

  c10::intrusive_ptr<c10d::Work> gather(std::vector<Tensors>& outputs, Tensors& inputs,
                                        const c10d::GatherOptions& options) override {
    Start start(calls_, options.timeout);
    require_root(options.rootRank, size_);
    const int root = static_cast<int>(options.rootRank);
    const at::Tensor input = start.in(only(inputs, "input tensor list"));
    at::Tensor flat;
    Tensors results;
    if (root == rank_) {
      TORCH_CHECK(outputs.size() == 1, "tutti: gather requires a single-element output list");
      TORCH_CHECK(outputs[0].size() == static_cast<size_t>(size_),
                  "tutti: Incorrect output list size ", outputs[0].size(),
                  ". Output list size should be ", size_, ", one tensor for each rank");
      require_alike(outputs[0], input, size_, "");
      results = outputs[0];
      flat = start.out_to(results, input);
    } else {
      TORCH_CHECK(outputs.empty(), "tutti: gather requires empty output on non-root");
    }
    carrier_->gather(start, input, flat, root);
    return start.work(OpType::GATHER, "tutti:gather", results, inputs);
  }

  c10::intrusive_ptr<c10d::Work> scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                                         const c10d::ScatterOptions& options) override {
    Start start(calls_, options.timeout);
    require_root(options.rootRank, size_);
    const int root = static_cast<int>(options.rootRank);
    const at::Tensor output = start.out(only(outputs, "output tensor list"));
    at::Tensor flat;
    Tensors given;
    if (root == rank_) {
      TORCH_CHECK(inputs.size() == 1, "tutti: scatter requires a single-element input list");
      TORCH_CHECK(inputs[0].size() == static_cast<size_t>(size_),
                  "tutti: Incorrect input list size ", inputs[0].size(),
                  ". Input list size should be ", size_, ", one tensor for each rank");
      require_alike(inputs[0], output, size_, "");
      flat = start.in_from(inputs[0], output);
      given = inputs[0];
    } else {
      TORCH_CHECK(inputs.empty(), "tutti: scatter requires empty input on non-root");
    }
    carrier_->scatter(start, flat, output, root);
    return start.work(OpType::SCATTER, "tutti:scatter", outputs, given);
  }

  c10::intrusive_ptr<c10d::Work> reduce_scatter(
      std::vector<at::Tensor>& outputs, std::vector<Tensors>& inputs,
      const c10d::ReduceScatterOptions& options) override {
    Start start(calls_, options.timeout);
    TORCH_CHECK(inputs.size() == 1, "tutti: reduce_scatter requires a single-element input list");
    require_alike(inputs[0], only(outputs, "output tensor list"), size_, "");
    start_reduce_scatter(start, outputs[0], start.in_from(inputs[0], outputs[0]), options.reduceOp);
    return start.work(OpType::REDUCE_SCATTER, "tutti:reduce_scatter", outputs, inputs[0]);
  }

  c10::intrusive_ptr<c10d::Work> _reduce_scatter_base(
      at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& options) override {
    Start start(calls_, options.timeout);
    start_reduce_scatter(start, output, input, options.reduceOp);
    return start.work(OpType::_REDUCE_SCATTER_BASE, "tutti:_reduce_scatter_base", {output},
                      {input});
  }

  c10::intrusive_ptr<c10d::Work> reduce_scatter_tensor_coalesced(
      Tensors& outputs, Tensors& inputs, const c10d::ReduceScatterOptions& options) override {
    Start start(calls_, options.timeout);
    TORCH_CHECK(outputs.size() == inputs.size(), "tutti: as many outputs as inputs");
    for (size_t i = 0; i < inputs.size(); ++i)
      start_reduce_scatter(start, outputs[i], inputs[i], options.reduceOp);
    return start.work(OpType::REDUCE_SCATTER_TENSOR_COALESCED, "tutti:reduce_scatter", outputs,
                      inputs);
  }

  c10::intrusive_ptr<c10d::Work> alltoall_base(at::Tensor& output, at::Tensor& input,
                                               std::vector<int64_t>& output_splits,
                                               std::vector<int64_t>& input_splits,
                                               const c10d::AllToAllOptions& options) override {
    Start start(calls_, options.timeout);
    require_dense(output);
    require_dense(input);
    TORCH_CHECK_TYPE(output.scalar_type() == input.scalar_type(),
                     "tutti: tensors of different types");
    const at::Tensor from = start.in(input), to = start.out(output);
    carrier_->alltoall(start, parts_of(from, input_splits, size_),
                       parts_of(to, output_splits, size_));
    return start.work(OpType::ALLTOALL_BASE, "tutti:all_to_all", {output}, {input});
  }

  c10::intrusive_ptr<c10d::Work> alltoall(Tensors& outputs, Tensors& inputs,
                                          const c10d::AllToAllOptions& options) override {
    Start start(calls_, options.timeout);
    const auto all = static_cast<size_t>(size_);
    TORCH_CHECK(outputs.size() == all && inputs.size() == all,
                "tutti: alltoall takes a tensor for each rank");
    Parts from, to;
    for (const at::Tensor& tensor : inputs) {
      require_dense(tensor);
      const at::Tensor one = start.in(tensor);
      from.add(static_cast<char*>(one.data_ptr()), one.nbytes());
    }
    for (const at::Tensor& tensor : outputs) {
      require_dense(tensor);
      const at::Tensor one = start.out(tensor);
      to.add(static_cast<char*>(one.data_ptr()), one.nbytes());
    }
    carrier_->alltoall(start, from, to);
    return start.work(OpType::ALLTOALL, "tutti:all_to_all", outputs, inputs);
  }

  // It completes the collectives that were started before, as gloo's does.
  c10::intrusive_ptr<c10d::Work> barrier(const c10d::BarrierOptions& options) override {
    Start start(calls_, options.timeout);
    start.complete_earlier();
    carrier_->barrier(start);
    return start.work(OpType::BARRIER, "tutti:barrier", {}, {});
  }

  c10::intrusive_ptr<c10d::Work> send(Tensors& tensors, int to, int tag) override {
    Start start(calls_, kUnsetTimeout_);
    const at::Tensor buffer = start.in(only(tensors, "tensor list"));
    carrier_->send(buffer, to, tag);
    return start.work(OpType::SEND, "tutti:send", tensors, tensors);
  }
  c10::intrusive_ptr<c10d::Work> recv(Tensors& tensors, int from, int tag) override {
    return receive(tensors, from, tag, OpType::RECV);
  }
  c10::intrusive_ptr<c10d::Work> recvAnysource(Tensors& tensors, int tag) override {
    return receive(tensors, TUTTI_ANY, tag, OpType::RECVANYSOURCE);
  }

  // Calls in between start as ever. One Work waits for all of them.
  bool supportsCoalescing() const override { return true; }
  void startCoalescing() override { calls_.start_collecting(); }
  c10::intrusive_ptr<c10d::Work> endCoalescing() override {
    Start start(calls_, kUnsetTimeout_);
    Pending& all = start.pending();
    all.earlier = calls_.end_collecting();
    Tensors results;
    for (const std::shared_ptr<Pending>& one : all.earlier)
      results.insert(results.end(), one->results.begin(), one->results.end());
    return start.work(OpType::COALESCED, "tutti:coalesced", results, {});
  }

  // Rank 0 hears from every rank, then lets all go on.
  void monitoredBarrier(const c10d::BarrierOptions& options, bool wait_all_ranks) override {
    const Milliseconds limit =
        options.timeout == kUnsetTimeout_ ? calls_.options->timeout : options.timeout;
    const auto deadline = in_seconds(seconds_of(limit));
    if (rank_ != 0) {
      carrier_->send_word(0);
      TORCH_CHECK(carrier_->hear_word(0, deadline), "tutti: rank ", rank_,
                  " has not heard from rank 0 within ", limit.count(), " ms in monitored_barrier");
      return;
    }
    std::string missing;
    for (int rank = 1; rank < size_ && (wait_all_ranks || missing.empty()); ++rank)
      if (!carrier_->hear_word(rank, deadline))
        missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
    TORCH_CHECK(missing.empty(), "tutti: Rank 0 timed out in monitoredBarrier: ranks ", missing,
                " failed to pass monitoredBarrier in ", limit.count(), " ms");
    for (int rank = 1; rank < size_; ++rank) carrier_->send_word(rank);
  }

 private:
  static constexpr Milliseconds kUnsetTimeout_{-1};

  // Several tensors of a rank are combined here first, and all get the result.
  void start_allreduce(Start& start, const Tensors& tensors, const ReduceOp& op) {
    for (const at::Tensor& tensor : tensors) require_dense(tensor);
    const at::Tensor real = as_real(tensors[0], op);
    const at::Tensor buffer = start.in_and_out(
        real, tensors.size() == 1 ? given_by(real, op) : as_real(combined(tensors, op), op));
    for (size_t i = 1; i < tensors.size(); ++i)
      start.copy_back(as_real(tensors[i], op).view_as(real), buffer);
    carrier_->allreduce(start, buffer, op);
  }

  // A sparse sum is taken in dense memory. A mask tells which elements any rank has.
  void start_sparse_allreduce(Start& start, const Tensors& tensors, const ReduceOp& op) {
    TORCH_CHECK(op == ReduceOp::SUM,
                "tutti: unsupported reduction operation: sparse tensors have "
                "SUM alone");
    at::Tensor own = tensors[0];
    for (size_t i = 1; i < tensors.size(); ++i) own = own.add(tensors[i]);
    TORCH_CHECK(own.is_cpu() && !own.is_complex(),
                "tutti: unsupported device type or type of a sparse tensor");
    own = own.coalesce();
    const at::Tensor sum = start.in(own.to_dense());
    const at::IntArrayRef shape = own.sizes().slice(0, static_cast<size_t>(own.sparse_dim()));
    const at::Tensor ones = at::ones({own.indices().size(1)}, at::kByte);
    const at::Tensor mask = start.in(
        at::sparse_coo_tensor(own.indices(), ones, shape, ones.options().layout(at::kSparse))
            .to_dense());
    carrier_->allreduce(start, sum, ReduceOp::SUM);
    carrier_->allreduce(start, mask, ReduceOp::MAX);
    start.at_end([tensors, sum, mask] {
      const at::Tensor present = mask.nonzero();
      c10::List<std::optional<at::Tensor>> at;
      for (const at::Tensor& one : present.unbind(1)) at.push_back(one);
      const at::Tensor values = sum.index(at);
      const at::Tensor all =
          at::_sparse_coo_tensor_unsafe(present.t().contiguous(), values, sum.sizes(),
                                        values.options().layout(at::kSparse), true);
      for (const at::Tensor& tensor : tensors) tensor.copy_(all);
    });
  }

  // Each rank gives as many tensors; each list of outputs gets all, in the order of ranks.
  c10::intrusive_ptr<c10d::Work> allgather_several(Start& start, std::vector<Tensors>& outputs,
                                                   Tensors& inputs) {
    for (const at::Tensor& input : inputs) require_dense(input);
    require_same(inputs, inputs[0]);
    const int all = size_ * static_cast<int>(inputs.size());
    for (const Tensors& list : outputs)
      require_alike(list, inputs[0], all, "invalid output tensor list: ");
    const at::Tensor given = start.in_from(inputs, inputs[0]);
    const at::Tensor flat = start.out_to(outputs[0], inputs[0]);
    const Tensors views = views_of(flat, inputs[0], all);
    for (size_t i = 1; i < outputs.size(); ++i)
      for (size_t j = 0; j < views.size(); ++j)
        start.copy_back(outputs[i][j], views[j].view(outputs[i][j].sizes()));
    carrier_->allgather(start, given, flat);
    start.pending().lists = outputs;
    return start.work(OpType::ALLGATHER, "tutti:all_gather", outputs[0], inputs);
  }

  void start_allgather(Start& start, Tensors& parts, const at::Tensor& tensor) {
    require_alike(parts, tensor, size_, "invalid output tensor list: ");
    const at::Tensor input = start.in(tensor), flat = start.out_to(parts, tensor);
    carrier_->allgather(start, input, flat);
  }

  void start_allgather_base(Start& start, const at::Tensor& output, const at::Tensor& input) {
    require_dense(output);
    require_dense(input);
    TORCH_CHECK_TYPE(output.scalar_type() == input.scalar_type(),
                     "tutti: tensors of different types");
    TORCH_CHECK(output.numel() == size_ * input.numel(),
                "tutti: the output must have as many elements as the inputs of all ranks");
    const at::Tensor from = start.in(input), to = start.out(output);
    carrier_->allgather(start, from, to);
  }

  void start_reduce_scatter(Start& start, const at::Tensor& output, const at::Tensor& input,
                            const ReduceOp& op) {
    require_dense(output);
    require_dense(input);
    TORCH_CHECK_TYPE(output.scalar_type() == input.scalar_type(),
                     "tutti: tensors of different types");
    TORCH_CHECK(input.numel() == size_ * output.numel(),
                "tutti: the input must have as many elements as the outputs of all ranks");
    const at::Tensor from = start.in(given_by(as_real(input, op), op));
    const at::Tensor to = start.out(as_real(output, op), from.scalar_type());
    carrier_->reduce_scatter(start, from, to, op);
  }

  c10::intrusive_ptr<c10d::Work> receive(Tensors& tensors, int from, int tag, OpType type) {
    Start start(calls_, kUnsetTimeout_);
    const at::Tensor buffer = start.out(only(tensors, "tensor list"));
    start.pending().sender = from == TUTTI_ANY ? -1 : from;
    carrier_->receive(start, buffer, from, tag);
    return start.work(type, type == OpType::RECV ? "tutti:recv" : "tutti:recvAnySource", tensors,
                      tensors);
  }

  Calls calls_;
  const std::unique_ptr<Carrier> carrier_;
};

// Both are called inside tutti_team_create_by alone. They keep what torch says.
struct TorchStore {
  c10d::Store& store;
  std::string failure;

  static int set(void* own, const char* key, const void* data, size_t bytes) {
    return static_cast<TorchStore*>(own)->guarded([&](c10d::Store& store) {
      const auto* from = static_cast<const uint8_t*>(data);
      store.set(key, std::vector<uint8_t>(from, from + bytes));
      return true;
    });
  }
  static int get(void* own, const char* key, void* data, size_t bytes, double seconds) {
    return static_cast<TorchStore*>(own)->guarded([&](c10d::Store& store) {
      store.wait({key}, Milliseconds(static_cast<int64_t>(seconds * 1000) + 1));
      const std::vector<uint8_t> value = store.get(key);
      if (value.size() == bytes) std::memcpy(data, value.data(), bytes);
      return value.size() == bytes;
    });
  }

 private:
  template <class Body>
  int guarded(Body body) {
    try {
      return body(store) ? 0 : 1;
    } catch (const std::exception& error) {
      failure = error.what();
      return 1;
    }
  }
};

// gloo between these ranks, made by torch's Python, because its headers are not installed.
Gloo make_gloo(const c10::intrusive_ptr<c10d::Store>& store, const std::string& name, size_t rank,
               size_t size, Clock::time_point deadline, Milliseconds timeout) {
  const pybind11::gil_scoped_acquire locked;
  const pybind11::module_ torch = pybind11::module_::import("torch.distributed");
  const pybind11::object seconds =
      pybind11::module_::import("datetime")
          .attr("timedelta")(0, std::max(seconds_until(deadline), 0.001));
  const pybind11::object keys = torch.attr("PrefixStore")(name, store);
  auto made = torch.attr("ProcessGroupGloo")(keys, rank, size, seconds).cast<Gloo>();
  made->setTimeout(timeout);
  return made;
}

// Ranks that form a group under the same keys again, after the group before it has ended, count how
// often they have done so.
c10::intrusive_ptr<c10d::Backend> create(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                         int size, int64_t milliseconds) {
  const Milliseconds timeout(milliseconds);
  const Clock::time_point deadline = in_seconds(std::max(seconds_of(timeout), 1.0));
  TorchStore torch_store{*store, {}};
  const tutti_store its{TorchStore::set, TorchStore::get, &torch_store};
  const int64_t times = store->add("tutti.times." + std::to_string(rank), 1);
  const std::string name = "tutti" + std::to_string(times);
  const Places places = find_places(*store, name, rank, size, deadline);
  const std::string own = places.is_one_node() ? name : name + "." + std::to_string(places.node);
  const std::shared_ptr<Group> group = Group::make();
  const tutti_status status = tutti_team_create_by(
      &its, own.c_str(), places.local, static_cast<int>(places.members[places.node].size()),
      std::max(seconds_until(deadline), 0.001), &group->team);
  TORCH_CHECK_WITH(DistBackendError, status == TUTTI_OK, "tutti: ", tutti_error_message(),
                   torch_store.failure.empty() ? "" : " (" + torch_store.failure + ")");
  require_ok(tutti_team_join(group->team, places.local, &group->group));
  require_ok(tutti_group_set_parallel(group->group, &torch_threads));
  require_ok(learn_cores(group->group, std::max(seconds_until(deadline), 0.001)));
  has_group = true;
  std::unique_ptr<Carrier> carrier;
  if (places.is_one_node()) {
    carrier = std::make_unique<OneNode>(group);
  } else {
    const auto gloo = [&](const char* joined, size_t its_rank, size_t its_size) {
      return make_gloo(store, name + joined, its_rank, its_size, deadline, timeout);
    };
    const Gloo all = gloo(".all", static_cast<size_t>(rank), places.ranks);
    const Gloo leaders =
        places.local == 0 ? gloo(".leaders", places.node, places.members.size()) : Gloo();
    carrier = std::make_unique<SeveralNodes>(Leaders::Settings{group, places, rank, leaders, all});
  }
  return c10::make_intrusive<TuttiBackend>(group, std::move(carrier), rank, size, timeout);
}

// Memory for a tensor like this one, which may be on the device "meta". A forked child keeps its
// copy of its parent's tensors, because a thread of the parent's may have held the heap's lock.
at::Tensor empty_shared(const at::Tensor& like) {
  TORCH_CHECK_WITH(
      DistBackendError, has_group,
      "tutti: empty_shared takes memory of the shared heap, which this process's first "
      "group of the backend \"tutti\" makes; call init_process_group before");
  void* const memory = tutti_alloc(like.nbytes());
  TORCH_CHECK(memory != nullptr, "tutti: empty_shared finds no memory for ", like.nbytes(),
              " bytes; free other tensors first, or take a smaller one");
  const auto give_back = [made_after = forks.load()](void* its) {
    if (forks == made_after) tutti_free(its);
  };
  return at::from_blob(memory, like.sizes(), give_back, like.options().device(at::kCPU));
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  pthread_atfork(nullptr, nullptr, [] {
    ++forks;
    has_group = false;
    Group::forget_all();
    Helper::replace();
  });
  const pybind11::call_guard<pybind11::gil_scoped_release> unlocked{};
  module.def("create", &create, unlocked);
  module.def("empty_shared", &empty_shared, unlocked);
  module.def("flush", &Group::flush_all, unlocked);
}
