// Alltoalls between nodes whose parts servers exchange (group/exchange.h).
#include "algo/algo.h"
#include "group/group.h"

namespace tutti::group {

using plan::Collective;

size_t Group::served_at_once(Collective collective, std::string_view algorithm) const {
  if (exchange_ == nullptr || collective != Collective::alltoall) return 0;
  return static_cast<size_t>(algo::served_at_once(algorithm));
}

// No rank knows all lengths of an alltoallv, so rules must name servers for the shortest and the
// longest parts.
const Group::Entry* Group::served_v() {
  if (exchange_ == nullptr) return nullptr;
  if (!served_v_) {
    const Selector selector{Collective::alltoall};
    served_v_ = nullptr;
    try {
      const Entry& longest = entry_for(selector, PTRDIFF_MAX);
      if (entry_for(selector, 1).served > 0 && longest.served > 0) served_v_ = &longest;
    } catch (const Error&) {  // no room for one of the plans, which all ranks find alike
    }
  }
  return *served_v_;
}

Group::ByServers Group::by_servers(const Call& call) {
  if (exchange_ == nullptr || call.collective != Collective::alltoall) return {};
  const Entry* const entry =
      call.parts != nullptr ? served_v() : &entry_for(selector_of(call), call.count);
  if (entry == nullptr || entry->served == 0) return {};
  return by_servers(call, *entry);
}

Group::ByServers Group::by_servers(const Call& call, const Entry& entry) const {
  return {exchange_, {call.in, call.out, call.count, call.parts, entry.served}, entry.name};
}

Code Group::run_by_servers(const ByServers& served) {
  const std::shared_ptr<exec::LaneOperation> made = served.exchange->start(served.call);
  exec::Operation operation;
  operation.call = exec::call_signature(
      Collective::alltoall,
      served.call.parts != nullptr ? exec::bytes_not_agreed : served.call.bytes, 0);
  const Code code = channel_.among_leaders(operation, [&] {
    served.exchange->wait(*made);
    return made->code == Code::ok;
  });
  if (code != Code::ok && failure().empty()) channel_.give_up(code, made->failure);
  return code;
}

}  // namespace tutti::group
