! Collectives in Fortran, each checked, for runs with tools that count calls. MPIF, USE_MPI or
! USE_F08 chooses the interface.
program under_tools
#if defined(USE_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#if defined(MPIF)
  include 'mpif.h'
#endif
#if defined(USE_F08)
  type(MPI_Request) :: request
#else
  integer :: request
#endif
  integer, parameter :: rounds = 150
  integer :: error, rank, ranks, round, own(2), sum(2), word(1)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  do round = 1, rounds
    own = [rank, round]
    call MPI_Allreduce(own, sum, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    if (any(sum /= [ranks * (ranks - 1) / 2, ranks * round])) call give_up('allreduce')
    sum = [rank, round]
    call MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    if (any(sum /= [ranks * (ranks - 1) / 2, ranks * round])) call give_up('allreduce in place')
    word = -1
    if (rank == 0) word = round
    call MPI_Bcast(word, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    if (word(1) /= round) call give_up('bcast')
    call MPI_Iallreduce(own, sum, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    if (sum(2) /= ranks * round) call give_up('iallreduce')
  end do
  call MPI_Barrier(MPI_COMM_WORLD, error)
  if (rank == 0) print '(a)', 'ok'
  call MPI_Finalize(error)

contains

  subroutine give_up(what)
    character(*), intent(in) :: what
    print '(2a)', what, ' is wrong'
    call MPI_Abort(MPI_COMM_WORLD, 3, error)
  end subroutine
end program
