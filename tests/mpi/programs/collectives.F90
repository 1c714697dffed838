! The collectives from Fortran, through one of its three interfaces: -DMPIF (mpif.h), -DUSE_MPI or
! -DUSE_F08.
program collectives
#if defined(USE_F08)
  use mpi_f08
  implicit none
  type(MPI_Comm) :: half
#elif defined(USE_MPI)
  use mpi
  implicit none
  integer :: half
#else
  implicit none
  include 'mpif.h'
  integer :: half
#endif
  integer :: rank, ranks, error, round, i
  integer :: numbers(5), sums(5)
  double precision :: values(300), results(300)
  complex :: z(2), z_sum(2)
  logical :: flags(3), all_flags(3), found
  integer, allocatable :: parts(:, :), gathered(:, :)
  integer :: part(3)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  do round = 1, 8
    numbers = [(rank + i * round, i = 1, 5)]
    call MPI_Allreduce(numbers, sums, 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call check(all(sums == [(ranks * (ranks - 1) / 2 + i * round * ranks, i = 1, 5)]), 1)

    sums = numbers
    call MPI_Allreduce(MPI_IN_PLACE, sums, 5, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, error)
    call check(all(sums == [(ranks - 1 + i * round, i = 1, 5)]), 2)

    values = dble(rank)
    results = -1
    call MPI_Reduce(values, results, 300, MPI_DOUBLE_PRECISION, MPI_SUM, mod(round, ranks), MPI_COMM_WORLD, error)
    if (rank == mod(round, ranks)) call check(all(results == dble(ranks * (ranks - 1) / 2)), 3)

    if (rank == 0) then
      call MPI_Reduce(MPI_IN_PLACE, values, 300, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, error)
      call check(all(values == dble(ranks - 1)), 4)
    else
      call MPI_Reduce(values, results, 300, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, error)
    end if

    values = merge(dble(round), -1d0, rank == ranks - 1)
    call MPI_Bcast(values, 300, MPI_DOUBLE_PRECISION, ranks - 1, MPI_COMM_WORLD, error)
    call check(all(values == dble(round)), 5)

    z = cmplx(rank, 1)
    call MPI_Allreduce(z, z_sum, 2, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD, error)
    call check(all(z_sum == cmplx(ranks * (ranks - 1) / 2, ranks)), 6)

    flags = [rank == 0, .true., .false.]
    call MPI_Allreduce(flags, all_flags, 3, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, error)
    call check((all_flags(1) .eqv. ranks == 1) .and. all_flags(2) .and. .not. all_flags(3), 7)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call check(error == MPI_SUCCESS, 8)
  end do

  allocate(parts(3, 0:ranks - 1), gathered(3, 0:ranks - 1))
  do round = 1, 8
    call try_parts(mod(round, ranks))
    call try_scans
    call try_v_collectives(mod(round, ranks))
  end do

  do round = 1, 20
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, error)
    do i = 1, 5
      numbers = 1
      call MPI_Allreduce(numbers, sums, 1, MPI_INTEGER, MPI_SUM, half, error)
      call check(sums(1) == (ranks + 1 - mod(rank, 2)) / 2, 9)
      call MPI_Barrier(half, error)
    end do
    call MPI_Comm_free(half, error)
  end do
  ! A message sent before a barrier is found by the first poll after it.
  do round = 1, 50
    found = .true.
    if (rank == 1) call MPI_Send(numbers, 5, MPI_INTEGER, 0, round, MPI_COMM_WORLD, error)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    if (rank == 0 .and. ranks > 1) then
      call MPI_Iprobe(1, round, MPI_COMM_WORLD, found, MPI_STATUS_IGNORE, error)
      call MPI_Recv(numbers, 5, MPI_INTEGER, 1, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    end if
    call check(found .and. error == MPI_SUCCESS, 10)
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
#if defined(USE_F08)
  call MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, found, MPI_STATUS_IGNORE)
  call check(.not. found, 11)
  call MPI_Barrier(MPI_COMM_WORLD)
#endif
  if (rank == 0) print '(a)', 'ok'
  call MPI_Finalize(error)

contains
  ! The part that rank `from` has for rank `to`.
  function part_of(from, to) result(values)
    integer, intent(in) :: from, to
    integer :: values(3), k
    values = [(from * 100 + to * 10 + k + round, k = 1, 3)]
  end function part_of

  subroutine try_parts(root)
    integer, intent(in) :: root
    integer :: other
    do other = 0, ranks - 1
      parts(:, other) = part_of(rank, other)
    end do
    gathered = -1
    call MPI_Alltoall(parts, 3, MPI_INTEGER, gathered, 3, MPI_INTEGER, MPI_COMM_WORLD, error)
    call check(all([(all(gathered(:, other) == part_of(other, rank)), other = 0, ranks - 1)]), 20)
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, parts, 3, MPI_INTEGER, MPI_COMM_WORLD, error)
    call check(all(parts == gathered), 21)

    part = part_of(rank, 0)
    gathered = -1
    call MPI_Allgather(part, 3, MPI_INTEGER, gathered, 3, MPI_INTEGER, MPI_COMM_WORLD, error)
    call check(all([(all(gathered(:, other) == part_of(other, 0)), other = 0, ranks - 1)]), 22)
    parts = -1
    parts(:, rank) = part
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, parts, 3, MPI_INTEGER, MPI_COMM_WORLD, error)
    call check(all(parts == gathered), 23)

    parts = -1
    call MPI_Gather(part, 3, MPI_INTEGER, parts, 3, MPI_INTEGER, root, MPI_COMM_WORLD, error)
    if (rank == root) call check(all(parts == gathered), 24)
    if (rank == root) then
      parts = -1
      parts(:, rank) = part
      call MPI_Gather(MPI_IN_PLACE, 3, MPI_INTEGER, parts, 3, MPI_INTEGER, root, MPI_COMM_WORLD, error)
      call check(all(parts == gathered), 25)
      call MPI_Scatter(parts, 3, MPI_INTEGER, MPI_IN_PLACE, 3, MPI_INTEGER, root, MPI_COMM_WORLD, error)
    else
      call MPI_Gather(part, 3, MPI_INTEGER, parts, 3, MPI_INTEGER, root, MPI_COMM_WORLD, error)
      part = -1
      call MPI_Scatter(parts, 3, MPI_INTEGER, part, 3, MPI_INTEGER, root, MPI_COMM_WORLD, error)
    end if
    call check(all(part == part_of(rank, 0)), 26)
    part = -1
    call MPI_Scatter(gathered, 3, MPI_INTEGER, part, 3, MPI_INTEGER, root, MPI_COMM_WORLD, error)
    call check(all(part == part_of(rank, 0)) .and. error == MPI_SUCCESS, 27)
  end subroutine try_parts

  ! Parts of one and two elements in turn, at distances of three elements.
  subroutine try_v_collectives(root)
    integer, intent(in) :: root
    integer :: other, counts(0:ranks - 1), places(0:ranks - 1), own
#if defined(USE_F08)
    type(MPI_Datatype) :: types(0:ranks - 1)
#else
    integer :: types(0:ranks - 1)
#endif
    counts = [(1 + mod(other, 2), other = 0, ranks - 1)]
    places = [(3 * other, other = 0, ranks - 1)]
    types = MPI_INTEGER
    own = counts(rank)
    part = part_of(rank, 0)
    parts = -1
    call MPI_Allgatherv(part, own, MPI_INTEGER, parts, counts, places, MPI_INTEGER, MPI_COMM_WORLD, error)
    do other = 0, ranks - 1
      gathered(:, other) = part_of(other, 0)
      gathered(counts(other) + 1:, other) = -1
    end do
    call check(all(parts == gathered), 40)
    parts = -1
    if (rank == root) then
      parts(:own, rank) = part(:own)
      call MPI_Gatherv(MPI_IN_PLACE, 0, MPI_INTEGER, parts, counts, places, MPI_INTEGER, root, MPI_COMM_WORLD, error)
      call check(all(parts == gathered), 41)
    else
      call MPI_Gatherv(part, own, MPI_INTEGER, parts, counts, places, MPI_INTEGER, root, MPI_COMM_WORLD, error)
    end if
    part = -1
    call MPI_Scatterv(gathered, counts, places, MPI_INTEGER, part, own, MPI_INTEGER, root, MPI_COMM_WORLD, error)
    call check(all(part == gathered(:, rank)), 42)
    ! All parts that a rank receives are as long as its own.
    do other = 0, ranks - 1
      parts(:, other) = part_of(rank, other)
    end do
    gathered = -1
    call MPI_Alltoallv(parts, counts, places, MPI_INTEGER, gathered, [(own, other = 1, ranks)], places, MPI_INTEGER, &
                       MPI_COMM_WORLD, error)
    do other = 0, ranks - 1
      part = part_of(other, rank)
      call check(all(gathered(:own, other) == part(:own)) .and. all(gathered(own + 1:, other) == -1), 43)
    end do
    call MPI_Alltoallw(gathered, [(own, other = 1, ranks)], 4 * places, types, parts, counts, 4 * places, types, &
                       MPI_COMM_WORLD, error)
    do other = 0, ranks - 1
      part = part_of(rank, other)
      call check(ranks == 1 .or. all(parts(:counts(other), other) == part(:counts(other))), 44)
    end do
    parts = 1
    part = -1
    call MPI_Reduce_scatter(parts, part, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call check(all(part(:own) == ranks) .and. all(part(own + 1:) == -1) .and. error == MPI_SUCCESS, 45)
  end subroutine try_v_collectives

  subroutine try_scans
    integer :: other, before(3)
    do other = 0, ranks - 1
      parts(:, other) = part_of(rank, other)
    end do
    part = -1
    call MPI_Reduce_scatter_block(parts, part, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    before = 0
    do other = 0, ranks - 1
      before = before + part_of(other, rank)
    end do
    call check(all(part == before), 28)
    call MPI_Reduce_scatter_block(MPI_IN_PLACE, parts, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call check(all(parts(:, 0) == before), 29)

    before = 0
    do other = 0, rank - 1
      before = before + part_of(other, 0)
    end do
    part = 0
    call MPI_Exscan(part_of(rank, 0), part, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    if (rank > 0) call check(all(part == before), 30)
    part = part_of(rank, 0)
    call MPI_Exscan(MPI_IN_PLACE, part, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    if (rank > 0) call check(all(part == before), 31)
    call MPI_Scan(part_of(rank, 0), part, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call check(all(part == before + part_of(rank, 0)), 32)
    part = part_of(rank, 0)
    call MPI_Scan(MPI_IN_PLACE, part, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call check(all(part == before + part_of(rank, 0)) .and. error == MPI_SUCCESS, 33)
  end subroutine try_scans

  subroutine check(right, place)
    logical, intent(in) :: right
    integer, intent(in) :: place
    if (.not. right) then
      print *, 'rank', rank, 'round', round, 'check', place, 'failed'
      call MPI_Abort(MPI_COMM_WORLD, 3, error)
    end if
  end subroutine check
end program collectives
