! With module mpi, in an internal procedure of a module procedure. The root, rank 1, broadcasts late: ranks 0 and 2 wait
! in MPI_Bcast as long as the delay takes.
module parameters
    use mpi
    use provoke, only: check, sleep_for_delay
    use replay
    implicit none

contains

    subroutine give_late(value)
        integer, intent(inout) :: value

        call compute()
        call share()

    contains

        subroutine compute()
            call replay_region_begin("delay") ! HERE: delay
            call sleep_for_delay()
            call replay_region_end("delay")
            value = 42
        end subroutine compute

        subroutine share()
            integer :: error

            call MPI_Bcast(value, 1, MPI_INTEGER, 1, MPI_COMM_WORLD, error)
            call check(error == MPI_SUCCESS)
        end subroutine share

    end subroutine give_late

    subroutine take(value)
        integer, intent(inout) :: value

        call share()

    contains

        subroutine share()
            integer :: error

            call MPI_Bcast(value, 1, MPI_INTEGER, 1, MPI_COMM_WORLD, error) ! HERE: wait
            call check(error == MPI_SUCCESS)
        end subroutine share

    end subroutine take

end module parameters

program late_broadcast_mpi
    use mpi
    use parameters, only: give_late, take
    use provoke, only: check, meet
    implicit none
    integer :: rank, error, value = 0

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call meet(1)
    if (rank == 1) then
        call give_late(value)
    else
        call take(value)
    end if
    call check(value == 42)
    if (rank == 0) print '(a,i0)', 'received ', value
    call MPI_Finalize(error)
end program late_broadcast_mpi
