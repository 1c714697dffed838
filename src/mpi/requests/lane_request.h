// A request whose operations run in lanes (exec/lane.h): a collective on a communicator over
// several nodes, among all ranks or among neighbours, non-blocking (lane_nonblocking.h) or
// persistent (lane_persistent.h), which the server of this process drives while the program
// computes, and which the calls that wait for it or test it drive, too. A LaneRequest is one rank's
// part of it.
//
// The start of an operation packs what is not contiguous, issues the operation and executes the
// steps that need no wait. The completion drives the lane until the operation is over, and unpacks.
// The communicator, its types and its operations may be freed meanwhile. The lane looks for ranks
// that have died or are late. One thread at a time may use an object.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mpi/communicators/communicator.h"
#include "mpi/requests/call_buffers.h"
#include "mpi/requests/own_request.h"

namespace tutti::mpi {

class LaneRequest : public OwnRequest {
 public:
  bool is_ready() override;
  int complete() override;
  Comm communicator() const override;
  void drive_host() override;

 protected:
  LaneRequest() = default;
  ~LaneRequest() = default;

  // Takes over the arguments of a call on a communicator with a group, and finds the places of its
  // data: the program's buffers, or memory of this object for data that must be packed. Returns
  // Reason::none, or why the host must make the call. Throws bad_alloc.
  Reason describe(Communicator& communicator, const Call& call);
  // The lanes of all operations from now on, until forget().
  void use(std::shared_ptr<ServedLanes> lanes) { lanes_ = std::move(lanes); }
  // The call that was described, with its program chosen and bound for these lanes. It points into
  // this object. Throws as group::Lanes::prepare.
  group::Group::Prepared prepared_call();
  // Packs what this rank gives. Returns an MPI error code, which is not raised.
  int fill();
  // Starts an operation, which `issue` issues to these lanes. It is pending afterwards. May throw
  // as `issue` does, and has then started nothing.
  template <class Issue>
  void begin(Issue issue) {
    const Stopwatch stopwatch(report::recording());
    issued_ = issue(lanes_->lanes());
    exchange_.reset();
    advance_first();
    state_ = State::pending;
    note_start(stopwatch);
  }
  // The same for the call that was described if servers exchange its parts (group/exchange.h); else
  // returns false.
  bool begin_by_servers(group::Group& group);
  // The operation has ended and its results have been unpacked.
  virtual void ended() noexcept = 0;
  // Lets the call's handles and the lanes go, until another call is described.
  void forget() noexcept;

 private:
  // The data of one side that does not lie in the program's buffer while the operation is under
  // way. It lies in kept_, one block after another.
  struct Packed {
    bool is_used = false;
    size_t at = 0;      // the place of the first block in kept_
    size_t blocks = 0;  // 0: none is to be packed or unpacked
    // For parts of different lengths. The places count from the first.
    std::vector<ptrdiff_t> places;
    const size_t* lengths = nullptr;
    size_t bytes = 0;  // bytes of each block, else
  };
  // The part of a call that both ways of laying out need.
  struct Shape {
    bool has_in, has_out;
    size_t blocks_in, blocks_out;
  };
  // Places and lengths of the blocks of a side among neighbours.
  struct Edges {
    std::vector<ptrdiff_t> at;
    std::vector<size_t> bytes;
    // `given`: those of the program's buffer; null: all blocks have `length` bytes and lie side by
    // side. `ranks`: to or from which the blocks go; null: the block goes along all edges.
    exec::Parts list(size_t blocks, const exec::Parts* given, size_t length,
                     const std::vector<int32_t>* ranks);
    size_t longest() const;
  };
  Reason describe_neighbours(Communicator& communicator, const Call& call);
  void lay_out_edges(const Call& call, const records::Neighbourhood& own);
  void lay_out(const Call& call, const Shape& shape);
  void lay_out_parts(const Call& call, const Shape& shape);
  void keep_packed();
  static size_t place_parts(Packed& packed, exec::Parts& parts, size_t at);
  std::byte* place(const Packed& packed, size_t block);
  template <class Move>
  int for_packed(const Packed& packed, size_t bytes, Move move);
  void advance_first();
  void drive();
  void hand_over() noexcept;
  void note_start(const Stopwatch& stopwatch);
  int finish();
  int unpack();

  std::shared_ptr<ServedLanes> lanes_;  // null: it describes no call
  group::Lanes::Issued issued_;         // without an operation if the call has no data
  // Not null: servers exchange the operation by it, and it is in no lane.
  std::shared_ptr<group::Exchange> exchange_;
  std::string served_as_;  // the algorithm, for the report
  Comm communicator_{};
  CallBuffers buffers_;
  records::Operation described_;
  group::Call call_;
  bool among_neighbours_ = false;
  exec::VParts parts_;           // the parts of call_
  Edges edges_in_, edges_out_;   // the edges of parts_, among neighbours
  std::vector<std::byte> kept_;  // packed data
  Packed in_, out_;
  size_t bytes_ = 0;  // bytes of a block, for the report
  TimeSpent spent_;   // on the start and the completion, for the report
};

}  // namespace tutti::mpi
