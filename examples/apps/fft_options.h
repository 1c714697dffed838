/* The command line of fft. */
#ifndef FFT_OPTIONS_H
#define FFT_OPTIONS_H

#include "fft_grid.h"

enum { most_iterations = 100, most_ahead = 8 };

typedef struct {
  Shape shape;
  int iterations;
  int ahead; /* how many further iterations have begun while one is finished */
} Options;

/* Reads the command line, or ends the program. */
Options fft_options(int argc, char** argv);

/* Divides the array among the ranks; without --grid, all ranks are a column: slabs. Returns NULL,
 * or a message if the ranks do not fit. */
const char* fft_divide(Shape* shape, int ranks);

#endif
