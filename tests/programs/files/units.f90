! Files of Fortran: each rank writes lines to one of its own and reads them. Any number of ranks.
program units
    use mpi
    implicit none
    integer :: error, rank, at, number
    character(len=16) :: name

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    write (name, '(a, i0)') 'units.', rank
    open (unit=10, file=name, status='replace')
    do at = 1, 10000
        write (10, '(a, i5)') 'line ', 10000 + at
    end do
    close (10)
    open (unit=10, file=name, status='old')
    do at = 1, 10000
        read (10, '(5x, i5)') number
        if (number /= 10000 + at) error stop 'another line'
    end do
    close (10)
    call MPI_Finalize(error)
end program units
