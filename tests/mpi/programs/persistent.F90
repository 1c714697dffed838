! Persistent collectives through an interface of MPI (-DMPIF or -DUSE_F08), completed in every way.
program persistent
#if defined(USE_F08)
  use mpi_f08
  implicit none
  type(MPI_Request) :: requests(2)
#else
  implicit none
  include 'mpif.h'
  integer :: requests(2)
#endif
  integer, asynchronous :: own, total
  integer :: i, rank, ranks, error, completed, indices(2), left, one
  logical :: done

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  do i = 1, 4
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  call MPI_Allreduce_init(own, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1), error)
  call MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, requests(2), error)
  do i = 1, 40
    own = rank + i
    total = -1
    if (mod(i, 2) == 0) then
      call MPI_Startall(2, requests, error)
    else
      call MPI_Start(requests(1), error)
      call MPI_Start(requests(2), error)
    end if
    done = .false.
    left = 2
    select case (mod(i, 7))
    case (0)
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
      call MPI_Wait(requests(2), MPI_STATUS_IGNORE, error)
    case (1)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
    case (2)
      do while (left > 0)
        call MPI_Waitany(2, requests, one, MPI_STATUS_IGNORE, error)
        if (one == MPI_UNDEFINED) call MPI_Abort(MPI_COMM_WORLD, 3, error)
        left = left - 1
      end do
    case (3)
      do while (left > 0)
        call MPI_Waitsome(2, requests, completed, indices, MPI_STATUSES_IGNORE, error)
        left = left - completed
      end do
    case (4)
      do while (left > 0)
        call MPI_Testany(2, requests, one, done, MPI_STATUS_IGNORE, error)
        if (done) left = left - 1
      end do
    case (5)
      do while (.not. done)
        call MPI_Testall(2, requests, done, MPI_STATUSES_IGNORE, error)
      end do
    case (6)
      do while (.not. done)
        call MPI_Test(requests(1), done, MPI_STATUS_IGNORE, error)
      end do
      done = .false.
      do while (.not. done)
        call MPI_Request_get_status(requests(2), done, MPI_STATUS_IGNORE, error)
      end do
      do while (left > 1)
        call MPI_Testsome(2, requests, completed, indices, MPI_STATUSES_IGNORE, error)
        left = left - completed
      end do
    end select
    if (total /= ranks * (ranks - 1) / 2 + ranks * i) then
      print *, 'round', i, 'total', total
      call MPI_Abort(MPI_COMM_WORLD, 4, error)
    end if
  end do
  call MPI_Request_free(requests(1), error)
  call MPI_Request_free(requests(2), error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  if (rank == 0) print '(a)', 'ok'
  call MPI_Finalize(error)
end program persistent
