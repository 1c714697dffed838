! A session that begins before MPI_Init, through one interface of MPI (MPIF, USE_MPI or USE_F08).
program sessions
#ifdef USE_F08
  use mpi_f08
  implicit none
  type(MPI_Session) :: session
  type(MPI_Group) :: group
  type(MPI_Comm) :: all
#else
#ifdef USE_MPI
  use mpi
  implicit none
#else
  implicit none
  include 'mpif.h'
#endif
  integer :: session, group, all
#endif
  integer :: i, one, total, ranks, rank, error

  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session, error)
  call MPI_Group_from_session_pset(session, 'mpi://WORLD', group, error)
  call MPI_Comm_create_from_group(group, 'tutti://fortran', MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, all, error)
  call MPI_Group_free(group, error)
  call MPI_Comm_size(all, ranks, error)
  call MPI_Comm_rank(all, rank, error)
  do i = 1, 50
    one = 1
    total = 0
    call MPI_Allreduce(one, total, 1, MPI_INTEGER, MPI_SUM, all, error)
    if (total /= ranks) stop 3
  end do
  call MPI_Init(error)
  call MPI_Finalize(error)
  call MPI_Comm_free(all, error)
  call MPI_Session_finalize(session, error)
  if (rank == 0) print '(a)', 'ok'
end program
