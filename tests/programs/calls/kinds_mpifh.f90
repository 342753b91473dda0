! The calls of kinds.inc by mpif.h.
program kinds_mpifh
    implicit none
    include 'mpif.h'
    integer :: copy, ring, request, window, everybody, from, to
    integer :: rank, ranks, left, right, ierror
    integer :: mine(2), theirs(2), extents(1), members(1)
    integer, asynchronous :: memory(4)
    integer(kind=MPI_ADDRESS_KIND) :: bytes, place
    logical :: periods(1)

    include 'kinds.inc'
end program
