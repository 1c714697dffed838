! Non-blocking collectives through an interface of MPI (-DMPIF, -DUSE_MPI or -DUSE_F08), completed in
! every way, with an operation and a type that are freed while they are used.
program nonblocking
#if defined(USE_F08)
  use mpi_f08
  implicit none
  type(MPI_Request) :: requests(3)
  type(MPI_Status) :: statuses(3), status
  type(MPI_Datatype) :: apart
  type(MPI_Op) :: op
#elif defined(USE_MPI)
  use mpi
  implicit none
  integer :: requests(3), statuses(MPI_STATUS_SIZE, 3), status(MPI_STATUS_SIZE), apart, op
#else
  implicit none
  include 'mpif.h'
  integer :: requests(3), statuses(MPI_STATUS_SIZE, 3), status(MPI_STATUS_SIZE), apart, op
#endif
  integer, asynchronous :: own, total, pairs(4), copies(4), from
  integer, asynchronous, allocatable :: gathered(:), counts(:), places(:)
  integer :: i, rank, ranks, error, completed, indices(3), left, one
  logical :: done
  external :: add

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  allocate (gathered(ranks), counts(ranks), places(ranks))
  counts = 1
  places = [(i - 1, i = 1, ranks)]
  do i = 1, 42
    own = rank + i
    total = -1
    gathered = -1
    from = -1
    call MPI_Op_create(add, .true., op, error)
    call MPI_Iallreduce(own, total, 1, MPI_INTEGER, op, MPI_COMM_WORLD, requests(1), error)
    call MPI_Op_free(op, error)
    call check(op == MPI_OP_NULL, 1)
    call MPI_Iallgatherv(own, 1, MPI_INTEGER, gathered, counts, places, MPI_INTEGER, MPI_COMM_WORLD, &
                         requests(2), error)
    call MPI_Irecv(from, 1, MPI_INTEGER, mod(rank + ranks - 1, ranks), i, MPI_COMM_WORLD, requests(3), error)
    call MPI_Send(rank, 1, MPI_INTEGER, mod(rank + 1, ranks), i, MPI_COMM_WORLD, error)
    done = .false.
    left = 3
    select case (mod(i, 7))
    case (0)
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
      call MPI_Wait(requests(2), MPI_STATUS_IGNORE, error)
      call MPI_Wait(requests(3), MPI_STATUS_IGNORE, error)
    case (1)
      call MPI_Waitall(3, requests, statuses, error)
#if defined(USE_F08)
      call check(statuses(3)%MPI_TAG == i, 3)
#else
      call check(statuses(MPI_TAG, 3) == i, 3)
#endif
    case (2)
      do while (left > 0)
        call MPI_Waitany(3, requests, one, MPI_STATUS_IGNORE, error)
#if !defined(USE_F08)
        ! MPICH 4's routine for mpi_f08 counts from 0.
        call check(one >= 1 .and. one <= 3, 4)
        call check(requests(one) == MPI_REQUEST_NULL, 5)
#endif
        left = left - 1
      end do
    case (3)
      do while (left > 0)
        call MPI_Waitsome(3, requests, completed, indices, statuses, error)
        left = left - completed
      end do
    case (4)
      do while (left > 0)
        call MPI_Testany(3, requests, one, done, MPI_STATUS_IGNORE, error)
        if (done) left = left - 1
      end do
    case (5)
      do while (.not. done)
        call MPI_Testall(3, requests, done, MPI_STATUSES_IGNORE, error)
      end do
    case (6)
      do while (.not. done)
        call MPI_Test(requests(1), done, MPI_STATUS_IGNORE, error)
      end do
      done = .false.
      do while (.not. done)
        ! With MPI_STATUS_IGNORE, Open MPI 4 always says that the request is not complete.
        call MPI_Request_get_status(requests(2), done, status, error)
      end do
      left = 2
      do while (left > 0)
        call MPI_Testsome(3, requests, completed, indices, MPI_STATUSES_IGNORE, error)
        left = left - completed
      end do
    end select
    do one = 1, 3
      call check(requests(one) == MPI_REQUEST_NULL, 7)
    end do
    call check(total == ranks * (ranks - 1) / 2 + ranks * i, 8)
    call check(all(gathered == [(one + i - 1, one = 1, ranks)]), 9)
    call check(from == mod(rank + ranks - 1, ranks), 10)

    call MPI_Type_vector(2, 1, 3, MPI_INTEGER, apart, error)
    call MPI_Type_commit(apart, error)
    pairs = merge(i, -1, rank == 0)
    call MPI_Ibcast(pairs, 1, apart, 0, MPI_COMM_WORLD, requests(1), error)
    call MPI_Type_free(apart, error)
    call check(apart == MPI_DATATYPE_NULL, 11)
    call MPI_Ibarrier(MPI_COMM_WORLD, requests(2), error)
    copies = rank
    call MPI_Iallreduce(MPI_IN_PLACE, copies, 4, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, requests(3), error)
    call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, error)
    call check(pairs(1) == i .and. pairs(4) == i .and. (rank == 0 .or. pairs(2) == -1), 12)
    call check(all(copies == ranks - 1), 13)
  end do
  call MPI_Barrier(MPI_COMM_WORLD, error)
  if (rank == 0) print *, 'ok'
  call MPI_Finalize(error)
contains
  subroutine check(condition, number)
    logical, intent(in) :: condition
    integer, intent(in) :: number
    if (condition) return
    print *, 'rank', rank, 'round', i, 'check', number
    call MPI_Abort(MPI_COMM_WORLD, 3, error)
  end subroutine
end program

subroutine add(in, inout, count, type)
  integer :: count, type, in(count), inout(count)
  inout = inout + in
end subroutine
