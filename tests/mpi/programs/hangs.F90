! Programs in Fortran that hang, each by one mistake of the last rank (see hangs.c).
program hangs
  use mpi
  implicit none
  integer :: rank, ranks, last, error, values(8), sums(8), i
  logical :: goes_on
  character(len=32) :: name

  call get_command_argument(1, name)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  last = ranks - 1
  values = 1
  do i = 1, 9
    call MPI_Allreduce(values, sums, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  end do
  select case (name)
  case ("skipped_barrier")
    if (rank /= last) call MPI_Barrier(MPI_COMM_WORLD, error)
    call MPI_Allreduce(values, sums, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error) ! mark skipped_barrier
  case ("other_count")
    i = merge(8, 4, rank == last)
    call MPI_Allreduce(values, sums, i, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error) ! mark other_count
  case ("wrong_tag")
    if (rank == 0) call MPI_Send(values, 1, MPI_INTEGER, last, 1, MPI_COMM_WORLD, error)
    if (rank == last) then
      call MPI_Recv(values, 1, MPI_INTEGER, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error) ! mark wrong_tag
    end if
  case ("endless_loop")
    goes_on = rank == last
    do while (goes_on); values(2) = ieor(values(2), values(1)); end do ! mark endless_loop
  end select
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end program
