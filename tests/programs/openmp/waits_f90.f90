! The threads of a team wait for one that sleeps, and for each other at a lock and a critical section.
! RANKS: 2
! FLAGS: -fopenmp -fno-inline -fno-optimize-sibling-calls
program waits_f90
    use mpi
    use omp_lib
    use replay
    implicit none
    interface
        integer(c_int) function usleep(microseconds) bind(c)
            use iso_c_binding, only: c_int
            integer(c_int), value :: microseconds
        end function
    end interface
    integer, parameter :: threads = 3
    integer :: ierror, provided, rank
    integer(omp_lock_kind) :: lock
    ! Not to be forgotten behind a region: the call that forks would be a jump, which takes its function off the call path.
    integer, volatile :: done = 0

    call omp_set_dynamic(.false.)
    call omp_set_num_threads(threads)
    call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call omp_init_lock(lock)
    !$omp parallel
    if (omp_get_num_threads() /= threads) call MPI_Abort(MPI_COMM_WORLD, 3, ierror)
    !$omp end parallel
    call end_late()
    call take_turns()
    call hold_long()
    call omp_destroy_lock(lock)
    if (rank == 0) print '(i0, a)', threads, ' threads'
    call MPI_Finalize(ierror)

contains

    subroutine delay()
        integer :: ignored
        call replay_region_begin('delay')
        ignored = usleep(100000)
        call replay_region_end('delay')
    end subroutine

    subroutine end_late()
        !$omp parallel
        if (omp_get_thread_num() == 1) call delay()
        !$omp end parallel
        done = done + 1
    end subroutine

    subroutine take_turns()
        !$omp parallel
        !$omp critical (turn)
        call delay()
        !$omp end critical (turn)
        !$omp end parallel
        done = done + 1
    end subroutine

    subroutine hold_long()
        !$omp parallel
        call omp_set_lock(lock)
        call delay()
        call omp_unset_lock(lock)
        !$omp end parallel
        done = done + 1
    end subroutine
end program
