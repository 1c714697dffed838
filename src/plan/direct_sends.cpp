#include "plan/direct_sends.h"

#include <algorithm>
#include <set>

#include "plan/blocks.h"

namespace tutti::plan {
namespace {

// Facts about a block before a transfer.
struct Known {
  int32_t copy = -1;               // the copy that made it, if that may be left out
  int32_t touched = -1;            // the last transfer that reads or writes it
  std::vector<int32_t> copied_by;  // such copies that read it
};

bool may_be_left_out(const Transfer& transfer) {
  if (transfer.kind != TransferKind::copy || transfer.stage != stage_automatic) return false;
  const Region &dst = transfer.dst, &src = transfer.src.front();
  return dst.buffer == Buffer::tmp && src.buffer != Buffer::tmp && dst.rank == src.rank;
}

class Finder {
 public:
  Finder(const Plan& plan, const placement::Nodes& nodes, Buffers buffers)
      : plan_(plan), node_of_(nodes), table_(plan, aliasing_of<Known>(buffers)) {}

  DirectSends find() {
    for (int32_t i = 0; i < static_cast<int32_t>(plan_.transfers.size()); ++i) {
      const Transfer& transfer = plan_.transfers[static_cast<size_t>(i)];
      if (transfer.kind == TransferKind::token) {
        token_ = i;
        continue;
      }
      read(i, transfer);
      written(transfer);
      const bool is_candidate = may_be_left_out(transfer);
      for (const Region& src : transfer.src) {
        table_.each(src, [&](Known& block) {
          block.touched = i;
          if (is_candidate) block.copied_by.push_back(i);
        });
      }
      table_.each(transfer.dst, [&](Known& block) { block = {is_candidate ? i : -1, i, {}}; });
    }
    return chosen();
  }

 private:
  // A message that arrives in blocks of the user's cannot be posted before all messages from these
  // blocks have ended. That would cost a delay, so what is copied from such blocks stays a copy.
  void written(const Transfer& transfer) {
    const int32_t reader = transfer.dst.rank;
    const bool arrives = !node_of_.together(transfer.executor(), reader) ||
                         (transfer.kind == TransferKind::copy &&
                          !node_of_.together(transfer.src.front().rank, reader));
    if (!arrives) return;
    table_.each(transfer.dst, [&](const Known& block) {
      kept_.insert(block.copied_by.begin(), block.copied_by.end());
    });
  }

  void read(int32_t reader, const Transfer& transfer) {
    for (size_t at = 0; at < transfer.src.size(); ++at) {
      const Region& src = transfer.src[at];
      if (src.buffer != Buffer::tmp) continue;
      std::set<int32_t> found;
      table_.each(src, [&](const Known& block) { found.insert(block.copy); });
      const int32_t copy = *found.begin();
      if (found.size() == 1 && copy >= 0 && may_be_sent(copy, reader, src)) {
        std::vector<int32_t>& copies = copies_[reader];
        copies.resize(transfer.src.size(), -1);
        copies[at] = copy;
        auto& readers = readers_[copy];
        if (readers.empty() || readers.back() != reader) readers.push_back(reader);
      } else {
        kept_.insert(found.begin(), found.end());
      }
    }
  }

  bool may_be_sent(int32_t copy, int32_t reader, const Region& src) {
    const Transfer& copied = plan_.transfers[static_cast<size_t>(copy)];
    const Transfer& reads = plan_.transfers[static_cast<size_t>(reader)];
    if (!(src == copied.dst) || reads.stage != stage_automatic || token_ > copy) return false;
    const bool moves = reads.kind == TransferKind::copy;
    if (node_of_.together(src.rank, moves ? reads.dst.rank : reads.executor())) return false;
    if (!moves) return true;  // it arrives in blocks of its own
    bool untouched = true;
    table_.each(reads.dst, [&](const Known& block) { untouched &= block.touched < copy; });
    return untouched;
  }

  // A copy stays if one of its readers needs it, and the other readers then read it as well.
  DirectSends chosen() {
    DirectSends direct;
    for (auto& [copy, readers] : readers_) {
      if (!kept_.contains(copy)) direct.readers[copy] = std::move(readers);
    }
    for (auto& [reader, copies] : copies_) {
      for (int32_t& copy : copies) {
        if (!direct.readers.contains(copy)) copy = -1;
      }
      if (std::any_of(copies.begin(), copies.end(), [](int32_t copy) { return copy >= 0; }))
        direct.copies[reader] = std::move(copies);
    }
    return direct;
  }

  const Plan& plan_;
  const placement::NodeOf node_of_;
  BlockTable<Known> table_;
  int32_t token_ = -1;  // the last one
  std::set<int32_t> kept_;
  std::map<int32_t, std::vector<int32_t>> readers_, copies_;
};

}  // namespace

DirectSends direct_sends(const Plan& plan, const placement::Nodes& nodes, Buffers buffers) {
  const auto& transfers = plan.transfers;
  if (nodes.one() || std::none_of(transfers.begin(), transfers.end(), may_be_left_out)) return {};
  return Finder(plan, nodes, buffers).find();
}

}  // namespace tutti::plan
