! The memory of Fortran's allocatable arrays and pointers, and of function results, is in the heap.
program allocatable
  use iso_c_binding
  implicit none
  interface
    integer(c_int) function lies_in_heap(address) bind(C)
      import
      type(c_ptr), value :: address
    end function
  end interface
  real(8), allocatable, target :: vector(:)
  real(8), pointer :: matrix(:, :)
  allocate(vector(1000), source=1d0)
  allocate(matrix(500, 500))
  matrix = 2d0
  if (lies_in_heap(c_loc(vector)) == 0 .or. lies_in_heap(c_loc(matrix)) == 0) error stop "not in the heap"
  vector = [vector, vector * 2]
  if (size(vector) /= 2000 .or. sum(vector) /= 3000d0 .or. sum(matrix) /= 500000d0) error stop "wrong values"
  if (lies_in_heap(c_loc(vector)) == 0) error stop "not in the heap after it grew"
  deallocate(vector, matrix)
  print '(a)', 'ok'
end program
