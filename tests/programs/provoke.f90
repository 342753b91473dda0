!> What Fortran programs that provoke a wait state share; provoke.h says why it is done so.
module provoke
    use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_long, c_null_ptr, c_ptr
    use mpi
    implicit none
    private
    public :: meet, sleep_for_delay, check

    integer(c_int64_t), parameter :: milliseconds = 1000000_c_int64_t, second = 1000 * milliseconds
    integer(c_int64_t), parameter :: delay_time = 600 * milliseconds
    integer(c_int64_t), parameter :: meeting_time = 50 * milliseconds
    integer(c_int64_t), parameter :: head_start = milliseconds / 4
    integer(c_int), parameter :: clock_monotonic = 1, timer_abstime = 1, prio_process = 0

    type, bind(C) :: timespec
        integer(c_long) :: seconds
        integer(c_long) :: nanoseconds
    end type timespec

    interface
        function clock_gettime(clock, time) bind(C, name="clock_gettime") result(error)
            import :: c_int, timespec
            integer(c_int), value :: clock
            type(timespec), intent(out) :: time
            integer(c_int) :: error
        end function clock_gettime

        function clock_nanosleep(clock, flags, time, remain) bind(C, name="clock_nanosleep") result(error)
            import :: c_int, c_ptr, timespec
            integer(c_int), value :: clock, flags
            type(timespec), intent(in) :: time
            type(c_ptr), value :: remain
            integer(c_int) :: error
        end function clock_nanosleep

        function setpriority(which, who, priority) bind(C, name="setpriority") result(error)
            import :: c_int
            integer(c_int), value :: which, who, priority
            integer(c_int) :: error
        end function setpriority
    end interface

contains

    !> All ranks set out together, the late one a moment before the others.
    subroutine meet(late)
        integer, intent(in) :: late
        integer(c_int64_t) :: instant
        integer :: rank, error

        call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
        ! Only where they may go before other processes.
        error = setpriority(prio_process, 0, merge(-20, -15, rank == late))
        call MPI_Barrier(MPI_COMM_WORLD, error)
        instant = now() + meeting_time
        call MPI_Bcast(instant, 1, MPI_INTEGER8, 0, MPI_COMM_WORLD, error)
        call check(now() < instant)
        if (rank /= late) instant = instant + head_start
        call sleep_until(instant)
    end subroutine meet

    !> The delay; the program says the region around it, so that its line is in the program.
    subroutine sleep_for_delay()
        call sleep_until(now() + delay_time)
    end subroutine sleep_for_delay

    !> A result that is wrong ends the run.
    subroutine check(right)
        logical, intent(in) :: right
        integer :: error

        if (.not. right) call MPI_Abort(MPI_COMM_WORLD, 3, error)
    end subroutine check

    function now() result(instant)
        integer(c_int64_t) :: instant
        type(timespec) :: time

        if (clock_gettime(clock_monotonic, time) /= 0) error stop "no clock"
        instant = time%seconds * second + time%nanoseconds
    end function now

    subroutine sleep_until(instant)
        integer(c_int64_t), intent(in) :: instant
        type(timespec) :: time

        time = timespec(instant / second, mod(instant, second))
        do while (clock_nanosleep(clock_monotonic, timer_abstime, time, c_null_ptr) /= 0)
        end do
    end subroutine sleep_until

end module provoke
