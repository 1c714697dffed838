! A tool in Fortran: it defines MPI's routines under Fortran's names and calls PMPI's. Choice
! buffers are addresses, so any type will do. At the end of MPI each rank says what it has seen.
module seen
  implicit none
  integer :: allreduces = 0, bcasts = 0
end module

subroutine mpi_allreduce(in, out, n, type, op, comm, error)
  use seen
  implicit none
  integer :: in(*), out(*), n, type, op, comm, error
  external pmpi_allreduce
  allreduces = allreduces + 1
  call pmpi_allreduce(in, out, n, type, op, comm, error)
end subroutine

subroutine mpi_bcast(data, n, type, root, comm, error)
  use seen
  implicit none
  integer :: data(*), n, type, root, comm, error
  external pmpi_bcast
  bcasts = bcasts + 1
  call pmpi_bcast(data, n, type, root, comm, error)
end subroutine

subroutine mpi_finalize(error)
  use seen
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  integer :: error
  external pmpi_finalize
  write (error_unit, '(a,i0,a,i0,a)') 'the tool: ', allreduces, ' allreduces, ', bcasts, ' bcasts'
  call pmpi_finalize(error)
end subroutine
