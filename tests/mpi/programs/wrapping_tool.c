// A tool that wraps the functions that take requests, as profilers do: each counts its call and
// calls the function by its PMPI_ name. Compiled as a library that is preloaded, or into a program
// (with -include). When the process ends, the tool says how many calls it has seen.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <mpi.h>
#include <stdio.h>

static int calls_of_tool;

__attribute__((destructor)) static void say_calls_of_tool(void) {
  fprintf(stderr, "the tool has seen %d calls\n", calls_of_tool);
}

#define WRAP(name, second_name, parameters, arguments) \
  int name parameters {                                \
    ++calls_of_tool;                                   \
    return second_name arguments;                      \
  }

WRAP(MPI_Wait, PMPI_Wait, (MPI_Request * request, MPI_Status* status), (request, status))
WRAP(MPI_Waitall, PMPI_Waitall, (int n, MPI_Request* requests, MPI_Status* statuses),
     (n, requests, statuses))
WRAP(MPI_Waitany, PMPI_Waitany, (int n, MPI_Request* requests, int* index, MPI_Status* status),
     (n, requests, index, status))
WRAP(MPI_Waitsome, PMPI_Waitsome,
     (int n, MPI_Request* requests, int* some, int* indices, MPI_Status* statuses),
     (n, requests, some, indices, statuses))
WRAP(MPI_Test, PMPI_Test, (MPI_Request * request, int* flag, MPI_Status* status),
     (request, flag, status))
WRAP(MPI_Testall, PMPI_Testall, (int n, MPI_Request* requests, int* flag, MPI_Status* statuses),
     (n, requests, flag, statuses))
WRAP(MPI_Testany, PMPI_Testany,
     (int n, MPI_Request* requests, int* index, int* flag, MPI_Status* status),
     (n, requests, index, flag, status))
WRAP(MPI_Testsome, PMPI_Testsome,
     (int n, MPI_Request* requests, int* some, int* indices, MPI_Status* statuses),
     (n, requests, some, indices, statuses))
WRAP(MPI_Request_get_status, PMPI_Request_get_status,
     (MPI_Request request, int* flag, MPI_Status* status), (request, flag, status))
WRAP(MPI_Request_free, PMPI_Request_free, (MPI_Request * request), (request))
WRAP(MPI_Cancel, PMPI_Cancel, (MPI_Request * request), (request))
WRAP(MPI_Start, PMPI_Start, (MPI_Request * request), (request))
WRAP(MPI_Startall, PMPI_Startall, (int n, MPI_Request* requests), (n, requests))
WRAP(MPI_Op_free, PMPI_Op_free, (MPI_Op * op), (op))
WRAP(MPI_Type_free, PMPI_Type_free, (MPI_Datatype * type), (type))

// Fortran's names, under which tools wrap the routines of programs in Fortran.
#ifdef FORTRAN
void pmpi_wait_(MPI_Fint* request, MPI_Fint* status, MPI_Fint* error);
void mpi_wait_(MPI_Fint* request, MPI_Fint* status, MPI_Fint* error) {
  ++calls_of_tool;
  pmpi_wait_(request, status, error);
}
void pmpi_waitall_(MPI_Fint* n, MPI_Fint* requests, MPI_Fint* statuses, MPI_Fint* error);
void mpi_waitall_(MPI_Fint* n, MPI_Fint* requests, MPI_Fint* statuses, MPI_Fint* error) {
  ++calls_of_tool;
  pmpi_waitall_(n, requests, statuses, error);
}
void pmpi_testsome_(MPI_Fint* n, MPI_Fint* requests, MPI_Fint* some, MPI_Fint* indices,
                    MPI_Fint* statuses, MPI_Fint* error);
void mpi_testsome_(MPI_Fint* n, MPI_Fint* requests, MPI_Fint* some, MPI_Fint* indices,
                   MPI_Fint* statuses, MPI_Fint* error) {
  ++calls_of_tool;
  pmpi_testsome_(n, requests, some, indices, statuses, error);
}
#endif
