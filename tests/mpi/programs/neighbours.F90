! Neighbourhood collectives through an interface of MPI (-DMPIF, -DUSE_MPI or -DUSE_F08), on a
! distributed graph with an edge from each rank to the ranks on its left and on its right. At least
! three ranks; with -DPERSISTENT also a persistent one.
program neighbours
#if defined(USE_F08)
  use mpi_f08
  implicit none
  type(MPI_Comm) :: ring
  type(MPI_Request) :: request
  type(MPI_Datatype) :: apart, types_in(2), types_out(2)
#elif defined(USE_MPI)
  use mpi
  implicit none
  integer :: ring, request, apart, types_in(2), types_out(2)
#else
  implicit none
  include 'mpif.h'
  integer :: ring, request, apart, types_in(2), types_out(2)
#endif
  integer, asynchronous :: own(8), from(8)
  integer :: rank, ranks, left, right, error, round
  integer :: ends(2), ones(2), twos(2), counts(2), more(2), places(2), others(2)
  integer(MPI_ADDRESS_KIND) :: bytes_in(2), bytes_out(2)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  left = mod(rank + ranks - 1, ranks)
  right = mod(rank + 1, ranks)
  ends = [left, right]
  ones = 1
  twos = 2
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, ends, ones, 2, ends, ones, MPI_INFO_NULL, &
                                      .false., ring, error)
  call MPI_Type_vector(2, 1, 2, MPI_INTEGER, apart, error)
  call MPI_Type_commit(apart, error)
  ! Each rank sends two elements to the left and one to the right.
  counts = [2, 1]
  more = [1, 2]
  places = [0, 3]
  others = [5, 1]
  types_in = [apart, MPI_INTEGER]
  types_out = [MPI_INTEGER, apart]
  bytes_in = [4, 16]
  bytes_out = [0, 16]

  do round = 1, 4
    call fill()
    call MPI_Neighbor_allgather(own, 2, MPI_INTEGER, from, 2, MPI_INTEGER, ring, error)
    call expect([sent(left, 1), sent(left, 2), sent(right, 1), sent(right, 2), -1, -1, -1, -1], 1)
    call fill()
    call MPI_Neighbor_alltoall(own, 2, MPI_INTEGER, from, 2, MPI_INTEGER, ring, error)
    call expect([sent(left, 3), sent(left, 4), sent(right, 1), sent(right, 2), -1, -1, -1, -1], 2)
    call fill()
    call MPI_Neighbor_allgatherv(own, 2, MPI_INTEGER, from, twos, others, MPI_INTEGER, ring, error)
    call expect([-1, sent(right, 1), sent(right, 2), -1, -1, sent(left, 1), sent(left, 2), -1], 3)
    call fill()
    call MPI_Neighbor_alltoallv(own, counts, places, MPI_INTEGER, from, more, others, MPI_INTEGER, ring, error)
    call expect([-1, sent(right, 1), sent(right, 2), -1, -1, sent(left, 4), -1, -1], 4)
    call fill()
    call MPI_Neighbor_alltoallw(own, ones, bytes_in, types_in, from, ones, bytes_out, types_out, ring, error)
    call expect([sent(left, 5), -1, -1, -1, sent(right, 2), -1, sent(right, 4), -1], 5)
    call fill()
    call MPI_Ineighbor_allgather(own, 2, MPI_INTEGER, from, 2, MPI_INTEGER, ring, request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call expect([sent(left, 1), sent(left, 2), sent(right, 1), sent(right, 2), -1, -1, -1, -1], 6)
    call fill()
    call MPI_Ineighbor_alltoallv(own, counts, places, MPI_INTEGER, from, more, others, MPI_INTEGER, ring, &
                                 request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call expect([-1, sent(right, 1), sent(right, 2), -1, -1, sent(left, 4), -1, -1], 7)
    call fill()
    call MPI_Ineighbor_alltoallw(own, ones, bytes_in, types_in, from, ones, bytes_out, types_out, ring, &
                                 request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call expect([sent(left, 5), -1, -1, -1, sent(right, 2), -1, sent(right, 4), -1], 8)
  end do
#if defined(PERSISTENT)
  call MPI_Neighbor_alltoallw_init(own, ones, bytes_in, types_in, from, ones, bytes_out, types_out, ring, &
                                   MPI_INFO_NULL, request, error)
  do round = 5, 8
    call fill()
    call MPI_Start(request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call expect([sent(left, 5), -1, -1, -1, sent(right, 2), -1, sent(right, 4), -1], 9)
  end do
  call MPI_Request_free(request, error)
#endif
  call MPI_Type_free(apart, error)
  call MPI_Comm_free(ring, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  if (rank == 0) print *, 'ok'
  call MPI_Finalize(error)
contains
  subroutine fill()
    integer :: i
    own = [(sent(rank, i), i = 1, 8)]
    from = -1
  end subroutine

  ! An element that a rank sends.
  integer function sent(by, i)
    integer, intent(in) :: by, i
    sent = 1000 * by + 10 * round + i
  end function

  subroutine expect(wanted, number)
    integer, intent(in) :: wanted(8), number
    if (all(from == wanted)) return
    print *, 'rank', rank, 'round', round, 'check', number, ':', from, 'not', wanted
    call MPI_Abort(MPI_COMM_WORLD, 3, error)
  end subroutine
end program
