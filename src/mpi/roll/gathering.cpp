#include "mpi/roll/gathering.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/process.h"
#include "mpi/roll/source.h"

namespace tutti::mpi::roll {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// A rank may wait 0.5 s for its thread twice, to be sure and to answer, and a node so long for its
// ranks.
constexpr auto longest_gathering = milliseconds(1500);
constexpr auto longest_finding_of_lines = milliseconds(3000);
constexpr auto longest_gathering_of_nodes = milliseconds(4500);
// Other nodes may take so long to be connected, while others are not asked yet.
constexpr auto longest_connecting = milliseconds(50);
// If a rank has not answered by then, it is looked at whether it is stopped.
constexpr auto time_to_answer = milliseconds(100);
constexpr int longest_poll_milliseconds = 50;

bool is_stopped(const Inquiry& inquiry) {
  return inquiry.process() != 0 &&
         process_is_stopped({inquiry.process(), start_of_process(inquiry.process())});
}

void send_requests(std::vector<Inquiry>* inquiries, Server* server) {
  const auto end = Clock::now() + longest_connecting;
  while (Clock::now() < end) {
    std::vector<Inquiry*> connecting;
    for (Inquiry& inquiry : *inquiries)
      if (inquiry.state() == Inquiry::State::connects) connecting.push_back(&inquiry);
    if (connecting.empty()) return;
    Gathering::advance(connecting, server);
  }
}

void wait_for(std::vector<Inquiry>* inquiries, Clock::duration longest, bool serves_node,
              Server* server) {
  const auto begin = Clock::now();
  while (Clock::now() < begin + longest) {
    std::vector<Inquiry*> open;
    for (Inquiry& inquiry : *inquiries) {
      const bool gives_up = Clock::now() > begin + time_to_answer && is_stopped(inquiry);
      if (inquiry.is_open() && !gives_up) open.push_back(&inquiry);
    }
    if (open.empty()) break;
    Gathering::advance(open, server);
    if (serves_node) server->serve_node();
  }
}

Place absent(int rank, Doing doing, int64_t process, std::string note) {
  Place place;
  place.rank = rank;
  place.process = process;
  place.doing = doing;
  place.note = std::move(note);
  return place;
}

bool add_places(const Inquiry& inquiry, std::vector<Place>* places) {
  if (inquiry.state() != Inquiry::State::answered) return false;
  const Json answer = Json::parse(inquiry.text(), nullptr, false);
  if (!answer.is_array() || answer.empty()) return false;
  for (const Json& place : answer) places->push_back(place_from(place));
  return true;
}

void add_answer(int rank, const Inquiry& inquiry, const Server& server,
                std::vector<Place>* places) {
  if (add_places(inquiry, places)) return;
  const int64_t process = inquiry.process();
  if (inquiry.state() == Inquiry::State::answered || inquiry.all_closed())
    places->push_back(absent(rank, Doing::ended, process, server.note_of_ended(rank)));
  else
    places->push_back(
        absent(rank, is_stopped(inquiry) ? Doing::stopped : Doing::silent, process, {}));
}

void add_answer_of_node(const std::vector<int>& members, const Inquiry& inquiry,
                        const Server& server, std::vector<Place>* places) {
  if (add_places(inquiry, places)) return;
  for (const int rank : members)
    places->push_back(inquiry.all_closed()
                          ? absent(rank, Doing::ended, 0, server.note_of_ended(rank))
                          : absent(rank, Doing::silent, 0, "(nor does the node)"));
}

}  // namespace

void Gathering::know(std::vector<Contact> contacts) {
  contacts_ = std::move(contacts);
  std::map<int, std::vector<int>> by_first;
  for (int rank = 0; rank < ranks_; ++rank)
    by_first[contacts_[static_cast<size_t>(rank)].first_of_node].push_back(rank);
  for (auto& [first, members] : by_first) {
    if (first == here_.front()) own_node_ = nodes_.size();
    nodes_.push_back(std::move(members));
  }
}

std::vector<int> Gathering::all() const {
  if (nodes_.empty()) return here_;
  std::vector<int> all(static_cast<size_t>(ranks_));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<Door> Gathering::doors_of(const std::vector<int>& ranks) const {
  std::vector<Door> doors;
  for (const int rank : ranks) {
    if (std::binary_search(here_.begin(), here_.end(), rank))
      doors.push_back(door_here(job_, rank, ranks_));
    else
      for (Door& door : doors_between(rank, contacts_[static_cast<size_t>(rank)]))
        doors.push_back(std::move(door));
  }
  return doors;
}

void Gathering::advance(const std::vector<Inquiry*>& inquiries, Server* server) {
  std::vector<pollfd> files;
  for (const Inquiry* inquiry : inquiries) files.push_back(inquiry->waits());
  if (server != nullptr)
    for (const pollfd& listener : server->listeners()) files.push_back(listener);
  poll(files.data(), files.size(), longest_poll_milliseconds);
  for (size_t i = 0; i < inquiries.size(); ++i) inquiries[i]->go_on(files[i].revents);
  if (server != nullptr) server->serve_rank();
}

bool Gathering::is_taken(Inquiry* inquiry, Server* server) {
  while (inquiry->state() < Inquiry::State::greeted) advance({inquiry}, server);
  return inquiry->state() == Inquiry::State::greeted ||
         inquiry->state() == Inquiry::State::answered;
}

std::vector<Place> Gathering::gather_here(bool is_sure, Server* server) const {
  std::vector<Inquiry> inquiries;
  for (const int rank : here_)
    if (rank != rank_)
      inquiries.emplace_back(doors_of({rank}), std::string(is_sure ? ask_sure_place : ask_place));
  std::vector<Place> places = server->own_places();
  wait_for(&inquiries, longest_gathering, false, server);
  size_t next = 0;
  for (const int rank : here_)
    if (rank != rank_) add_answer(rank, inquiries[next++], *server, &places);
  add_sites(&places, server);
  return places;
}

// Reading debug information takes each rank that does it tens of milliseconds of a core.
void Gathering::add_sites(std::vector<Place>* places, Server* server) const {
  std::map<std::string, std::string> sites;  // one for each Place::object
  std::vector<std::string> asked_for;
  std::vector<Inquiry> inquiries;
  for (const Place& place : *places) {
    if (place.object.empty() || !sites.try_emplace(place.object).second) continue;
    if (place.rank == rank_) {
      sites[place.object] = source_of(place.frame).text();
      continue;
    }
    asked_for.push_back(place.object);
    inquiries.emplace_back(doors_of({place.rank}),
                           std::string(ask_source) + " " + std::to_string(place.frame));
  }
  wait_for(&inquiries, longest_finding_of_lines, false, server);
  for (size_t i = 0; i < inquiries.size(); ++i)
    if (inquiries[i].state() == Inquiry::State::answered) sites[asked_for[i]] = inquiries[i].text();
  for (Place& place : *places) {
    if (place.object.empty()) continue;
    place.site = sites[place.object];
    place.object.clear();
  }
}

std::vector<Place> Gathering::gather(bool is_sure, Server* server) const {
  std::vector<Inquiry> inquiries;
  for (size_t node = 0; node < nodes_.size(); ++node)
    if (node != own_node_)
      inquiries.emplace_back(doors_of(nodes_[node]),
                             std::string(is_sure ? ask_sure_node : ask_node));
  send_requests(&inquiries, server);
  std::vector<Place> places = gather_here(is_sure, server);
  wait_for(&inquiries, longest_gathering_of_nodes, true, server);
  size_t next = 0;
  for (size_t node = 0; node < nodes_.size(); ++node)
    if (node != own_node_) add_answer_of_node(nodes_[node], inquiries[next++], *server, &places);
  std::sort(places.begin(), places.end(),
            [](const Place& a, const Place& b) { return a.rank < b.rank; });
  return places;
}

}  // namespace tutti::mpi::roll
