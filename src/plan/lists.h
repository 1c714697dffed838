// Many short lists of numbers, each kind in one piece of memory, for passes over plans of many
// transfers. The pass that makes them owns them; one thread.
#pragma once

#include <cstdint>
#include <span>

#include "base/large_vector.h"

namespace tutti::plan {

// Lists that are written one after another.
class Lists {
 public:
  void reserve(size_t lists) { ends_.reserve(lists); }
  void add(int32_t value) { values_.push_back(value); }
  void end_list() { ends_.push_back(static_cast<uint32_t>(values_.size())); }

  size_t size() const { return ends_.size(); }
  std::span<const int32_t> operator[](size_t list) const {
    const size_t begin = list == 0 ? 0 : ends_[list - 1];
    return {values_.data() + begin, ends_[list] - begin};
  }
  // Those of all lists.
  std::span<const int32_t> values() const { return values_; }

 private:
  LargeVector<int32_t> values_;
  LargeVector<uint32_t> ends_;
};

// Lists that grow in any order. A list is known by its head, which changes as it grows.
class Chains {
 public:
  struct Head {
    int32_t link = -1;
    bool empty() const { return link < 0; }
  };

  void add(Head& head, int32_t value) {
    links_.push_back({value, head.link});
    head.link = static_cast<int32_t>(links_.size()) - 1;
  }
  // The one that was added last.
  int32_t& latest(Head head) { return links_[head.link].value; }
  // Visits the values, the latest first.
  template <class Visit>
  void each(Head head, Visit visit) const {
    for (int32_t link = head.link; link >= 0; link = links_[link].before) visit(links_[link].value);
  }

  template <class Holds>
  bool all_of(Head head, Holds holds) const {
    int32_t link = head.link;
    while (link >= 0 && holds(links_[link].value)) link = links_[link].before;
    return link < 0;
  }

 private:
  struct Link {
    int32_t value, before;
  };
  LargeVector<Link> links_;
};

}  // namespace tutti::plan
