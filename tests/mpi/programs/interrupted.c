// System calls in which a program waits, none of which may end early or by EINTR because somebody
// asks where the ranks are.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static const double seconds = 0.3;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static struct timespec in(double length) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  long nanoseconds = time.tv_nsec + (long)(length * 1e9);
  time.tv_sec += nanoseconds / 1000000000;
  time.tv_nsec = nanoseconds % 1000000000;
  return time;
}

// A thread that enters a call between a look at it and the signal may see the call end early. So
// some may, which is far fewer than the looks at this program.
enum { most_early = 2 };
static int early = 0;

#define LASTS(call, expected, expected_errno)                                                  \
  do {                                                                                         \
    double begin = now();                                                                      \
    errno = 0;                                                                                 \
    long result = (long)(call);                                                                \
    if (result != (expected) || ((expected) == -1 && errno != (expected_errno)) ||             \
        now() - begin < 0.95 * seconds) {                                                      \
      fprintf(stderr, "rank %d: %s returned %ld, errno %d, after %.3f s\n", world_rank, #call, \
              result, errno, now() - begin);                                                   \
      ++early;                                                                                 \
    }                                                                                          \
  } while (0)

int main(int argc, char** argv) {
  start(&argc, &argv);
  const struct timespec length = {0, (long)(seconds * 1e9)};
  int ends[2], pair[2], status = 0;
  char byte = 0;
  sem_t semaphore;
  sigset_t set;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  CHECK(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "no pipe");
  sem_init(&semaphore, 0, 0);
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  const int epoll = epoll_create1(0);
  const struct timeval receive = {0, (long)(seconds * 1e6)};
  setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &receive, sizeof receive);
  {
    LASTS(nanosleep(&length, NULL), 0, 0);
    LASTS(clock_nanosleep(CLOCK_MONOTONIC, 0, &length, NULL), 0, 0);
    LASTS(usleep((useconds_t)(seconds * 1e6)), 0, 0);
    struct pollfd polled = {ends[0], POLLIN, 0};
    LASTS(poll(&polled, 1, (int)(seconds * 1e3)), 0, 0);
    LASTS(ppoll(&polled, 1, &length, NULL), 0, 0);
    fd_set files;
    FD_ZERO(&files);
    FD_SET(ends[0], &files);
    struct timeval limit = receive;
    LASTS(select(ends[0] + 1, &files, NULL, NULL, &limit), 0, 0);
    struct epoll_event event;
    LASTS(epoll_wait(epoll, &event, 1, (int)(seconds * 1e3)), 0, 0);
    struct timespec until = in(seconds);
    LASTS(sem_timedwait(&semaphore, &until), -1, ETIMEDOUT);
    pthread_mutex_lock(&mutex);
    until = in(seconds);
    LASTS(pthread_cond_timedwait(&condition, &mutex, &until), ETIMEDOUT, 0);
    pthread_mutex_unlock(&mutex);
    LASTS(sigtimedwait(&set, NULL, &length), -1, EAGAIN);
    LASTS(recv(pair[0], &byte, 1, 0), -1, EAGAIN);
    const pid_t child = fork();
    if (child == 0) {
      usleep((useconds_t)(seconds * 1e6));
      (void)!write(ends[1], &byte, 1);
      usleep((useconds_t)(seconds * 1e6));
      _exit(3);
    }
    LASTS(read(ends[0], &byte, 1), 1, 0);
    LASTS(waitpid(child, &status, 0), child, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3, "status %d", status);
  }
  CHECK(early <= most_early, "%d calls ended early", early);
  return finish();
}
