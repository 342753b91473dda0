! With module mpi_f08, in an internal procedure of the program. Rank 2 comes late: ranks 0 and 1 wait in MPI_Allreduce as
! long as the delay takes.
program allreduce_f08
    use mpi_f08
    use provoke, only: check, meet, sleep_for_delay
    use replay
    implicit none
    integer :: rank, total

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call meet(2)
    if (rank == 2) then
        total = sum_late(rank)
    else
        total = sum_up(rank)
    end if
    if (rank == 0) print '(a,i0)', 'sum ', total
    call MPI_Finalize()

contains

    function sum_late(value) result(total)
        integer, intent(in) :: value
        integer :: total, error

        call replay_region_begin("delay") ! HERE: delay
        call sleep_for_delay()
        call replay_region_end("delay")
        call MPI_Allreduce(value, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
        call check(error == MPI_SUCCESS)
    end function sum_late

    function sum_up(value) result(total)
        integer, intent(in) :: value
        integer :: total, error

        call MPI_Allreduce(value, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error) ! HERE: wait
        call check(error == MPI_SUCCESS)
    end function sum_up

end program allreduce_f08
