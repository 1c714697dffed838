! MPI_Alloc_mem and MPI_Free_mem of `use mpi` and of mpi_f08 give memory of the shared heap.
module checks
  use iso_c_binding
  implicit none
  interface
    integer(c_int) function lies_in_heap(address) bind(C)
      import
      type(c_ptr), value :: address
    end function
  end interface
end module

subroutine with_mpi
  use checks
  use mpi
  implicit none
  type(c_ptr) :: address
  real(8), pointer :: vector(:)
  integer :: error
  call MPI_Alloc_mem(int(8000, MPI_ADDRESS_KIND), MPI_INFO_NULL, address, error)
  if (error /= MPI_SUCCESS .or. lies_in_heap(address) == 0) error stop "use mpi: not in the heap"
  call c_f_pointer(address, vector, [1000])
  vector = 1d0
  call MPI_Allreduce(MPI_IN_PLACE, vector, 1000, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  if (any(vector /= 2d0)) error stop "use mpi: wrong sum"
  call MPI_Free_mem(vector, error)
  if (error /= MPI_SUCCESS) error stop "use mpi: not freed"
end subroutine

subroutine with_f08
  use checks
  use mpi_f08
  implicit none
  type(c_ptr) :: address
  real(8), pointer :: vector(:)
  integer :: error
  call MPI_Alloc_mem(8000_MPI_ADDRESS_KIND, MPI_INFO_NULL, address)
  if (lies_in_heap(address) == 0) error stop "mpi_f08: not in the heap"
  call c_f_pointer(address, vector, [1000])
  vector = 1d0
  call MPI_Allreduce(MPI_IN_PLACE, vector, 1000, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  if (any(vector /= 2d0)) error stop "mpi_f08: wrong sum"
  call MPI_Free_mem(vector, error)
  if (error /= MPI_SUCCESS) error stop "mpi_f08: not freed"
end subroutine

program memory
  use mpi
  implicit none
  integer :: error, rank
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call with_mpi
  call with_f08
  call MPI_Finalize(error)
  if (rank == 0) print '(a)', 'ok'
end program
