! Rank 1 ends the job by MPI_Abort, called through each Fortran interface of MPI.
program aborted
#if defined(USE_F08)
  use mpi_f08
  implicit none
#elif defined(USE_MPI)
  use mpi
  implicit none
#else
  implicit none
  include 'mpif.h'
#endif
  integer :: i, rank, error
  double precision :: one, total
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  one = 1
  do i = 1, 25
    call MPI_Allreduce(one, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  end do
  if (rank == 1) call MPI_Abort(MPI_COMM_WORLD, 7, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call sleep(20)
end program
