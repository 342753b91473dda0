!> What a Fortran program may tell Replay's recorder: regions, phases, and what to record.
!>
!> Compile this file with the program; no library is needed (with a C library older than glibc 2.34: `-ldl`). A program
!> that was built with it runs as it always did; when it is started with `replay-record`, what it says here is recorded
!> beside its MPI calls. Without the recorder each call costs a test of a pointer.
!>
!>     use replay
!>
!>     call replay_region_begin("assembly")    ! a named stretch of the run: a node of the call tree, below the procedure
!>     ...                                     ! that says it and above the MPI calls made until its end
!>     call replay_region_end("assembly")
!>
!>     call replay_phase_begin("iteration")    ! likewise, but a stretch that is analyzed as a whole, such as a time step
!>     call replay_phase_end("iteration")
!>
!>     call replay_recording_off()             ! nothing is recorded from here on ...
!>     call replay_recording_on()              ! ... to here
!>     if (replay_recording_is_on()) ...       ! .false. as well if there is no recorder
!>
!> The recorder knows the line of the call if the program was compiled with `-g`. Where it was not, preprocessed sources
!> can say it: `call replay_region_begin("assembly", __FILE__, __LINE__)`.
!>
!> Regions and phases nest: the one begun last ends first, in the thread that began it. Recording should be switched by
!> all processes at the same points of the program, best right behind a barrier: a message whose send is recorded and
!> whose receive is not cannot be analyzed. Blanks at the end of names do not count.
module replay
    use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_procpointer, c_funptr, c_int, c_null_char, c_null_ptr, c_ptr
    implicit none
    private
    public :: replay_region_begin, replay_region_end, replay_phase_begin, replay_phase_end
    public :: replay_recording_on, replay_recording_off, replay_recording_is_on

    abstract interface
        ! An absent file is a null pointer.
        subroutine begin_named(name, file, line) bind(C)
            import :: c_char, c_int
            character(kind=c_char), intent(in) :: name(*)
            character(kind=c_char), intent(in), optional :: file(*)
            integer(c_int), value :: line
        end subroutine begin_named

        subroutine end_named(name) bind(C)
            import :: c_char
            character(kind=c_char), intent(in) :: name(*)
        end subroutine end_named

        subroutine switch() bind(C)
        end subroutine switch

        function ask() bind(C) result(answer)
            import :: c_int
            integer(c_int) :: answer
        end function ask
    end interface

    interface
        function dlsym(handle, symbol) bind(C, name="dlsym") result(address)
            import :: c_char, c_funptr, c_ptr
            type(c_ptr), value :: handle
            character(kind=c_char), intent(in) :: symbol(*)
            type(c_funptr) :: address
        end function dlsym
    end interface

    ! The recorder's functions, not associated without a recorder. They are looked up when the first of them is called.
    ! Threads that do so at the same time find the same.
    logical, save :: looked_up = .false.
    procedure(begin_named), pointer, save :: region_begin => null(), phase_begin => null()
    procedure(end_named), pointer, save :: region_end => null(), phase_end => null()
    procedure(switch), pointer, save :: recording_on => null(), recording_off => null()
    procedure(ask), pointer, save :: recording_is_on => null()

contains

    ! The recorder takes a region's place in the call tree from the stack. So each procedure below calls the recorder's
    ! function itself, and has something left to do afterwards (it frees the C string): on the stack it is always
    ! exactly one frame, `replay_region_begin` of module `replay`, between the program's procedure and the recorder.

    subroutine replay_region_begin(name, file, line)
        character(len=*), intent(in) :: name
        character(len=*), intent(in), optional :: file
        integer, intent(in), optional :: line
        character(kind=c_char, len=:), allocatable :: c_name, c_file
        integer(c_int) :: c_line

        if (.not. looked_up) call look_up()
        if (.not. associated(region_begin)) return
        c_name = trim(name) // c_null_char
        c_line = 0
        if (present(line)) c_line = int(line, c_int)
        if (present(file)) c_file = trim(file) // c_null_char
        call region_begin(c_name, c_file, c_line)
    end subroutine replay_region_begin

    subroutine replay_region_end(name)
        character(len=*), intent(in) :: name
        character(kind=c_char, len=:), allocatable :: c_name

        if (.not. looked_up) call look_up()
        if (.not. associated(region_end)) return
        c_name = trim(name) // c_null_char
        call region_end(c_name)
    end subroutine replay_region_end

    subroutine replay_phase_begin(name, file, line)
        character(len=*), intent(in) :: name
        character(len=*), intent(in), optional :: file
        integer, intent(in), optional :: line
        character(kind=c_char, len=:), allocatable :: c_name, c_file
        integer(c_int) :: c_line

        if (.not. looked_up) call look_up()
        if (.not. associated(phase_begin)) return
        c_name = trim(name) // c_null_char
        c_line = 0
        if (present(line)) c_line = int(line, c_int)
        if (present(file)) c_file = trim(file) // c_null_char
        call phase_begin(c_name, c_file, c_line)
    end subroutine replay_phase_begin

    subroutine replay_phase_end(name)
        character(len=*), intent(in) :: name
        character(kind=c_char, len=:), allocatable :: c_name

        if (.not. looked_up) call look_up()
        if (.not. associated(phase_end)) return
        c_name = trim(name) // c_null_char
        call phase_end(c_name)
    end subroutine replay_phase_end

    subroutine replay_recording_on()
        if (.not. looked_up) call look_up()
        if (associated(recording_on)) call recording_on()
    end subroutine replay_recording_on

    subroutine replay_recording_off()
        if (.not. looked_up) call look_up()
        if (associated(recording_off)) call recording_off()
    end subroutine replay_recording_off

    function replay_recording_is_on() result(is_on)
        logical :: is_on

        if (.not. looked_up) call look_up()
        is_on = .false.
        if (associated(recording_is_on)) is_on = recording_is_on() /= 0
    end function replay_recording_is_on

    subroutine look_up()
        type(c_funptr) :: address

        address = find("replay_region_begin")
        if (c_associated(address)) call c_f_procpointer(address, region_begin)
        address = find("replay_region_end")
        if (c_associated(address)) call c_f_procpointer(address, region_end)
        address = find("replay_phase_begin")
        if (c_associated(address)) call c_f_procpointer(address, phase_begin)
        address = find("replay_phase_end")
        if (c_associated(address)) call c_f_procpointer(address, phase_end)
        address = find("replay_recording_on")
        if (c_associated(address)) call c_f_procpointer(address, recording_on)
        address = find("replay_recording_off")
        if (c_associated(address)) call c_f_procpointer(address, recording_off)
        address = find("replay_recording_is_on")
        if (c_associated(address)) call c_f_procpointer(address, recording_is_on)
        looked_up = .true.
    end subroutine look_up

    function find(symbol) result(address)
        character(len=*), intent(in) :: symbol
        type(c_funptr) :: address

        ! A null handle is RTLD_DEFAULT: everything that the program has loaded, preloaded libraries first.
        address = dlsym(c_null_ptr, symbol // c_null_char)
    end function find

end module replay
