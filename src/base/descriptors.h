// Tutti's own file descriptors have high numbers, because programs close or count the low ones.
// Any thread.
#pragma once

#include <utility>

namespace tutti {

// Gives a descriptor a high number and returns it, or the old number if the limit of descriptors
// allows no high one. The new descriptor is closed by exec.
int move_high(int descriptor);
bool is_high(int descriptor);

// Owns a descriptor and closes it.
class Descriptor {
 public:
  Descriptor() = default;
  // Takes what the system has just given, and gives it a high number. Negative: there is none.
  explicit Descriptor(int made) : number_(made < 0 ? -1 : move_high(made)) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  void close();
  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }  // -1: there is none

 private:
  int number_ = -1;
};

// Makes the system's table of this process's descriptors large enough for high numbers. Call it
// while the process has one thread: with several threads, which some MPIs start, the system waits
// for an RCU grace period, which took 25 ms of every MPI_Init.
void make_room_for_high_descriptors();

}  // namespace tutti
