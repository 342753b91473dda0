! With mpif.h. Rank 1 comes late: ranks 0 and 2 wait in MPI_Barrier as long as the delay takes.
program barrier_mpifh
    use provoke, only: meet
    implicit none
    include 'mpif.h'
    integer :: rank, error
    external :: come, come_late

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call meet(1)
    if (rank == 1) then
        call come_late()
    else
        call come()
    end if
    if (rank == 0) print '(a)', 'met'
    call MPI_Finalize(error)
end program barrier_mpifh

subroutine come()
    use provoke, only: check
    implicit none
    include 'mpif.h'
    integer :: error

    call MPI_Barrier(MPI_COMM_WORLD, error) ! HERE: wait
    call check(error == MPI_SUCCESS)
end subroutine come

subroutine come_late()
    use provoke, only: check, sleep_for_delay
    use replay
    implicit none
    include 'mpif.h'
    integer :: error

    call replay_region_begin("delay") ! HERE: delay
    call sleep_for_delay()
    call replay_region_end("delay")
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call check(error == MPI_SUCCESS)
end subroutine come_late
