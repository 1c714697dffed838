! Communicators made through an interface of MPI (-DMPIF, -DUSE_MPI or -DUSE_F08), whose first call
! is a non-blocking one.
program first_calls
#if defined(USE_F08)
  use mpi_f08
  implicit none
  type(MPI_Comm) :: made, child
  type(MPI_Group) :: group
  type(MPI_Request) :: request
#elif defined(USE_MPI)
  use mpi
  implicit none
  integer :: made, child, group, request
#else
  implicit none
  include 'mpif.h'
  integer :: made, child, group, request
#endif
  integer :: way, rank, ranks, error
  integer, asynchronous :: own, total

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  do way = 1, 20
    select case (mod(way, 5))
    case (0)
      call MPI_Comm_dup(MPI_COMM_WORLD, made, error)
    case (1)
      call MPI_Comm_split(MPI_COMM_WORLD, 0, rank, made, error)
    case (2)
      call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., made, error)
    case (3)
      call MPI_Comm_idup(MPI_COMM_WORLD, made, request, error)
      call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    case default
      call MPI_Comm_group(MPI_COMM_WORLD, group, error)
      call MPI_Comm_create_group(MPI_COMM_WORLD, group, 3, made, error)
      call MPI_Group_free(group, error)
    end select
    own = rank + way
    call MPI_Iallreduce(own, total, 1, MPI_INTEGER, MPI_SUM, made, request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call check(total == ranks * (ranks - 1) / 2 + ranks * way, way)
    call MPI_Comm_dup(made, child, error)
    call MPI_Comm_free(made, error)
    call MPI_Ibarrier(child, request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call MPI_Comm_free(child, error)
  end do
  if (rank == 0) print '(a)', 'ok'
  call MPI_Finalize(error)
contains
  subroutine check(condition, where)
    logical, intent(in) :: condition
    integer, intent(in) :: where
    if (condition) return
    print '(a, i0, a, i0)', 'rank ', rank, ' failed in round ', where
    call MPI_Abort(MPI_COMM_WORLD, 3, error)
  end subroutine
end program
