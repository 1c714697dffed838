#include "late.h"

#include <sched.h>

enum { tag_late = 4, tag_taken };

typedef struct {
  size_t bytes;
  double round_trip;
} Late;

/* Here the first rank receives, because it takes the times. */
static double receive_late(Link* link, const void* what) {
  const Late* late = what;
  if (link->self == 1) {
    link_await(link);
    MPI_Send(link->out, (int)late->bytes, MPI_BYTE, 0, tag_late, link->comm);
    return 0;
  }
  MPI_Request request;
  const uint64_t began = bench_now(&link->clock);
  MPI_Irecv(link->in, (int)late->bytes, MPI_BYTE, 1, tag_late, link->comm, &request);
  const uint64_t posted = bench_now(&link->clock);
  link_tell(link);
  link_let_pass(link, 2 * late->round_trip + 20e-6);
  const uint64_t here = bench_now(&link->clock);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return link_seconds(link, posted - began + bench_now(&link->clock) - here);
}

double late_receive_overhead(Link* link, size_t bytes) {
  const Late late = {bytes, link_round_trip(link, bytes)};
  return link_typical(link, receive_late, &late);
}

/* The seconds until the send has completed. */
static double send_to_late(Link* link, size_t bytes) {
  const uint64_t began = bench_now(&link->clock);
  MPI_Request request;
  int done = 0;
  MPI_Isend(link->out, (int)bytes, MPI_BYTE, 1, tag_late, link->comm, &request);
  for (;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) break;
    sched_yield(); /* as link_let_pass does */
  }
  return link_seconds(link, bench_now(&link->clock) - began);
}

/* A message of which it is asked whether it waits; seconds. */
typedef struct {
  size_t bytes;
  double round_trip; /* if its receiver waits for it */
  double here;       /* the longest that receiving it takes if it is there */
} Message;

/* One message to a receiver that comes late. At the first rank: true if it did not wait. */
static bool does_not_wait(Link* link, const Message* message) {
  const double late = 2 * message->round_trip + 200e-6;
  const int count = (int)message->bytes;
  double taken = 0;
  if (link->self == 1) {
    link_tell(link);
    link_let_pass(link, late);
    const uint64_t began = bench_now(&link->clock);
    MPI_Recv(link->in, count, MPI_BYTE, 0, tag_late, link->comm, MPI_STATUS_IGNORE);
    taken = link_seconds(link, bench_now(&link->clock) - began);
    MPI_Send(&taken, 1, MPI_DOUBLE, 0, tag_taken, link->comm);
    return false;
  }
  link_await(link);
  const double completed = send_to_late(link, message->bytes);
  MPI_Recv(&taken, 1, MPI_DOUBLE, 1, tag_taken, link->comm, MPI_STATUS_IGNORE);
  return completed < late / 2 || taken < message->here;
}

/* Two of six: other programs can make a message look as if it waited. Known to both ranks. */
static bool is_prompt(Link* link, const Message* message) {
  int prompt = 0;
  for (int i = 0; i < 6 && prompt < 2; ++i) {
    prompt += does_not_wait(link, message);
    MPI_Bcast(&prompt, 1, MPI_INT, 0, link->comm);
  }
  return prompt == 2;
}

/* A message that waits takes two latencies and the time of its bytes from the post on: two thirds
 * or more of its way to a receiver that came before it, which takes three latencies and its bytes.
 * A message that is there takes what receiving a short one does, and little more for its bytes. So
 * half of that way tells the two apart. */
static Message message_of(Link* link, size_t bytes, double* receiving) {
  enum { surely_short = 8192 };
  Link hurried = *link;
  hurried.budget = link->budget / 8;
  hurried.fewest = 3;
  const double round_trip = link_round_trip(&hurried, bytes);
  if (bytes <= surely_short) *receiving = late_receive_overhead(&hurried, bytes);
  return (Message){bytes, round_trip, *receiving + round_trip / 4};
}

size_t late_prompt_bytes(Link* link, double seconds, bool* limited) {
  enum { first = 256, near_enough = 64 };
  size_t prompt = 0, waits = 0;
  double receiving = 0, shortest = 0;
  for (size_t bytes = first; waits == 0 && bytes <= link_most_bytes; bytes *= 2) {
    const Message message = message_of(link, bytes, &receiving);
    if (bytes == first) shortest = message.round_trip;
    if (message.round_trip > shortest + 2 * seconds) break;
    if (is_prompt(link, &message))
      prompt = bytes;
    else
      waits = bytes;
  }
  *limited = waits == 0;
  while (waits > prompt + near_enough) {
    const Message message = message_of(link, prompt + (waits - prompt) / 2, &receiving);
    if (is_prompt(link, &message))
      prompt = message.bytes;
    else
      waits = message.bytes;
  }
  return prompt;
}
