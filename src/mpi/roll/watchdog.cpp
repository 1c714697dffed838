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
#include <functional>
#include <map>
#include <memory>
#include <string>
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
constexpr auto longest_gathering = milliseconds(900);
constexpr double suspicious = 0.25;  // the part of the limit after which a call is watched
constexpr useconds_t microseconds_to_arrive = 50'000;  // for ranks that are a little behind
constexpr int request_milliseconds = 100;              // a request is sent with the connection
constexpr int agreed_milliseconds = 600;
constexpr int printed_milliseconds = 2000;

// The first words of requests; a cause follows some. A table is printed if no rank goes on, at
// once, or if a rank is in a call of MPI.
constexpr std::string_view ask_place = "place", ask_table = "table", ask_json = "json",
                           ask_sure_place = "sure", ask_watch = "watch", ask_print = "print",
                           ask_print_now = "now", ask_print_if_awaited = "awaited";

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
    for (const int file : {listener_, ends_, neighbour_})
      if (file >= 0) close(file);
    for (const int watcher : watchers_) close(watcher);
  }
  Watchdog(const Watchdog&) = delete;

  const char* cause_of_exit() const { return cause_of_exit_.c_str(); }
  // True if a fault of this rank was told.
  bool ends_ill() const { return ends_ill_; }

  bool start() {
    listener_ = listen_as(job_, rank_, ranks_);
    ends_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (listener_ < 0 || ends_ < 0) return false;
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
  // For the program's thread, which has found a fault: prints the table, unless that was just done.
  void print_now(std::string_view word, const std::string& cause) {
    ends_ill_ = true;
    for (const int rank : here_)
      if (request_print(rank, word, cause, printed_milliseconds) != Reply::none) return;
  }

 private:
  // A thread, and since when it has been at one place.
  struct Tracked {
    std::string mark;
    double seconds = 0;
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
        due_.clear();
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
    pollfd files[] = {{ends_, POLLIN, 0}, {listener_, POLLIN, 0}, {neighbour_, POLLIN, 0}};
    poll(files, 3, milliseconds_left);
    if (files[0].revents != 0) return false;
    if (files[1].revents != 0) accept_all();
    if (files[2].revents != 0) hear_neighbour();
    if (limit > 0 && Clock::now() >= last_look_ + interval()) look();
    return true;
  }

  // Requests that need the other ranks' answers are done later, because these may ask this rank.
  void accept_all() {
    for (int connection; (connection = accept_own_user(listener_)) >= 0;) {
      bool in_time = false;
      const std::string line = receive_line(connection, request_milliseconds, &in_time);
      const std::string word = line.substr(0, line.find(' '));
      const std::string cause = word.size() < line.size() ? line.substr(word.size() + 1) : "";
      if (word == ask_watch) {
        watchers_.push_back(connection);
        continue;
      }
      if (word == ask_place || word == ask_sure_place) {
        if (word == ask_sure_place) become_sure();
        send_text(connection, json_text(own_places()));
      } else if (word == ask_print) {
        send_text(connection, "ok\n");
        due_.push_back({word, cause, -1});
      } else if (word == ask_table || word == ask_json || word == ask_print_now ||
                 word == ask_print_if_awaited) {
        due_.push_back({word, cause, connection});
        continue;
      }
      close(connection);
    }
  }

  void serve_due() {
    for (const Due& due : std::exchange(due_, {})) {
      if (due.word == ask_table || due.word == ask_json) {
        const std::vector<Place> places = gather();
        send_text(due.connection, due.word == ask_json ? table_json(places, ranks_, due.cause)
                                                       : table_text(places, ranks_, due.cause));
      } else {
        print(due);
        if (due.connection >= 0) send_text(due.connection, "ok\n");
      }
      if (due.connection >= 0) close(due.connection);
    }
  }

  Json own_places() {
    Json all = Json::array();
    for (const Place& place : places_here()) all.push_back(json_of(place));
    return all;
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

  struct Asked {
    int rank;
    int connection;
    int64_t process;
    std::string text;
  };

  std::vector<Place> gather(std::string_view request = ask_place) {
    std::vector<Place> places;
    std::vector<Asked> asked;
    for (const int rank : here_) {
      if (rank == rank_) continue;
      int64_t process = 0;
      const int connection = connect_to(job_, rank, ranks_, &process);
      if (connection >= 0 && send_text(connection, std::string(request) + "\n")) {
        asked.push_back({rank, connection, process, {}});
        continue;
      }
      if (connection >= 0) close(connection);
      places.push_back(absent(rank, Doing::ended, 0));
    }
    for (Place& place : places_here()) places.push_back(std::move(place));
    const auto end = Clock::now() + longest_gathering;
    size_t open = asked.size();
    while (open > 0 && Clock::now() < end) {
      std::vector<pollfd> files{{listener_, POLLIN, 0}};
      std::vector<Asked*> waited;
      for (Asked& one : asked) {
        if (one.connection < 0) continue;
        files.push_back({one.connection, POLLIN, 0});
        waited.push_back(&one);
      }
      poll(files.data(), files.size(), 50);
      if (files[0].revents != 0) accept_all();
      for (size_t i = 0; i < waited.size(); ++i) {
        if (files[i + 1].revents == 0 || receive_more(waited[i]->connection, &waited[i]->text))
          continue;
        close(std::exchange(waited[i]->connection, -1));
        --open;
      }
    }
    for (const Asked& one : asked) add_answer(one, &places);
    std::sort(places.begin(), places.end(),
              [](const Place& a, const Place& b) { return a.rank < b.rank; });
    return places;
  }

  Place absent(int rank, Doing doing, int64_t process) const {
    Place place;
    place.rank = rank;
    place.process = process;
    place.doing = doing;
    if (doing == Doing::ended && rank == next_rank())
      place.note = neighbour_said_bye_ ? "after MPI_Finalize" : "without MPI_Finalize";
    return place;
  }

  void add_answer(const Asked& one, std::vector<Place>* places) const {
    if (one.connection >= 0) {
      close(one.connection);
      const bool is_stopped = process_is_stopped({one.process, start_of_process(one.process)});
      places->push_back(absent(one.rank, is_stopped ? Doing::stopped : Doing::silent, one.process));
      return;
    }
    const Json answer = Json::parse(one.text, nullptr, false);
    if (!answer.is_array() || answer.empty()) {
      places->push_back(absent(one.rank, Doing::ended, one.process));
      return;
    }
    for (const Json& place : answer) places->push_back(place_from(place));
  }

  struct Due {
    std::string word, cause;
    int connection;  // -1: none waits for the answer
  };

  bool goes_on(const std::vector<Place>& places) const {
    return std::any_of(places.begin(), places.end(), [](const Place& place) {
      return (place.doing == Doing::mpi || place.doing == Doing::computes) &&
             place.seconds < options().stall_seconds / 2.0;
    });
  }

  void print(const Due& due) {
    const bool at_once = due.word != ask_print;
    if (at_once && Clock::now() < printed_ + milliseconds(printed_milliseconds)) return;
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

  // The next rank of this node, round and round.
  int next_rank() const {
    const auto next = std::upper_bound(here_.begin(), here_.end(), rank_);
    return next == here_.end() ? here_.front() : *next;
  }

  // The connection ends with the neighbour's process, and is said farewell to if MPI has ended.
  void watch_neighbour() {
    if (neighbour_ >= 0 || neighbour_ended_ || here_.size() < 2) return;
    int64_t process = 0;
    neighbour_ = connect_to(job_, next_rank(), ranks_, &process);
    if (neighbour_ >= 0) send_text(neighbour_, std::string(ask_watch) + "\n");
  }

  void hear_neighbour() {
    std::string text;
    const bool is_there = receive_more(neighbour_, &text);
    neighbour_said_bye_ = neighbour_said_bye_ || text.starts_with("bye");
    if (is_there) return;
    close(std::exchange(neighbour_, -1));
    neighbour_ended_ = true;
    if (neighbour_said_bye_ || ends_ill_) return;
    // Programs may end without MPI_Finalize at all ranks; then nobody waits.
    const std::string before = place_of(getpid()).mark();
    usleep(100'000);
    const Place place = place_of(getpid());
    if (place.doing == Doing::mpi && place.mark() == before)
      call_for_print(ask_print_now,
                     "rank " + std::to_string(next_rank()) + " has ended without MPI_Finalize");
  }

  enum class Reply : uint8_t { none, ended, agreed };

  // `ended`: the rank has ended meanwhile, after it has printed for another one.
  Reply request_print(int rank, std::string_view word, const std::string& cause,
                      int milliseconds) const {
    int64_t process = 0;
    const int connection = connect_to(job_, rank, ranks_, &process);
    if (connection < 0) return Reply::none;
    Reply reply = Reply::none;
    if (send_text(connection, std::string(word) + " " + cause + "\n")) {
      bool in_time = false;
      const std::string line = receive_line(connection, milliseconds, &in_time);
      if (in_time) reply = line == "ok" ? Reply::agreed : Reply::ended;
    }
    close(connection);
    return reply;
  }

  // The lowest rank that answers prints, so that one rank does.
  void call_for_print(std::string_view word, const std::string& cause) {
    for (const int rank : here_)
      if (rank < rank_ &&
          request_print(rank, ask_print, cause, agreed_milliseconds) == Reply::agreed)
        return;
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
    watch_neighbour();
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
  int listener_ = -1, ends_ = -1;
  int neighbour_ = -1;  // the connection to the next rank
  std::atomic<bool> ends_ill_{false};
  bool neighbour_said_bye_ = false, neighbour_ended_ = false;
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

void begin_roll(int rank, int ranks, std::vector<int> here) {
  if (simulated || watchdog != nullptr) return;
  auto made = std::make_unique<Watchdog>(rank, ranks, std::move(here));
  if (!made->start()) {
    log_line(LogLevel::info, "no roll call: the system refuses a thread or a socket");
    return;
  }
  watchdog = made.release();
  made_by = getpid();
  call_the_roll = [](const char* cause) noexcept { tell(ask_print_now, cause); };
  static const bool noted = std::atexit(note_exit) == 0;
  (void)noted;
}

void expect_exit() { expects_exit = true; }

void end_roll() {
  if (!runs_here()) return;
  call_the_roll = nullptr;
  watchdog->stop();
  delete std::exchange(watchdog, nullptr);
}

}  // namespace tutti::mpi::roll
