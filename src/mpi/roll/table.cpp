#include "mpi/roll/table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

namespace tutti::mpi::roll {
namespace {

constexpr size_t width = 80;
constexpr size_t most_told = 3;       // groups that are equally small
const std::string together = "\x01";  // a space at which no line is folded

bool is_collective(const Place& place) { return place.doing == Doing::mpi && place.number > 0; }

// Each thread counts its own collectives; only those of the first threads say something of a rank.
bool counts_alike(const Place& a, const Place& b) {
  return is_collective(a) && is_collective(b) && a.is_first && b.is_first;
}

bool is_point_to_point(const Place& place) {
  static constexpr std::string_view names[] = {
      "MPI_Send",  "MPI_Ssend",  "MPI_Rsend", "MPI_Bsend",    "MPI_Recv",
      "MPI_Probe", "MPI_Mprobe", "MPI_Mrecv", "MPI_Sendrecv", "MPI_Wait"};
  return place.doing == Doing::mpi &&
         std::any_of(std::begin(names), std::end(names), [&](std::string_view name) {
           return std::string_view(place.function).starts_with(name);
         });
}

// A rank waits for those of a higher degree rather than they for it.
int degree(const Place& place) {
  switch (place.doing) {
    case Doing::ended: return 7;
    case Doing::stopped: return 6;
    case Doing::computes: return 5;
    case Doing::file: return 4;
    case Doing::sleeps: return 3;
    case Doing::silent: return 2;
    case Doing::mpi: break;
  }
  if (place.function == "MPI_Finalize") return 2;
  return is_collective(place) ? 0 : 1;
}

auto key_of(const Place& place) {
  return std::tie(place.doing, place.function, place.site, place.communicator, place.arguments,
                  place.number, place.note);
}

// Adds the ranks of a group to another one, and leaves it without ranks.
void join(AtOnePlace* from, AtOnePlace* to) {
  to->place.seconds = std::max(to->place.seconds, from->place.seconds);
  to->ranks.insert(to->ranks.end(), from->ranks.begin(), from->ranks.end());
  to->messages.insert(to->messages.end(), from->messages.begin(), from->messages.end());
  from->ranks.clear();
}

std::string are(const std::vector<int>& ranks) { return ranks.size() == 1 ? "is" : "are"; }

std::string named(const std::vector<int>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + list_of(ranks);
}

std::vector<int> all_of(const std::vector<Message>& messages, int Message::* member) {
  std::vector<int> numbers;
  for (const Message& message : messages) numbers.push_back(message.*member);
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}
std::string peers_text(const std::vector<Message>& messages, int Message::* peer) {
  const std::vector<int> peers = all_of(messages, peer);
  if (peers.front() == Message::proc_null) return "MPI_PROC_NULL";
  return peers.front() == Message::any ? "any rank" : named(peers);
}
std::string tags_text(const std::vector<Message>& messages, int Message::* tag) {
  const std::vector<int> tags = all_of(messages, tag);
  if (tags.front() == Message::any) return " with any tag";
  return (tags.size() == 1 ? " with tag " : " with tags ") + list_of(tags);
}

// MPI_Recv from rank 0 with tag 2. Nothing is said of peers if one thread's are not known.
std::string call_text(const AtOnePlace& group) {
  const auto all_have = [&](int Message::* peer) {
    return std::none_of(group.messages.begin(), group.messages.end(),
                        [&](const Message& one) { return one.*peer == Message::none; });
  };
  const std::string& function = group.place.function;
  const bool sends = all_have(&Message::dest), receives = all_have(&Message::source);
  const std::string to = sends ? " to " + peers_text(group.messages, &Message::dest) : "";
  const std::string from = receives ? " from " + peers_text(group.messages, &Message::source) : "";
  const std::string send_tag = sends ? tags_text(group.messages, &Message::send_tag) : "";
  const std::string receive_tag = receives ? tags_text(group.messages, &Message::receive_tag) : "";
  if (send_tag == receive_tag) return function + to + (sends ? " and" : "") + from + send_tag;
  return function + to + send_tag + from + receive_tag;
}

std::string what(const AtOnePlace& group) {
  const Place& place = group.place;
  switch (place.doing) {
    case Doing::ended:
      return place.function.empty() ? "has ended" : "calls exit without MPI_Finalize";
    case Doing::stopped: return "stopped by a signal";
    case Doing::silent: return group.ranks.size() == 1 ? "does not answer" : "do not answer";
    case Doing::computes:
      return place.function.empty() ? "computes" : "computes, and calls " + place.function;
    case Doing::file:
    case Doing::sleeps: return "in the system call " + place.function;
    case Doing::mpi: break;
  }
  std::string text = call_text(group);
  if (!place.arguments.empty()) text += " of " + place.arguments;
  if (!place.communicator.empty()) text += " on " + place.communicator;
  if (place.number > 0) text += ", its collective" + (together + std::to_string(place.number));
  return text;
}

std::string since(double seconds) {
  if (seconds < 0.5) return {};
  return ", for" + (together + std::to_string(std::lround(seconds))) + together + "s";
}

// Adds words to lines that begin with `indent`.
std::string folded(const std::string& text, const std::string& first, const std::string& indent) {
  std::string all, line = first;
  bool is_empty = true;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!is_empty && line.size() + 1 + word.size() > width) {
      all += line + "\n";
      line = indent;
      is_empty = true;
    }
    line += (is_empty ? "" : " ") + word;
    is_empty = false;
    begin = end + 1;
  }
  all += line + "\n";
  std::replace(all.begin(), all.end(), together.front(), ' ');
  return all;
}

std::string differs_in_call(const AtOnePlace& of_few, const AtOnePlace& of_many,
                            const std::string& who, const std::string& others) {
  const Place &few = of_few.place, &many = of_many.place;
  if (few.function != many.function) {
    const bool mixed = is_collective(few) != is_collective(many) &&
                       (is_point_to_point(few) || is_point_to_point(many));
    const auto kind = [&](const AtOnePlace& group) {
      return (mixed && is_collective(group.place) ? "the collective " : "") + call_text(group);
    };
    const bool out_of_step = counts_alike(few, many) && few.number != many.number &&
                             few.communicator == many.communicator;
    const auto at = [&](const Place& place) {
      return out_of_step ? " as collective " + std::to_string(place.number) : std::string{};
    };
    return who + " " + kind(of_few) + at(few) + ", " + others + " " + kind(of_many) + at(many);
  }
  if (is_point_to_point(few))
    return who + " " + call_text(of_few) + ", " + others + " " + call_text(of_many);
  if (few.communicator.empty() || many.communicator.empty())
    return who + " " + few.function + ", and so do " + others;
  if (few.communicator != many.communicator)
    return who + " " + few.function + " on " + few.communicator + ", " + others + " on " +
           many.communicator + ": the order of communicators differs";
  if (few.arguments != many.arguments)
    return who + " " + few.function + " of " + few.arguments + ", " + others + " of " +
           many.arguments;
  if (counts_alike(few, many) && few.number != many.number)
    return who + " its collective " + std::to_string(few.number) + ", " + others + " " +
           std::to_string(many.number) + ": a call was left out, or is one too many";
  return who + " another " + few.function + " of the program than " + others;
}

auto tags_of(const AtOnePlace& group) {
  return std::pair{group.messages.front().send_tag, group.messages.front().receive_tag};
}

// Messages at one place whose tags all differ are one group. If there are few tags, the one that
// differs may be the mistake.
void join_tags(std::vector<AtOnePlace>* groups) {
  for (size_t i = 0; i < groups->size(); ++i) {
    AtOnePlace& first = (*groups)[i];
    const auto is_there = [&](const AtOnePlace& other) {
      return key_of(other.place) == key_of(first.place);
    };
    if (first.messages.empty() || !first.messages.front().is_known()) continue;
    if (std::count_if(groups->begin(), groups->end(), is_there) <= std::ptrdiff_t{most_told})
      continue;
    for (size_t j = i + 1; j < groups->size(); ++j) {
      AtOnePlace& other = (*groups)[j];
      if (!other.ranks.empty() && is_there(other)) join(&other, &first);
    }
    std::erase_if(*groups, [](const AtOnePlace& group) { return group.ranks.empty(); });
  }
}

// A rank that goes on at this moment does not say its communicator. It belongs to the largest group
// that makes this call.
void join_unknown(std::vector<AtOnePlace>* groups) {
  const auto is_unknown = [](const AtOnePlace& group) {
    return is_collective(group.place) && group.place.communicator.empty();
  };
  for (AtOnePlace& unknown : *groups) {
    if (!is_unknown(unknown)) continue;
    AtOnePlace* largest = nullptr;
    for (AtOnePlace& group : *groups) {
      const bool is_same = !is_unknown(group) && group.place.function == unknown.place.function &&
                           group.place.site == unknown.place.site &&
                           group.place.number == unknown.place.number;
      if (is_same && (largest == nullptr || group.ranks.size() > largest->ranks.size()))
        largest = &group;
    }
    if (largest == nullptr) continue;
    join(&unknown, largest);
  }
  std::erase_if(*groups, [](const AtOnePlace& group) { return group.ranks.empty(); });
}

// The ranks of a group and where they are: "rank 3 is in file access".
std::string told(const AtOnePlace& group) {
  const bool is_one = group.ranks.size() == 1;
  const std::string who = named(group.ranks), being = who + " " + are(group.ranks);
  switch (group.place.doing) {
    case Doing::ended: return who + (is_one ? " has ended" : " have ended");
    case Doing::stopped: return being + " stopped by a signal";
    case Doing::silent: return who + " cannot be asked";
    case Doing::computes: return being + " in the program's own code";
    case Doing::file: return being + " in file access";
    case Doing::sleeps: return being + " in a system call";
    case Doing::mpi: break;
  }
  return being + " in " + group.place.function;
}

std::string differs(const AtOnePlace& few, const AtOnePlace& many) {
  const std::string who = named(few.ranks), others = named(many.ranks);
  const bool few_are_inside = few.place.doing == Doing::mpi;
  const bool many_are_inside = many.place.doing == Doing::mpi;
  const std::string make = who + (few.ranks.size() == 1 ? " makes" : " make");
  if (few_are_inside && many_are_inside) return differs_in_call(few, many, make, others);
  if (few_are_inside) return make + " " + call_text(few) + ", " + told(many);
  switch (few.place.doing) {
    case Doing::stopped:
    case Doing::silent: return told(few);
    case Doing::ended: return told(few) + ", and " + told(many);
    default:
      return told(few) + ", " +
             (many_are_inside ? others + " in " + many.place.function : told(many));
  }
}

std::vector<int> elsewhere(const std::vector<Place>& places, int ranks) {
  std::vector<int> others;
  for (int rank = 0; rank < ranks; ++rank)
    if (std::none_of(places.begin(), places.end(),
                     [&](const Place& place) { return place.rank == rank; }))
      others.push_back(rank);
  return others;
}

}  // namespace

std::string list_of(const std::vector<int>& ranks) {
  std::string text;
  for (size_t i = 0; i < ranks.size();) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(ranks[i]);
    if (last > i) text += (last == i + 1 ? ", " : "-") + std::to_string(ranks[last]);
    i = last + 1;
  }
  return text;
}

std::vector<AtOnePlace> grouped(const std::vector<Place>& places) {
  std::vector<AtOnePlace> groups;
  for (const Place& place : places) {
    AtOnePlace own{place, {place.rank}, {place.message}};
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const AtOnePlace& group) {
      return key_of(group.place) == key_of(place) && tags_of(group) == tags_of(own);
    });
    if (found == groups.end())
      groups.push_back(std::move(own));
    else
      join(&own, &*found);
  }
  join_tags(&groups);
  join_unknown(&groups);
  for (AtOnePlace& group : groups) {
    std::sort(group.ranks.begin(), group.ranks.end());
    group.ranks.erase(std::unique(group.ranks.begin(), group.ranks.end()), group.ranks.end());
  }
  std::stable_sort(groups.begin(), groups.end(), [](const AtOnePlace& a, const AtOnePlace& b) {
    if (a.ranks.size() != b.ranks.size()) return a.ranks.size() < b.ranks.size();
    return degree(a.place) > degree(b.place);
  });
  return groups;
}

std::string difference(const std::vector<AtOnePlace>& groups) {
  if (groups.size() < 2) return {};
  const AtOnePlace& many = groups.back();
  std::string text;
  size_t told = 0;
  for (const AtOnePlace& few : groups) {
    if (&few == &many || few.ranks.size() > groups.front().ranks.size()) break;
    if (told == most_told) break;
    text += (told++ > 0 ? "; " : "") + differs(few, many);
  }
  return text;
}

std::string table_text(const std::vector<Place>& places, int ranks, const std::string& cause) {
  const std::vector<AtOnePlace> groups = grouped(places);
  std::string text = folded("tutti: where the ranks are (" + cause + ")", "", "");
  for (const AtOnePlace& group : groups) {
    const Place& place = group.place;
    std::string thread;
    if (!place.is_first)
      thread = group.ranks.size() == 1 ? ", thread " + std::to_string(place.thread)
                                       : ", not in their first threads";
    const std::string note = place.note.empty() ? "" : " " + place.note;
    text += folded(named(group.ranks) + thread + ": " + what(group) + note + since(place.seconds),
                   "  ", "      ");
    if (!place.site.empty()) text += "      at " + place.site + "\n";
  }
  if (const std::vector<int> others = elsewhere(places, ranks); !others.empty())
    text += folded(named(others) + " " + are(others) + " on other nodes, which print their own",
                   "  ", "      ");
  if (const std::string how = difference(groups); !how.empty())
    text += folded("difference: " + how, "  ", "      ");
  return text;
}

std::string table_json(const std::vector<Place>& places, int ranks, const std::string& cause,
                       std::optional<double> printed_after) {
  const std::vector<AtOnePlace> groups = grouped(places);
  Json all{{"cause", cause},
           {"difference", difference(groups)},
           {"groups", Json::array()},
           {"elsewhere", elsewhere(places, ranks)},
           {"printed_after_limit", printed_after ? Json(rounded(*printed_after, 2)) : Json()}};
  for (const AtOnePlace& group : groups) {
    Json one = json_of(group.place);
    one.erase("rank");
    one.erase("message");  // threads have their own
    one["ranks"] = group.ranks;
    all["groups"].push_back(std::move(one));
  }
  all["threads"] = Json::array();
  for (const Place& place : places) all["threads"].push_back(json_of(place));
  return json_text(all, 1) + "\n";
}

}  // namespace tutti::mpi::roll
