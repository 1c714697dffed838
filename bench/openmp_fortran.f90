! OpenMP's array reduction in Fortran, for tutti-openmp. Each thread of a parallel region passes its own
! vector, in one iteration of a loop with as many iterations as threads.
subroutine reduce_in_fortran(a, mine, n) bind(c)
  use iso_c_binding
  use omp_lib
  implicit none
  integer(c_int), value :: n
  real(c_double), intent(inout) :: a(n)
  real(c_double), intent(in) :: mine(n)
  integer :: thread
  !$omp do schedule(static, 1) reduction(+:a)
  do thread = 1, omp_get_num_threads()
    a = a + mine
  end do
  !$omp end do
end subroutine
