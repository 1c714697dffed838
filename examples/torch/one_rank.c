/* Times of an allreduce of 8 bytes in a team of one process, by the C API: one_rank DIRECTORY.
 * one_rank.py compiles and runs it. */
#include <stdio.h>
#include <time.h>
#include <tutti/tutti.h>

enum { repetitions = 60, calls = 2000 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
  tutti_store* store;
  tutti_team* team;
  tutti_group* group;
  float numbers[2] = {1, 1};
  double least = 1e9;
  if (argc != 2) return 2;
  if (tutti_store_open(argv[1], 0, 1, &store) != TUTTI_OK ||
      tutti_team_create_by(store, "one rank", 0, 1, 10, &team) != TUTTI_OK ||
      tutti_team_join(team, 0, &group) != TUTTI_OK) {
    fprintf(stderr, "one_rank: %s\n", tutti_error_message());
    return 1;
  }
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    const double began = now();
    for (int call = 0; call < calls; ++call) {
      tutti_request* request;
      tutti_iallreduce(group, numbers, numbers, 2, TUTTI_FLOAT32, TUTTI_SUM, &request);
      tutti_request_wait(&request, 10);
    }
    const double took = (now() - began) / calls;
    if (took < least) least = took;
  }
  printf("%.2f\n", least * 1e6);
  return 0;
}
