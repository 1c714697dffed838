#include "fft_options.h"

#include <stdio.h>

#include "fft_published.h"
#include "options.h"

Options fft_options(int argc, char** argv) {
  static const char* const classes[] = {"S", "W", "A"};
  long published = -1, size[3] = {64, 64, 64}, grid[2] = {0, 0}, slices = 0, ahead = 0;
  long iterations = published_iterations, overlapped = 0;
  const Option options[] = {
      {"--class", &published, 0, published_count - 1, "instead of --size: of NAS", 1, classes},
      {"--size", size, 1, 1 << 14, "elements in each direction", 3, NULL},
      {"--iterations", &iterations, 1, most_iterations, "iterations", 1, NULL},
      {"--grid", grid, 1, 1 << 14, "ranks in each direction of pencils", 2, NULL},
      {"--blocking", &overlapped, 0, 0, "transposes by MPI_Alltoall (the default)", 1, NULL},
      {"--overlap", &overlapped, 1, 1, "transposes in slices, by MPI_Ialltoall", 1, NULL},
      {"--slices", &slices, 1, 1024, "slices of --overlap", 1, NULL},
      {"--ahead", &ahead, 0, most_ahead, "iterations that are begun before one is over", 1, NULL},
  };
  options_read("fft", "Solves a partial differential equation by Fourier transforms.", argc, argv,
               options, sizeof options / sizeof *options);
  if (slices > 0 && !overlapped) options_refuse("fft", "--slices needs --overlap");
  if (ahead > 0 && !overlapped) options_refuse("fft", "--ahead needs --overlap");
  for (int i = 0; published >= 0 && i < 3; ++i) size[i] = published_classes[published].size[i];
  if (slices == 0) slices = 4;
  return (Options){.iterations = (int)iterations,
                   .ahead = (int)ahead,
                   .shape = {.nx = (int)size[0],
                             .ny = (int)size[1],
                             .nz = (int)size[2],
                             .px = (int)grid[0],
                             .py = (int)grid[1],
                             .slices = overlapped ? (int)slices : 1,
                             .overlapped = (int)overlapped}};
}

const char* fft_divide(Shape* s, int ranks) {
  static char complaint[160];
  if (s->px == 0) s->px = 1, s->py = ranks;
  if ((long long)s->px * s->py != ranks)
    snprintf(complaint, sizeof complaint, "--grid %d %d needs %lld ranks, and there are %d", s->px,
             s->py, (long long)s->px * s->py, ranks);
  else if (s->px > s->nx || s->px > s->ny || s->py > s->ny || s->py > s->nz)
    snprintf(complaint, sizeof complaint,
             "%d x %d ranks are too many for %d x %d x %d: PX is at most NX and NY, PY at most NY "
             "and NZ (--grid)",
             s->px, s->py, s->nx, s->ny, s->nz);
  else
    return NULL;
  return complaint;
}
