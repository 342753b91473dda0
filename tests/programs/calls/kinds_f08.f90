! The calls of kinds.inc by the module mpi_f08.
program kinds_f08
    use mpi_f08
    implicit none
    type(MPI_Comm) :: copy, ring
    type(MPI_Request) :: request
    type(MPI_Win) :: window
    type(MPI_Group) :: everybody, from, to
    integer :: rank, ranks, left, right, ierror
    integer :: mine(2), theirs(2), extents(1), members(1)
    integer, asynchronous :: memory(4)
    integer(kind=MPI_ADDRESS_KIND) :: bytes, place
    logical :: periods(1)

    include 'kinds.inc'
end program
