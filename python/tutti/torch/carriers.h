// Carriers: how the calls of a group reach its ranks. All forms of torch's calls come down to the
// calls here, on buffers without gaps.
//
// A Backend has one Carrier, which all ranks have chosen alike (backend.cpp). OneNode is the C API;
// several_nodes.h has the other. Any thread may call.
#pragma once

#include <torch/extension.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "arguments.h"
#include "start.h"
#include "tutti/tutti.h"
#include "works.h"

namespace tutti_torch {

class Carrier {
 public:
  virtual ~Carrier() = default;

  virtual void broadcast(Start& start, const at::Tensor& buffer, int root) = 0;
  virtual void allreduce(Start& start, const at::Tensor& buffer, const ReduceOp& op) = 0;
  virtual void reduce(Start& start, const at::Tensor& buffer, const ReduceOp& op, int root) = 0;
  virtual void reduce_scatter(Start& start, const at::Tensor& in, const at::Tensor& out,
                              const ReduceOp& op) = 0;
  virtual void allgather(Start& start, const at::Tensor& in, const at::Tensor& out) = 0;
  // `out` of a gather and `in` of a scatter are defined at the root alone.
  virtual void gather(Start& start, const at::Tensor& in, const at::Tensor& out, int root) = 0;
  virtual void scatter(Start& start, const at::Tensor& in, const at::Tensor& out, int root) = 0;
  virtual void alltoall(Start& start, const Parts& from, const Parts& to) = 0;
  virtual void barrier(Start& start) = 0;

  virtual void send(const at::Tensor& buffer, int to, int tag) = 0;
  virtual void receive(Start& start, const at::Tensor& buffer, int from, int tag) = 0;
  // A byte with a tag of its own. False: it has not come by then.
  virtual void send_word(int to) = 0;
  virtual bool hear_word(int from, Clock::time_point end) = 0;

  virtual void abort() = 0;

 protected:
  static constexpr int tag_of_words = INT_MAX;
};

class OneNode final : public Carrier {
 public:
  explicit OneNode(std::shared_ptr<Group> group) : group_(std::move(group)) {}

  void broadcast(Start& start, const at::Tensor& buffer, int root) override {
    start.add([&](auto* request) {
      return tutti_ibcast(handle(), buffer.data_ptr(), buffer.nbytes(), root, request);
    });
  }
  void allreduce(Start& start, const at::Tensor& buffer, const ReduceOp& op) override {
    const Combination how = combination_of(op, buffer.scalar_type());
    start.add([&](auto* request) {
      return tutti_iallreduce(handle(), buffer.data_ptr(), buffer.data_ptr(), count_of(buffer),
                              how.type, how.op, request);
    });
  }
  void reduce(Start& start, const at::Tensor& buffer, const ReduceOp& op, int root) override {
    const Combination how = combination_of(op, buffer.scalar_type());
    start.add([&](auto* request) {
      return tutti_ireduce(handle(), buffer.data_ptr(), buffer.data_ptr(), count_of(buffer),
                           how.type, how.op, root, request);
    });
  }
  void reduce_scatter(Start& start, const at::Tensor& in, const at::Tensor& out,
                      const ReduceOp& op) override {
    const Combination how = combination_of(op, in.scalar_type());
    start.add([&](auto* request) {
      return tutti_ireduce_scatter(handle(), in.data_ptr(), out.data_ptr(), count_of(out), how.type,
                                   how.op, request);
    });
  }
  void allgather(Start& start, const at::Tensor& in, const at::Tensor& out) override {
    start.add([&](auto* request) {
      return tutti_iallgather(handle(), in.data_ptr(), out.data_ptr(), in.nbytes(), request);
    });
  }
  void gather(Start& start, const at::Tensor& in, const at::Tensor& out, int root) override {
    start.add([&](auto* request) {
      return tutti_igather(handle(), in.data_ptr(), out.defined() ? out.data_ptr() : nullptr,
                           in.nbytes(), root, request);
    });
  }
  void scatter(Start& start, const at::Tensor& in, const at::Tensor& out, int root) override {
    start.add([&](auto* request) {
      return tutti_iscatter(handle(), in.defined() ? in.data_ptr() : nullptr, out.data_ptr(),
                            out.nbytes(), root, request);
    });
  }
  void alltoall(Start& start, const Parts& from, const Parts& to) override {
    start.add([&](auto* request) {
      return tutti_ialltoallv(handle(), from.first, from.at.data(), from.bytes.data(), to.first,
                              to.at.data(), to.bytes.data(), request);
    });
  }
  void barrier(Start& start) override {
    start.add([&](auto* request) { return tutti_ibarrier(handle(), request); });
  }

  void send(const at::Tensor& buffer, int to, int tag) override {
    require_ok(
        tutti_send(handle(), to, static_cast<uint32_t>(tag), buffer.data_ptr(), buffer.nbytes()));
  }
  void receive(Start& start, const at::Tensor& buffer, int from, int tag) override {
    int* const sender = &start.pending().sender;
    start.add_message([&](auto* request) {
      return tutti_irecv(handle(), from, static_cast<uint32_t>(tag), buffer.data_ptr(),
                         buffer.nbytes(), sender, request);
    });
  }
  void send_word(int to) override {
    const char word = 0;
    require_ok(tutti_send(handle(), to, tag_of_words, &word, 1));
  }
  bool hear_word(int from, Clock::time_point end) override {
    char word = 0;
    tutti_request* request = nullptr;
    require_ok(tutti_irecv(handle(), from, tag_of_words, &word, 1, nullptr, &request));
    const tutti_status status = tutti_request_wait(&request, seconds_until(end));
    if (request != nullptr) tutti_request_free(&request);
    return status == TUTTI_OK;
  }

  void abort() override { require_ok(tutti_group_abort(handle())); }

 private:
  tutti_group* handle() const { return group_->group; }

  const std::shared_ptr<Group> group_;
};

}  // namespace tutti_torch
