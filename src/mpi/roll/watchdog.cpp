#include "mpi/roll/watchdog.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/descriptors.h"
#include "base/launched.h"
#include "base/log.h"
#include "base/options.h"
#include "base/signals_blocked.h"
#include "mpi/collectives/in_host.h"
#include "mpi/job/end.h"
#include "mpi/roll/gathering.h"
#include "mpi/roll/inquiry.h"
#include "mpi/roll/look.h"
#include "mpi/roll/place.h"
#include "mpi/roll/sockets.h"
#include "mpi/roll/source.h"
#include "mpi/roll/stack.h"
#include "mpi/roll/table.h"
#include "mpi/roll/tracking.h"

namespace tutti::mpi::roll {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr size_t stack_bytes = 512 * 1024;  // reading debug information takes some
constexpr int looks_before_next_call = 4;   // after the limit, a rank calls for the table again
constexpr useconds_t microseconds_to_arrive = 50'000;  // for ranks that are a little behind
constexpr auto longest_to_arrive = milliseconds(1000);
constexpr int request_milliseconds = 100;  // a request is sent with the connection
constexpr int most_gatherings = 3;  // for a table in which all ranks of the reached nodes answer
constexpr auto longest_printing = milliseconds(5000);
constexpr auto time_between_tables = milliseconds(5000);

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

class Watchdog final : private Server {
 public:
  Watchdog(int rank, int ranks, std::vector<int> here, int64_t spawned)
      : rank_(rank),
        ranks_(ranks),
        ranks_of_job_(rank, ranks, std::move(here),
                      job_on_node() + (spawned != 0 ? "+" + std::to_string(spawned) : "")),
        tracking_(rank, InHost::ended),
        whose_(spawned != 0 ? "; spawned processes" : ""),
        cause_of_exit_("rank " + std::to_string(rank) + " calls exit without MPI_Finalize") {}
  Watchdog(const Watchdog&) = delete;

  const char* cause_of_exit() const { return cause_of_exit_.c_str(); }
  // True if a fault of this rank was told.
  bool ends_ill() const { return ends_ill_; }

  // The contact of this rank, for ranks of other nodes. Call it once, before start().
  Contact listen_between_nodes() {
    Contact own;
    node_listener_ = listen_to_nodes(&own);
    if (node_listener_) secret_ = text_of_secret(own);
    own.first_of_node = ranks_of_job_.here().front();
    return own;
  }
  void know(std::vector<Contact> contacts) { ranks_of_job_.know(std::move(contacts)); }

  bool start() {
    listener_ = listen_here(ranks_of_job_.job(), rank_, ranks_);
    ends_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!listener_ || !ends_) return false;
    begin_watching();
    begin_asking();
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
    (void)!write(ends_.number(), &one, sizeof one);
    pthread_join(thread_, nullptr);
    end_asking();
  }
  // For the program's thread, which has found a fault: the lowest rank that is there prints the
  // table, unless that was just done.
  void print_now(std::string_view word, const std::string& cause) {
    ends_ill_ = true;
    Inquiry inquiry(ranks_of_job_.doors_of(ranks_of_job_.all()), request(word, cause));
    const auto end = Clock::now() + longest_printing;
    while (inquiry.is_open() && Clock::now() < end) Gathering::advance({&inquiry}, nullptr);
  }

 private:
  // A rank whose end this one notices: the connection ends with its process, and it says farewell
  // if MPI has ended.
  struct Watched {
    int rank;
    Descriptor connection{};
    bool said_bye = false, has_ended = false;
  };
  struct Due {
    std::string word, cause;
    Descriptor connection;  // none: nobody waits for the answer
  };

  void run() {
    tracking_.begin();
    while (true) {
      try {
        if (!wait_for_work()) break;
        serve_due();
      } catch (const std::exception& error) {  // memory lacks, most likely
        log_once("roll", LogLevel::info, "the watchdog: %s", error.what());
        due_.clear();
      }
    }
    for (const Descriptor& watcher : watchers_) send_text(watcher, "bye\n");
  }

  // False if the watchdog ends.
  bool wait_for_work() {
    const int limit = options().stall_seconds;
    int milliseconds_left = due_.empty() ? -1 : 0;
    if (limit > 0 && due_.empty()) {
      const auto left = tracking_.next_look() - Clock::now();
      milliseconds_left =
          static_cast<int>(std::max<int64_t>(0, std::chrono::ceil<milliseconds>(left).count()));
    }
    std::vector<pollfd> files{{ends_.number(), POLLIN, 0}};
    for (const pollfd& listener : listeners()) files.push_back(listener);
    for (const Watched& one : watched_) files.push_back({one.connection.number(), POLLIN, 0});
    poll(files.data(), files.size(), milliseconds_left);
    if (files[0].revents != 0) return false;
    if ((files[1].revents | files[2].revents) != 0) serve_rank();
    for (size_t i = 0; i < watched_.size(); ++i)
      if (files[i + 3].revents != 0) hear(&watched_[i]);
    if (limit > 0 && Clock::now() >= tracking_.next_look()) look();
    return true;
  }

  std::vector<pollfd> listeners() const override {
    return {{listener_.number(), POLLIN, 0}, {node_listener_.number(), POLLIN, 0}};
  }
  void serve_rank() override {
    while (Descriptor connection = accept_own_user(listener_)) {
      const std::string line = receive_line(connection, request_milliseconds);
      take(std::move(connection), line);
    }
    while (Descriptor connection = accept_from_node(node_listener_)) {
      const std::string line = receive_line(connection, request_milliseconds);
      if (line.starts_with(secret_ + " "))
        take(std::move(connection), line.substr(secret_.size() + 1));
    }
  }

  // Requests that need the other ranks' answers are done later, because these may ask this rank.
  void take(Descriptor connection, const std::string& line) {
    const std::string word = line.substr(0, line.find(' '));
    const std::string cause = word.size() < line.size() ? line.substr(word.size() + 1) : "";
    if (is_one_of(word, {ask_table, ask_json, ask_node, ask_sure_node, ask_print, ask_print_now,
                         ask_print_if_awaited, ask_watch, ask_place, ask_sure_place, ask_source}))
      send_text(connection, std::string(is_there));
    if (word == ask_watch) {
      watchers_.push_back(std::move(connection));
    } else if (is_one_of(word, {ask_place, ask_sure_place})) {
      if (word == ask_sure_place) tracking_.become_sure();
      send_text(connection, json_text(json_of(own_places())));
    } else if (word == ask_source) {
      send_text(connection, source_of(std::strtoull(cause.c_str(), nullptr, 10)).text());
    } else if (!word.empty()) {
      due_.push_back({word, cause, std::move(connection)});
    }
  }

  void serve_due() {
    for (const Due& due : std::exchange(due_, {})) serve(due);
  }
  void serve_node() override {
    for (Due& due : std::exchange(due_, {})) {
      if (is_one_of(due.word, {ask_node, ask_sure_node}))
        serve(due);
      else
        due_.push_back(std::move(due));
    }
  }

  void serve(const Due& due) {
    if (due.word == ask_node) {
      send_text(due.connection, json_text(json_of(ranks_of_job_.gather_here(false, this))));
    } else if (due.word == ask_sure_node) {
      tracking_.become_sure();
      send_text(due.connection, json_text(json_of(ranks_of_job_.gather_here(true, this))));
    } else if (due.word == ask_table) {
      send_text(due.connection,
                table_text(ranks_of_job_.gather(false, this), ranks_, due.cause + whose_));
    } else if (due.word == ask_json) {
      send_text(due.connection, table_json(ranks_of_job_.gather(false, this), ranks_,
                                           due.cause + whose_, printed_after_limit_));
    } else {
      print(due);
    }
  }

  static Json json_of(const std::vector<Place>& places) {
    Json all = Json::array();
    for (const Place& place : places) all.push_back(roll::json_of(place));
    return all;
  }

  static std::string request(std::string_view word, const std::string& cause) {
    return std::string(word) + (cause.empty() ? "" : " " + cause);
  }

  std::vector<Place> own_places() override {
    std::vector<Place> places = tracking_.places();
    for (Place& place : places) add_object(&place);
    return places;
  }
  std::string note_of_ended(int rank) const override {
    for (const Watched& one : watched_)
      if (one.rank == rank) return one.said_bye ? "after MPI_Finalize" : "without MPI_Finalize";
    return {};
  }
  bool is_taken(Inquiry* inquiry) { return Gathering::is_taken(inquiry, this); }

  bool goes_on(const std::vector<Place>& places) const {
    return std::any_of(places.begin(), places.end(), [](const Place& place) {
      return (place.doing == Doing::mpi || place.doing == Doing::computes) &&
             place.seconds < options().stall_seconds / 2.0;
    });
  }

  static std::string key_of(const std::vector<Place>& places) {
    std::string key;
    for (const Place& place : places) key += std::to_string(place.rank) + place.mark() + "\n";
    return key;
  }

  // A rank has found a fault in a call, and others may not have come to that call yet: on a loaded
  // machine they wait for a core. So all are asked until they stay in calls of MPI. A rank that
  // computes for long gets no more time than that, and none after a rank has ended: then launchers
  // soon end the others.
  std::vector<Place> gather_arrived() {
    const auto end = Clock::now() + longest_to_arrive;
    for (std::string before;;) {
      usleep(microseconds_to_arrive);
      std::vector<Place> places = ranks_of_job_.gather(false, this);
      const auto any = [&](Doing doing) {
        return std::any_of(places.begin(), places.end(),
                           [=](const Place& place) { return place.doing == doing; });
      };
      std::string key = key_of(places);
      const bool have_arrived = !any(Doing::computes) && key == before;
      if (have_arrived || any(Doing::ended) || Clock::now() >= end) return places;
      before = std::move(key);
    }
  }

  // On crowded cores a rank may not answer in time once.
  std::vector<Place> gather_surely() {
    std::vector<Place> places;
    for (int i = 0; i < most_gatherings; ++i) {
      places = ranks_of_job_.gather(true, this);
      if (std::none_of(places.begin(), places.end(), [](const Place& place) {
            return place.doing == Doing::silent && place.note.empty();
          }))
        break;
    }
    return places;
  }

  void print(const Due& due) {
    const bool at_once = due.word != ask_print;
    if (at_once && Clock::now() < printed_ + time_between_tables) return;
    for (size_t node = 0; node < ranks_of_job_.own_node(); ++node) {
      Inquiry first(ranks_of_job_.doors_of(ranks_of_job_.nodes()[node]),
                    request(due.word, due.cause));
      if (is_taken(&first)) return;
    }
    const std::vector<Place> places = at_once ? gather_arrived() : gather_surely();
    if (!at_once && goes_on(places)) return;
    if (due.word == ask_print_if_awaited &&
        std::none_of(places.begin(), places.end(),
                     [](const Place& place) { return place.doing == Doing::mpi; }))
      return;
    const std::string key = key_of(places);
    if (std::exchange(printed_key_, key) == key) return;
    const std::string text = table_text(places, ranks_, due.cause + whose_);
    (void)!write(STDERR_FILENO, text.data(), text.size());
    printed_ = Clock::now();
    if (!at_once) note_printed(places);
  }

  // How late the table came: since the first rank has waited for the limit.
  void note_printed(const std::vector<Place>& places) {
    double longest = 0;
    for (const Place& place : places)
      if (place.doing == Doing::mpi) longest = std::max(longest, place.seconds);
    printed_after_limit_ = longest - options().stall_seconds;
  }

  // The next rank of this node, round and round. A node's first rank watches that of the next node.
  void begin_watching() {
    const std::vector<int>& here = ranks_of_job_.here();
    const auto& nodes = ranks_of_job_.nodes();
    const auto next = std::upper_bound(here.begin(), here.end(), rank_);
    if (here.size() > 1) watched_.push_back({next == here.end() ? here.front() : *next});
    if (rank_ == here.front() && nodes.size() > 1)
      watched_.push_back({nodes[(ranks_of_job_.own_node() + 1) % nodes.size()].front()});
  }

  void watch_others() {
    for (Watched& one : watched_) {
      if (one.connection || one.has_ended) continue;
      Inquiry inquiry(ranks_of_job_.doors_of({one.rank}), std::string(ask_watch));
      if (!is_taken(&inquiry)) continue;
      std::string text;
      std::tie(one.connection, text) = inquiry.release();
      note_farewell(&one, text);
    }
  }

  static void note_farewell(Watched* one, const std::string& text) {
    one->said_bye = one->said_bye || text.starts_with("bye");
  }

  void hear(Watched* one) {
    std::string text;
    const bool is_connected = receive_more(one->connection, &text);
    note_farewell(one, text);
    if (is_connected) return;
    one->connection.close();
    one->has_ended = true;
    if (one->said_bye || ends_ill_) return;
    // Programs may end without MPI_Finalize at all ranks; then nobody waits.
    const Place before = place_of(getpid());
    usleep(100'000);
    const Place place = place_of(getpid());
    if (!ends_ill_ && place.doing == Doing::mpi && place.stays_at(before))
      call_for_print(ask_print_now,
                     "rank " + std::to_string(one->rank) + " has ended without MPI_Finalize");
  }

  // The lowest rank that answers prints, so that one rank does.
  void call_for_print(std::string_view word, const std::string& cause) {
    const std::vector<int>& here = ranks_of_job_.here();
    const std::vector<int> lower(here.begin(), std::find(here.begin(), here.end(), rank_));
    Inquiry inquiry(ranks_of_job_.doors_of(lower), request(word, cause));
    if (is_taken(&inquiry)) return;
    due_.push_back({std::string(word), cause, {}});
  }

  void look() {
    watch_others();
    if (!tracking_.look()) {
      called_ = false;
      return;
    }
    // Others may go on at first, so this rank asks again.
    if (called_ && ++looks_since_called_ < looks_before_next_call) return;
    if (!tracking_.stays()) return;
    called_ = true;
    looks_since_called_ = 0;
    call_for_print(ask_print, "no progress for " + std::to_string(options().stall_seconds) + " s");
  }

  const int rank_, ranks_;
  Gathering ranks_of_job_;
  Tracking tracking_;
  const std::string whose_, cause_of_exit_;
  pthread_t thread_{};
  Descriptor listener_, node_listener_, ends_;
  std::string secret_;
  std::vector<Watched> watched_;
  std::atomic<bool> ends_ill_{false};
  std::vector<Descriptor> watchers_;  // connections of ranks that watch this one
  std::vector<Due> due_;
  Clock::time_point printed_{};
  std::optional<double> printed_after_limit_;  // the last table that no progress has caused
  std::string printed_key_;
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

void begin_roll(int rank, int ranks, std::vector<int> here, int64_t spawned,
                const Exchange& exchange) {
  const bool runs = watchdog != nullptr;
  auto made = std::make_unique<Watchdog>(rank, ranks, std::move(here), spawned);
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
