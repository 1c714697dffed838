#include "model/injection/simulate.h"

#include <functional>
#include <algorithm>
#include <deque>
#include <queue>
#include <string>
#include <vector>

#include "base/error.h"

namespace tutti::injection {
namespace {

using rma::Kind;

struct Message {
  int32_t client = 0;  // the core that it belongs to
  int32_t core = 0;    // the core that starts it: the client, or a server
  int32_t target = 0;  // a node
};

enum class What : uint8_t {
  core_is_free,  // a core has done what it was busy with
  posted,        // the server of a message sees it
  requested,     // the node that has the data of a get learns of it
  data_arrives,  // the first byte of a message is at the receiving adapter
  complete,      // the adapter of a message's core knows that it is complete
  retired,       // the client of a message sees that its server has retired it
};

struct Event {
  double time;
  uint64_t number;  // events of one time happen in the order in which they were made
  What what;
  int32_t of;

  bool operator>(const Event& other) const {
    return time != other.time ? time > other.time : number > other.number;
  }
};

// The present work of a core.
enum class Action : uint8_t { none, starts, posts, learns, retires };

struct Core {
  int32_t node = 0;
  int32_t client = -1;  // the client that this server serves; -1: this core is a client
  Action action = Action::none;
  int32_t message = 0;        // the message that the action is about
  std::deque<int32_t> queue;  // started, and not yet travelling
  int32_t in_flight = 0;      // travelling
  std::deque<int32_t> inbox;  // a server's: the messages that are posted to it
  std::deque<int32_t> ended;  // complete, and not yet learnt of
  // A client's:
  std::deque<int32_t> retired;  // the messages that servers have retired
  int32_t next = 0;             // messages that it has started or handed over
  int32_t done = 0;             // messages that it knows to be complete
  int32_t handed = 0;           // to servers, and not known to be complete
  rma::Turn turn;
};

class Simulation {
 public:
  Simulation(const Machine& machine, const Setting& setting)
      : machine_(machine),
        setting_(setting),
        protocol_(protocol_of(machine, setting.kind, setting.bytes)),
        served_(served_cost(machine, setting.bytes)),
        bytes_(static_cast<double>(setting.bytes)),
        each_(setting.all_to_all ? (setting.nodes - 1) * setting.clients : setting.messages),
        sends_free_(static_cast<size_t>(setting.nodes), 0),
        receives_free_(sends_free_),
        active_(static_cast<size_t>(setting.nodes), 0) {
    require();
    const int32_t cores = setting.clients * (1 + setting.servers);
    cores_.resize(static_cast<size_t>(setting.nodes) * static_cast<size_t>(cores));
    for (int32_t node = 0; node < setting.nodes; ++node)
      for (int32_t client = 0; client < setting.clients; ++client) {
        const int32_t first = node * cores + client * (1 + setting.servers);
        for (int32_t i = 0; i <= setting.servers; ++i) {
          core(first + i).node = node;
          if (i > 0) core(first + i).client = first;
        }
        clients_.push_back(first);
      }
    messages_.reserve(clients_.size() * static_cast<size_t>(each_));
  }

  Outcome run() {
    for (const int32_t client : clients_) act(client);
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.time;
      happen(event);
    }
    for (const int32_t client : clients_)
      if (core(client).done != each_)
        throw Error(Code::internal, "a simulated client has lost messages");
    const auto count = static_cast<double>(each_) * setting_.clients;
    return {.nanoseconds = end_,
            .bandwidth = count * bytes_ / end_,
            .messages = messages_.size(),
            .handed = handed_};
  }

 private:
  Core& core(int32_t number) { return cores_[static_cast<size_t>(number)]; }
  Message& message(int32_t number) { return messages_[static_cast<size_t>(number)]; }

  void require() const {
    if (setting_.nodes < 2 || setting_.clients < 1 || setting_.servers < 0 || each_ < 1 ||
        setting_.bytes < 1 || setting_.most_outstanding < 1)
      throw Error(Code::invalid_argument,
                  "a simulation needs 2 nodes, and a client, a message, a byte and an outstanding "
                  "message at least");
    if (setting_.clients * (1 + setting_.servers) > machine_.cores)
      throw Error(Code::invalid_argument,
                  machine_.name + ": " + std::to_string(setting_.clients) + " clients with " +
                      std::to_string(setting_.servers) + " servers each need more than the " +
                      std::to_string(machine_.cores) + " cores of a node; give fewer");
  }

  void at(double time, What what, int32_t of) { events_.push({time, made_++, what, of}); }

  void happen(const Event& event) {
    switch (event.what) {
      case What::core_is_free: return free(event.of);
      case What::posted: {
        const int32_t server = message(event.of).core;
        core(server).inbox.push_back(event.of);
        return act(server);
      }
      case What::requested: return send(event.of, message(event.of).target);
      case What::data_arrives: return receive(event.of);
      case What::complete: return complete(event.of);
      case What::retired: {
        const int32_t client = message(event.of).client;
        core(client).retired.push_back(event.of);
        return act(client);
      }
    }
  }

  void be_busy(int32_t number, Action action, int32_t about, double time) {
    core(number).action = action;
    core(number).message = about;
    at(now_ + time, What::core_is_free, number);
  }

  double start_time() const { return protocol_.overhead + bytes_ * protocol_.overhead_byte; }

  // Begins the core's next action, if it is idle and there is something to do.
  void act(int32_t number) {
    if (core(number).action != Action::none) return;
    if (core(number).client < 0)
      act_as_client(number);
    else
      act_as_server(number);
  }

  void act_as_client(int32_t number) {
    Core& client = core(number);
    if (client.next < each_ && client.next - client.done < setting_.most_outstanding)
      return begin(number);
    if (!client.ended.empty()) {
      const int32_t about = take(&client.ended);
      return be_busy(number, Action::learns, about, protocol_.completion);
    }
    if (!client.retired.empty()) {
      const int32_t about = take(&client.retired);
      return be_busy(number, Action::learns, about, machine_.hand_over.check);
    }
  }

  void act_as_server(int32_t number) {
    Core& server = core(number);
    if (!server.inbox.empty()) {
      const int32_t about = take(&server.inbox);
      return be_busy(number, Action::starts, about,
                     machine_.hand_over.take + served_.overhead + bytes_ * served_.overhead_byte +
                         start_time());
    }
    if (!server.ended.empty()) {
      const int32_t about = take(&server.ended);
      return be_busy(number, Action::retires, about,
                     protocol_.completion + machine_.hand_over.retire);
    }
  }

  static int32_t take(std::deque<int32_t>* from) {
    const int32_t first = from->front();
    from->pop_front();
    return first;
  }

  // The client starts its next message, or hands it over.
  void begin(int32_t number) {
    Core& client = core(number);
    const int32_t distance = setting_.all_to_all ? 1 + client.next / setting_.clients : 1;
    ++client.next;
    const auto about = static_cast<int32_t>(messages_.size());
    messages_.push_back({number, number, (client.node + distance) % setting_.nodes});
    const rma::Situation situation{
        .kind = setting_.kind,
        .bytes = setting_.bytes,
        .waiting = static_cast<size_t>(std::min(each_, setting_.most_outstanding)),
        .in_flight = static_cast<size_t>(client.handed)};
    if (setting_.servers > 0 && is_for_servers(setting_.policy, situation)) {
      client.turn = next_turn(setting_.policy, client.turn, setting_.servers, situation);
      if (client.turn.server < setting_.servers) {
        messages_.back().core = number + 1 + client.turn.server;
        ++client.handed;
        ++handed_;
        return be_busy(number, Action::posts, about, machine_.hand_over.post);
      }
    }
    be_busy(number, Action::starts, about, start_time());
  }

  // The core is done with what it was busy with.
  void free(int32_t number) {
    Core& one = core(number);
    const Action action = one.action;
    const int32_t about = one.message;
    one.action = Action::none;
    if (action == Action::starts) {
      one.queue.push_back(about);
      travel(number);
    } else if (action == Action::posts) {
      at(now_ + machine_.hand_over.latency, What::posted, about);
    } else if (action == Action::retires) {
      at(now_ + machine_.hand_over.latency, What::retired, about);
    } else {
      ++one.done;
      if (message(about).core != number) --one.handed;
      end_ = std::max(end_, now_);
    }
    act(number);
  }

  // The messages of the core's queue that may travel begin to.
  void travel(int32_t number) {
    Core& one = core(number);
    while (!one.queue.empty() && one.in_flight < protocol_.in_flight) {
      const int32_t about = take(&one.queue);
      if (one.in_flight++ == 0) ++active_[static_cast<size_t>(one.node)];
      if (setting_.kind == Kind::put)
        send(about, one.node);
      else
        at(now_ + protocol_.latency, What::requested, about);
    }
  }

  // The time for which a message occupies an adapter.
  double occupied(int32_t about) {
    const int32_t active = active_[static_cast<size_t>(core(message(about).core).node)];
    return protocol_.gap +
           bytes_ * protocol_.byte * (1 + protocol_.crowding * std::max(0, active - 1));
  }

  void send(int32_t about, int32_t from) {
    double& is_free = sends_free_[static_cast<size_t>(from)];
    const double start = std::max(now_, is_free);
    is_free = start + occupied(about);
    at(start + protocol_.latency, What::data_arrives, about);
  }

  void receive(int32_t about) {
    const bool puts = setting_.kind == Kind::put;
    const int32_t to = puts ? message(about).target : core(message(about).core).node;
    double& is_free = receives_free_[static_cast<size_t>(to)];
    is_free = std::max(now_, is_free) + occupied(about);
    at(is_free + (puts ? protocol_.latency : 0), What::complete, about);
  }

  void complete(int32_t about) {
    const int32_t number = message(about).core;
    Core& one = core(number);
    if (--one.in_flight == 0) --active_[static_cast<size_t>(one.node)];
    travel(number);
    one.ended.push_back(about);
    act(number);
  }

  const Machine& machine_;
  const Setting& setting_;
  const Protocol& protocol_;
  const Served served_;
  const double bytes_;
  const int32_t each_;  // messages of a client
  // Indexed by node: the time when the adapter is free.
  std::vector<double> sends_free_, receives_free_;
  std::vector<int32_t> active_;  // indexed by node: cores with messages in flight
  std::vector<Core> cores_;
  std::vector<int32_t> clients_;
  std::vector<Message> messages_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  uint64_t made_ = 0;
  uint64_t handed_ = 0;
  double now_ = 0, end_ = 0;
};

std::vector<size_t> powers(size_t first, size_t last) {
  std::vector<size_t> numbers;
  for (size_t number = first; number <= last; number *= 2) numbers.push_back(number);
  return numbers;
}

std::vector<double> bandwidths(const Machine& machine, const rma::SaturationMap& map, Kind kind) {
  std::vector<double> found;
  for (const size_t cores : map.cores)
    for (const size_t messages : map.messages)
      for (const size_t bytes : map.bytes)
        found.push_back(simulate(machine, {.clients = static_cast<int32_t>(cores),
                                           .kind = kind,
                                           .bytes = bytes,
                                           .messages = static_cast<int32_t>(messages)})
                            .bandwidth);
  return found;
}

}  // namespace

Outcome simulate(const Machine& machine, const Setting& setting) {
  return Simulation(machine, setting).run();
}

rma::SaturationMap saturation_of(const Machine& machine) {
  rma::SaturationMap map;
  map.where = "simulated: " + machine.name;
  map.cores = powers(1, static_cast<size_t>(machine.cores));
  // Powers of two, and 3/4 of all cores and all, where these are others.
  for (const size_t more :
       {static_cast<size_t>(machine.cores) * 3 / 4, static_cast<size_t>(machine.cores)})
    if (more > 0) map.cores.push_back(more);
  std::sort(map.cores.begin(), map.cores.end());
  map.cores.erase(std::unique(map.cores.begin(), map.cores.end()), map.cores.end());
  map.messages = powers(1, 128);
  map.bytes = powers(8, 1 << 20);
  const HandOver& cost = machine.hand_over;
  map.hand_over = {.client = cost.post + cost.check, .server = {}, .latency = 2 * cost.latency};
  for (const size_t bytes : map.bytes) {
    const Served served = served_cost(machine, bytes);
    map.hand_over.server.push_back(cost.take + cost.retire + served.overhead +
                                   static_cast<double>(bytes) * served.overhead_byte);
  }
  map.puts = bandwidths(machine, map, Kind::put);
  map.gets = bandwidths(machine, map, Kind::get);
  return map;
}

}  // namespace tutti::injection
