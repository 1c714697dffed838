// Blocks all signals of the calling thread as long as the object lives. Threads and processes that
// the thread starts meanwhile begin with all signals blocked.
#pragma once

#include <csignal>
#include <pthread.h>

namespace tutti {

class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace tutti
