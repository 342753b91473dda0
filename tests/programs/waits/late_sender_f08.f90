! With module mpi_f08. Rank 0 sends late: rank 1 waits in MPI_Recv as long as the delay takes.
module exchange
    use mpi_f08
    use provoke, only: check, sleep_for_delay
    use replay
    implicit none

contains

    subroutine send_late(value)
        integer, intent(in) :: value
        integer :: error

        call replay_region_begin("delay") ! HERE: delay
        call sleep_for_delay()
        call replay_region_end("delay")
        call MPI_Send(value, 1, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, error)
        call check(error == MPI_SUCCESS)
    end subroutine send_late

    function receive() result(value)
        integer :: value, error

        value = 0
        call MPI_Recv(value, 1, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error) ! HERE: wait
        call check(error == MPI_SUCCESS)
    end function receive

end module exchange

program late_sender_f08
    use mpi_f08
    use exchange, only: receive, send_late
    use provoke, only: meet
    implicit none
    integer :: rank

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call meet(0)
    if (rank == 0) then
        call send_late(42)
    else if (rank == 1) then
        print '(a,i0)', 'received ', receive()
    end if
    call MPI_Finalize()
end program late_sender_f08
