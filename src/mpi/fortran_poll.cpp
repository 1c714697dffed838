// The Fortran entry points of the polls (poll.h): the library's own routine, asked again. Which of
// them would pass the C entry points by is told in fortran.cpp.
#include "mpi/fortran.h"
#include "mpi/poll.h"

using namespace tutti;

namespace {

// A Fortran routine and its arguments, all by reference; a logical is false where it is 0.
template <class... Arguments>
void look_again_in_fortran(const char* name, const int* flag, int* error, Arguments*... arguments) {
  using Routine = void (*)(Arguments*..., int*);
  const auto routine = mpi::fortran::next_definition<Routine>(name);
  int code = MPI_ERR_OTHER;
  if (routine != nullptr) {
    code = mpi::look_again(flag, [&] {
      int said = MPI_SUCCESS;
      routine(arguments..., &said);
      return said;
    });
  }
  if (error != nullptr) *error = code;
}

}  // namespace

#define TUTTI_POLLS(iprobe, improbe, win_test)                                                     \
  TUTTI_ENTRY void iprobe(int* source, int* tag, int* comm, int* flag, void* status, int* error) { \
    look_again_in_fortran(#iprobe, flag, error, source, tag, comm, flag, status);                  \
  }                                                                                                \
  TUTTI_ENTRY void improbe(int* source, int* tag, int* comm, int* flag, int* message,              \
                           void* status, int* error) {                                             \
    look_again_in_fortran(#improbe, flag, error, source, tag, comm, flag, message, status);        \
  }                                                                                                \
  TUTTI_ENTRY void win_test(int* window, int* flag, int* error) {                                  \
    look_again_in_fortran(#win_test, flag, error, window, flag);                                   \
  }

TUTTI_POLLS(mpi_iprobe_f08_, mpi_improbe_f08_, mpi_win_test_f08_)

#if defined(TUTTI_ABI_OPENMPI)

TUTTI_POLLS(mpi_iprobe_, mpi_improbe_, mpi_win_test_)

extern "C" {
void MPI_IPROBE(int*, int*, int*, int*, void*, int*) TUTTI_SAME_AS("mpi_iprobe_");
void mpi_iprobe(int*, int*, int*, int*, void*, int*) TUTTI_SAME_AS("mpi_iprobe_");
void mpi_iprobe__(int*, int*, int*, int*, void*, int*) TUTTI_SAME_AS("mpi_iprobe_");
void MPI_IMPROBE(int*, int*, int*, int*, int*, void*, int*) TUTTI_SAME_AS("mpi_improbe_");
void mpi_improbe(int*, int*, int*, int*, int*, void*, int*) TUTTI_SAME_AS("mpi_improbe_");
void mpi_improbe__(int*, int*, int*, int*, int*, void*, int*) TUTTI_SAME_AS("mpi_improbe_");
void MPI_WIN_TEST(int*, int*, int*) TUTTI_SAME_AS("mpi_win_test_");
void mpi_win_test(int*, int*, int*) TUTTI_SAME_AS("mpi_win_test_");
void mpi_win_test__(int*, int*, int*) TUTTI_SAME_AS("mpi_win_test_");
}

#endif
