#include "mpi/roll/watchdog.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/descriptors.h"
#include "base/launched.h"
#include "base/log.h"
#include "base/options.h"
#include "base/process.h"
#include "base/signals_blocked.h"
#include "mpi/collectives/in_host.h"
#include "mpi/job/end.h"
#include "mpi/job/served.h"
#include "mpi/roll/inquiry.h"
#include "mpi/roll/look.h"
#include "mpi/roll/place.h"
#include "mpi/roll/sockets.h"
#include "mpi/roll/stack.h"
#include "mpi/roll/table.h"
#include "mpi/roll/tripwire.h"

namespace tutti::mpi::roll {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr size_t stack_bytes = 512 * 1024;  // reading debug information takes some
constexpr int looks_in_limit = 8;
// A program that makes one call again and again is sometimes outside it. A rank looks so often, and
// then all others do before a table is printed.
constexpr int looks_to_be_sure = 100;
constexpr auto between_sure_looks = std::chrono::microseconds(500);
constexpr auto longest_sure_looks = milliseconds(300);
constexpr auto longest_sure = milliseconds(1000);  // then a rank looks again
// A rank may need 0.5 s for its own threads, and a node so long for its ranks.
constexpr auto longest_gathering = milliseconds(900);
constexpr auto longest_gathering_of_nodes = milliseconds(1800);
constexpr auto longest_connecting =
    milliseconds(50);  // other nodes, while others are not asked yet
constexpr auto time_to_answer =
    milliseconds(100);               // then it is looked at whether a rank is stopped
constexpr double suspicious = 0.25;  // the part of the limit after which a call is watched
constexpr useconds_t microseconds_to_arrive = 50'000;  // for ranks that are a little behind
constexpr int request_milliseconds = 100;              // a request is sent with the connection
constexpr auto longest_printing = milliseconds(3000);
constexpr auto time_between_tables = milliseconds(2000);

// The first words of requests; a cause follows some. A rank answers for itself or for its node. A
// table is printed if no rank goes on, at once, or if a rank is in a call of MPI.
constexpr std::string_view ask_place = "place", ask_sure_place = "sure", ask_node = "node",
                           ask_sure_node = "sure-node", ask_table = "table", ask_json = "json",
                           ask_watch = "watch", ask_print = "print", ask_print_now = "now",
                           ask_print_if_awaited = "awaited";

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

double seconds_of(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

class Watchdog {
 public:
  Watchdog(int rank, int ranks, std::vector<int> here)
      : rank_(rank),
        ranks_(ranks),
        here_(std::move(here)),
        job_(job_on_node()),
        cause_of_exit_("rank " + std::to_string(rank) + " calls exit without MPI_Finalize") {}
  ~Watchdog() {
    for (const int file : {listener_, node_listener_, ends_})
      if (file >= 0) close(file);
    for (const int watcher : watchers_) close(watcher);
    drop_due();
    for (const Watched& one : watched_)
      if (one.connection >= 0) close(one.connection);
  }
  Watchdog(const Watchdog&) = delete;

  const char* cause_of_exit() const { return cause_of_exit_.c_str(); }
  // True if a fault of this rank was told.
  bool ends_ill() const { return ends_ill_; }

  // The contact of this rank, for ranks of other nodes. Call it once, before start().
  Contact listen_between_nodes() {
    Contact own;
    node_listener_ = listen_to_nodes(&own);
    if (node_listener_ >= 0) secret_ = text_of_secret(own);
    own.first_of_node = here_.front();
    return own;
  }
  // The contacts of all ranks, of which some are on other nodes.
  void know(std::vector<Contact> contacts) {
    contacts_ = std::move(contacts);
    std::map<int, std::vector<int>> by_first;
    for (int rank = 0; rank < ranks_; ++rank)
      by_first[contacts_[static_cast<size_t>(rank)].first_of_node].push_back(rank);
    for (auto& [first, members] : by_first) {
      if (first == here_.front()) own_node_ = nodes_.size();
      nodes_.push_back(std::move(members));
    }
  }

  bool start() {
    listener_ = listen_here(job_, rank_, ranks_);
    ends_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (listener_ < 0 || ends_ < 0) return false;
    begin_watching();
    ends_ = move_high(ends_);
    begin_asking();
    left_to_host_ = &InHost::ended;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    const SignalsBlocked blocked;
    const bool started = pthread_create(
                             &thread_, &attributes,
                             [](void* self) -> void* {
                               static_cast<Watchdog*>(self)->run();
                               return nullptr;
                             },
                             this) == 0;
    pthread_attr_destroy(&attributes);
    if (started)
      pthread_setname_np(thread_, "tutti-roll");
    else
      end_asking();
    return started;
  }
  void stop() {
    const uint64_t one = 1;
    (void)!write(ends_, &one, sizeof one);
    pthread_join(thread_, nullptr);
    end_asking();
  }
  // For the program's thread, which has found a fault: the lowest rank that is there prints the
  // table, unless that was just done.
  void print_now(std::string_view word, const std::string& cause) {
    ends_ill_ = true;
    std::vector<int> all = here_;
    if (!nodes_.empty()) {
      all.resize(static_cast<size_t>(ranks_));
      std::iota(all.begin(), all.end(), 0);
    }
    Inquiry inquiry(doors_of(all), request(word, cause));
    const auto end = Clock::now() + longest_printing;
    while (inquiry.is_open() && Clock::now() < end) advance({&inquiry});
  }

 private:
  // A thread, and since when it has been at one place.
  struct Tracked {
    std::string mark;
    double seconds = 0;
  };
  // A rank whose end this one notices: the connection ends with its process, and it says farewell
  // if MPI has ended.
  struct Watched {
    int rank;
    int connection = -1;
    bool said_bye = false, has_ended = false;
  };
  struct Due {
    std::string word, cause;
    int connection;  // -1: none waits for the answer
  };

  void run() {
    own_ = static_cast<pid_t>(syscall(SYS_gettid));
    last_look_ = Clock::now();
    while (true) {
      try {
        if (!wait_for_work()) break;
        serve_due();
      } catch (const std::exception& error) {  // memory lacks, most likely
        log_once("roll", LogLevel::info, "the watchdog: %s", error.what());
        drop_due();
      }
    }
    for (const int watcher : watchers_) send_text(watcher, "bye\n");
  }

  Clock::duration interval() const {
    return std::chrono::duration_cast<Clock::duration>(
               std::chrono::seconds(options().stall_seconds)) /
           looks_in_limit;
  }

  // False if the watchdog ends.
  bool wait_for_work() {
    const int limit = options().stall_seconds;
    int milliseconds_left = due_.empty() ? -1 : 0;
    if (limit > 0 && due_.empty()) {
      const auto left = last_look_ + interval() - Clock::now();
      milliseconds_left =
          static_cast<int>(std::max<int64_t>(0, std::chrono::ceil<milliseconds>(left).count()));
    }
    std::vector<pollfd> files{
        {ends_, POLLIN, 0}, {listener_, POLLIN, 0}, {node_listener_, POLLIN, 0}};
    for (const Watched& one : watched_) files.push_back({one.connection, POLLIN, 0});
    poll(files.data(), files.size(), milliseconds_left);
    if (files[0].revents != 0) return false;
    if ((files[1].revents | files[2].revents) != 0) accept_all();
    for (size_t i = 0; i < watched_.size(); ++i)
      if (files[i + 3].revents != 0) hear(&watched_[i]);
    if (limit > 0 && Clock::now() >= last_look_ + interval()) look();
    return true;
  }

  void accept_all() {
    for (int connection; (connection = accept_own_user(listener_)) >= 0;)
      take(connection, receive_line(connection, request_milliseconds));
    for (int connection;
         node_listener_ >= 0 && (connection = accept_from_node(node_listener_)) >= 0;) {
      const std::string line = receive_line(connection, request_milliseconds);
      if (line.starts_with(secret_ + " "))
        take(connection, line.substr(secret_.size() + 1));
      else
        close(connection);
    }
  }

  // Requests that need the other ranks' answers are done later, because these may ask this rank.
  void take(int connection, const std::string& line) {
    const std::string word = line.substr(0, line.find(' '));
    const std::string cause = word.size() < line.size() ? line.substr(word.size() + 1) : "";
    if (is_one_of(word, {ask_table, ask_json, ask_node, ask_sure_node, ask_print, ask_print_now,
                         ask_print_if_awaited, ask_watch, ask_place, ask_sure_place}))
      send_text(connection, std::string(is_there));
    if (word == ask_watch) {
      watchers_.push_back(connection);
    } else if (is_one_of(word, {ask_place, ask_sure_place})) {
      if (word == ask_sure_place) become_sure();
      send_text(connection, json_text(json_of(places_here())));
      close(connection);
    } else if (!word.empty()) {
      due_.push_back({word, cause, connection});
    } else {
      close(connection);
    }
  }

  void drop_due() {
    for (const Due& due : std::exchange(due_, {}))
      if (due.connection >= 0) close(due.connection);
  }
  void serve_due() {
    for (const Due& due : std::exchange(due_, {})) serve(due);
  }
  // Those for this node, which need no other node.
  void serve_due_of_node() {
    for (const Due& due : std::exchange(due_, {})) {
      if (is_one_of(due.word, {ask_node, ask_sure_node}))
        serve(due);
      else
        due_.push_back(due);
    }
  }

  void serve(const Due& due) {
    if (due.word == ask_node) {
      send_text(due.connection, json_text(json_of(gather_here(ask_place))));
    } else if (due.word == ask_sure_node) {
      become_sure();
      send_text(due.connection, json_text(json_of(gather_here(ask_sure_place))));
    } else if (due.word == ask_table) {
      send_text(due.connection, table_text(gather(ask_place), ranks_, due.cause));
    } else if (due.word == ask_json) {
      send_text(due.connection, table_json(gather(ask_place), ranks_, due.cause));
    } else {
      print(due);
    }
    if (due.connection >= 0) close(due.connection);
  }

  static Json json_of(const std::vector<Place>& places) {
    Json all = Json::array();
    for (const Place& place : places) all.push_back(roll::json_of(place));
    return all;
  }

  static std::string request(std::string_view word, const std::string& cause) {
    return std::string(word) + (cause.empty() ? "" : " " + cause);
  }

  std::vector<Door> doors_of(const std::vector<int>& ranks) const {
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

  // The first thread, and those others that are in a call of MPI.
  std::vector<Place> places_here() {
    std::vector<Place> places;
    for (const pid_t thread : threads()) {
      if (thread == own_) continue;
      const bool is_first = places.empty();
      // Threads of the program matter only if the first one waits for them.
      if (!is_first && places.front().doing != Doing::sleeps) break;
      Place place = place_of(thread);
      place.rank = rank_;
      const auto tracked = tracked_.find(thread);
      if (tracked != tracked_.end() && tracked->second.mark == place.mark())
        place.seconds = tracked->second.seconds + seconds_of(Clock::now() - last_look_);
      if (is_first || place.doing == Doing::mpi) places.push_back(std::move(place));
    }
    if (places.size() > 1) places.erase(places.begin());  // it waits for the others
    return places;
  }

  // Waits until something happens, but not long, and goes on with the inquiries. The watchdog's
  // thread also serves others meanwhile (`serves`).
  bool advance(const std::vector<Inquiry*>& inquiries, bool serves = false) {
    std::vector<pollfd> files;
    for (const Inquiry* inquiry : inquiries) files.push_back(inquiry->waits());
    if (serves) files.insert(files.end(), {{listener_, POLLIN, 0}, {node_listener_, POLLIN, 0}});
    const bool ready = poll(files.data(), files.size(), 50) > 0;
    for (size_t i = 0; i < inquiries.size(); ++i) inquiries[i]->go_on(files[i].revents);
    if (serves) accept_all();
    return ready;
  }

  // True if a rank is there and will do what it is asked for. The watchdog's thread alone.
  bool is_taken(Inquiry* inquiry) {
    while (inquiry->state() < Inquiry::State::greeted) advance({inquiry}, true);
    return inquiry->state() == Inquiry::State::greeted ||
           inquiry->state() == Inquiry::State::answered;
  }

  // The places of this node's ranks.
  std::vector<Place> gather_here(std::string_view word) {
    std::vector<Inquiry> inquiries;
    for (const int rank : here_)
      if (rank != rank_) inquiries.emplace_back(doors_of({rank}), std::string(word));
    std::vector<Place> places = places_here();
    wait_for(&inquiries, longest_gathering, false);
    size_t next = 0;
    for (const int rank : here_)
      if (rank != rank_) add_answer(rank, inquiries[next++], &places);
    return places;
  }

  std::vector<Place> gather(std::string_view word) {
    const bool sure = word == ask_sure_place;
    std::vector<Inquiry> inquiries;
    for (size_t node = 0; node < nodes_.size(); ++node)
      if (node != own_node_)
        inquiries.emplace_back(doors_of(nodes_[node]),
                               std::string(sure ? ask_sure_node : ask_node));
    send_requests(&inquiries);
    std::vector<Place> places = gather_here(word);
    wait_for(&inquiries, longest_gathering_of_nodes, true);
    size_t next = 0;
    for (size_t node = 0; node < nodes_.size(); ++node)
      if (node != own_node_) add_answer_of_node(nodes_[node], inquiries[next++], &places);
    std::sort(places.begin(), places.end(),
              [](const Place& a, const Place& b) { return a.rank < b.rank; });
    return places;
  }

  void send_requests(std::vector<Inquiry>* inquiries) {
    const auto end = Clock::now() + longest_connecting;
    while (Clock::now() < end) {
      std::vector<Inquiry*> connecting;
      for (Inquiry& inquiry : *inquiries)
        if (inquiry.state() == Inquiry::State::connects) connecting.push_back(&inquiry);
      if (connecting.empty()) return;
      advance(connecting, true);
    }
  }

  void wait_for(std::vector<Inquiry>* inquiries, Clock::duration longest, bool serves_nodes) {
    const auto begin = Clock::now();
    while (Clock::now() < begin + longest) {
      std::vector<Inquiry*> open;
      for (Inquiry& inquiry : *inquiries) {
        const bool gives_up =
            inquiry.process() != 0 && Clock::now() > begin + time_to_answer && is_stopped(inquiry);
        if (inquiry.is_open() && !gives_up) open.push_back(&inquiry);
      }
      if (open.empty()) break;
      advance(open, true);
      if (serves_nodes) serve_due_of_node();
    }
  }

  static bool is_stopped(const Inquiry& inquiry) {
    return inquiry.process() != 0 &&
           process_is_stopped({inquiry.process(), start_of_process(inquiry.process())});
  }

  Place absent(int rank, Doing doing, int64_t process) const {
    Place place;
    place.rank = rank;
    place.process = process;
    place.doing = doing;
    for (const Watched& one : watched_)
      if (doing == Doing::ended && one.rank == rank)
        place.note = one.said_bye ? "after MPI_Finalize" : "without MPI_Finalize";
    return place;
  }

  void add_answer(int rank, const Inquiry& inquiry, std::vector<Place>* places) const {
    if (add_places(inquiry, places)) return;
    const bool has_ended = inquiry.state() == Inquiry::State::answered || inquiry.all_closed();
    const Doing other = is_stopped(inquiry) ? Doing::stopped : Doing::silent;
    places->push_back(absent(rank, has_ended ? Doing::ended : other, inquiry.process()));
  }

  void add_answer_of_node(const std::vector<int>& members, const Inquiry& inquiry,
                          std::vector<Place>* places) const {
    if (add_places(inquiry, places)) return;
    for (const int rank : members) {
      places->push_back(absent(rank, inquiry.all_closed() ? Doing::ended : Doing::silent, 0));
      if (!inquiry.all_closed()) places->back().note = "nor does its node";
    }
  }

  static bool add_places(const Inquiry& inquiry, std::vector<Place>* places) {
    if (inquiry.state() != Inquiry::State::answered) return false;
    const Json answer = Json::parse(inquiry.text(), nullptr, false);
    if (!answer.is_array() || answer.empty()) return false;
    for (const Json& place : answer) places->push_back(place_from(place));
    return true;
  }

  bool goes_on(const std::vector<Place>& places) const {
    return std::any_of(places.begin(), places.end(), [](const Place& place) {
      return (place.doing == Doing::mpi || place.doing == Doing::computes) &&
             place.seconds < options().stall_seconds / 2.0;
    });
  }

  void print(const Due& due) {
    const bool at_once = due.word != ask_print;
    if (at_once && Clock::now() < printed_ + time_between_tables) return;
    for (size_t node = 0; node < own_node_; ++node) {
      Inquiry first(doors_of(nodes_[node]), request(due.word, due.cause));
      if (is_taken(&first)) return;
    }
    if (at_once) usleep(microseconds_to_arrive);
    const std::vector<Place> places = gather(at_once ? ask_place : ask_sure_place);
    if (!at_once && goes_on(places)) return;
    if (due.word == ask_print_if_awaited &&
        std::none_of(places.begin(), places.end(),
                     [](const Place& place) { return place.doing == Doing::mpi; }))
      return;
    std::string key;
    for (const Place& place : places) key += std::to_string(place.rank) + place.mark() + "\n";
    if (std::exchange(printed_key_, key) == key) return;
    const std::string text = table_text(places, ranks_, due.cause);
    (void)!write(STDERR_FILENO, text.data(), text.size());
    printed_ = Clock::now();
  }

  // The next rank of this node, round and round. A node's first rank watches that of the next node.
  void begin_watching() {
    const auto next = std::upper_bound(here_.begin(), here_.end(), rank_);
    if (here_.size() > 1) watched_.push_back({next == here_.end() ? here_.front() : *next});
    if (rank_ == here_.front() && nodes_.size() > 1)
      watched_.push_back({nodes_[(own_node_ + 1) % nodes_.size()].front()});
  }

  void watch_others() {
    for (Watched& one : watched_) {
      if (one.connection >= 0 || one.has_ended) continue;
      Inquiry inquiry(doors_of({one.rank}), std::string(ask_watch));
      if (is_taken(&inquiry)) one.connection = inquiry.release();
    }
  }

  void hear(Watched* one) {
    std::string text;
    const bool is_connected = receive_more(one->connection, &text);
    one->said_bye = one->said_bye || text.starts_with("bye");
    if (is_connected) return;
    close(std::exchange(one->connection, -1));
    one->has_ended = true;
    if (one->said_bye || ends_ill_) return;
    // Programs may end without MPI_Finalize at all ranks; then nobody waits.
    const std::string before = place_of(getpid()).mark();
    usleep(100'000);
    const Place place = place_of(getpid());
    if (place.doing == Doing::mpi && place.mark() == before)
      call_for_print(ask_print_now,
                     "rank " + std::to_string(one->rank) + " has ended without MPI_Finalize");
  }

  // The lowest rank that answers prints, so that one rank does.
  void call_for_print(std::string_view word, const std::string& cause) {
    const std::vector<int> lower(here_.begin(), std::find(here_.begin(), here_.end(), rank_));
    Inquiry inquiry(doors_of(lower), request(word, cause));
    if (is_taken(&inquiry)) return;
    due_.push_back({std::string(word), cause, -1});
  }

  uint64_t collectives() const {
    return ServedCalls::of_all_threads() + shm::load_relaxed(*left_to_host_);
  }

  void look() {
    const auto now = Clock::now();
    const double passed =
        std::min(seconds_of(now - last_look_), seconds_of(interval()) + 1);  // a pause counts 1 s
    last_look_ = now;
    watch_others();
    if (std::exchange(seen_, collectives()) != seen_) {
      tracked_.clear();
      called_ = false;
      return;
    }
    bool waits = false;
    const double limit = options().stall_seconds;
    std::map<pid_t, Tracked> tracked;
    for (const Place& place : places_here()) {
      const std::string mark = place.mark();
      Tracked& now_tracked = tracked[place.thread] = std::move(tracked_[place.thread]);
      if (now_tracked.mark == mark || place.doing == Doing::silent) {
        now_tracked.seconds += passed;
      } else {
        now_tracked = {mark, 0};
      }
      if (place.doing != Doing::mpi) continue;
      if (now_tracked.seconds >= suspicious * limit) set_tripwire(place.function);
      waits = waits || now_tracked.seconds >= limit;
    }
    tracked_ = std::move(tracked);
    if (!waits) {
      called_ = false;
      return;
    }
    // Others may go on at first, so this rank asks again.
    if (called_ && ++looks_since_called_ < looks_in_limit / 2) return;
    if (!stays()) return;
    called_ = true;
    looks_since_called_ = 0;
    call_for_print(ask_print, "no progress for " + std::to_string(options().stall_seconds) + " s");
  }

  bool stays() {
    if (!looks_the_same()) {
      tracked_.clear();
      return false;
    }
    sure_until_ = Clock::now() + longest_sure;
    return true;
  }

  void become_sure() {
    const bool in_mpi = std::any_of(tracked_.begin(), tracked_.end(), [](const auto& one) {
      return one.second.mark.starts_with(mark_in_mpi);
    });
    if (in_mpi && Clock::now() > sure_until_) stays();
  }

  bool looks_the_same() {
    const auto end = Clock::now() + longest_sure_looks;
    for (int looks = 0; looks < looks_to_be_sure && Clock::now() < end; ++looks) {
      usleep(static_cast<useconds_t>(between_sure_looks.count()));
      for (const Place& place : places_here()) {
        if (place.doing == Doing::silent) continue;
        const auto tracked = tracked_.find(place.thread);
        if (tracked == tracked_.end() || tracked->second.mark != place.mark()) return false;
      }
    }
    return true;
  }

  const int rank_, ranks_;
  const std::vector<int> here_;
  const std::string job_, cause_of_exit_;
  const shm::Word* left_to_host_ = nullptr;
  pthread_t thread_{};
  pid_t own_ = 0;  // the number of this thread
  int listener_ = -1, node_listener_ = -1, ends_ = -1;
  std::string secret_;
  std::vector<Contact> contacts_;        // one a rank; none if all are on this node
  std::vector<std::vector<int>> nodes_;  // their ranks, the lowest first; none likewise
  size_t own_node_ = 0;
  std::vector<Watched> watched_;
  std::atomic<bool> ends_ill_{false};
  std::vector<int> watchers_;  // connections of ranks that watch this one
  std::vector<Due> due_;
  Clock::time_point last_look_, printed_{}, sure_until_{};
  std::string printed_key_;
  uint64_t seen_ = 0;  // collectives, at the last look
  std::map<pid_t, Tracked> tracked_;
  bool called_ = false;
  int looks_since_called_ = 0;
};

// Null: none runs. A process that ends without MPI_Finalize leaves it to the system, because its
// thread still runs then.
Watchdog* watchdog = nullptr;
pid_t made_by = 0;

bool runs_here() { return watchdog != nullptr && made_by == getpid(); }

bool expects_exit = false;

// For the program's thread. Without memory nothing is printed.
void tell(std::string_view word, const char* cause) noexcept {
  if (!runs_here()) return;
  try {
    watchdog->print_now(word, cause);
  } catch (...) {
  }
}

// A launcher ends the job once this process has ended, so the others' places are told before.
void note_exit() {
  if (runs_here() && !expects_exit && !watchdog->ends_ill())
    tell(ask_print_if_awaited, watchdog->cause_of_exit());
}

}  // namespace

void begin_roll(int rank, int ranks, std::vector<int> here, const Exchange& exchange) {
  if (simulated) return;
  const bool runs = watchdog != nullptr;
  auto made = std::make_unique<Watchdog>(rank, ranks, std::move(here));
  if (exchange) made->know(exchange(made->listen_between_nodes()));
  if (runs) return;
  if (!made->start()) {
    log_line(LogLevel::info, "no roll call: the system refuses a thread or a socket");
    return;
  }
  watchdog = made.release();
  made_by = getpid();
  call_the_roll = [](const char* cause) noexcept { tell(ask_print_now, cause); };
  mpi::site_of_frames = site_of_frames;
  static const bool noted = std::atexit(note_exit) == 0;
  (void)noted;
}

void expect_exit() { expects_exit = true; }

void end_roll() {
  if (!runs_here()) return;
  call_the_roll = nullptr;
  mpi::site_of_frames = nullptr;
  watchdog->stop();
  delete std::exchange(watchdog, nullptr);
}

}  // namespace tutti::mpi::roll
