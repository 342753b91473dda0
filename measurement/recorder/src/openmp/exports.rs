//! The exported functions. As with MPI, integers and pointers travel in the same registers and stack slots, so
//! that a function need not know more of its parameters than their number.
//!
//! They are exported whether there is a libgomp or not: programs without one do not call them.

use call_paths::Registers;
use recording::openmp::{
    ATOMIC, BARRIER, CRITICAL, IMPLICIT_BARRIER, SET_LOCK, SET_NEST_LOCK, TASK_WAIT, TEST_LOCK,
    TEST_NEST_LOCK, UNSET_LOCK, UNSET_NEST_LOCK,
};

use super::runtime::{Next, NextFunction};
use super::{RuntimeCall, barriers, locks, tasks, teams};

/// Jumps to a function with the return address as second argument.
#[cfg(target_arch = "x86_64")]
macro_rules! jump {
    ($to:ident) => {
        std::arch::naked_asm!("mov rsi, [rsp]", "jmp {}", sym $to)
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! jump {
    ($to:ident) => {
        std::arch::naked_asm!("mov x1, x30", "b {}", sym $to)
    };
}

/// Exports functions with one parameter or none, each with the construct that it is part of, the target of that on
/// call paths, and the hook that records the call.
macro_rules! calls {
    ($($name:literal: $kind:ident, $target:ident, $hook:path;)*) => {
        $(const _: () = {
            #[unsafe(export_name = $name)]
            #[unsafe(naked)]
            unsafe extern "C-unwind" fn exported() {
                jump!(call)
            }

            unsafe extern "C-unwind" fn call(argument: usize, caller: u64) -> usize {
                static NEXT: NextFunction = NextFunction::new(calls!(@c $name));
                // SAFETY: the address is that of the function of this name, which has at most one parameter, an
                // integer or a pointer, and such a result or none.
                let real = |address| unsafe {
                    std::mem::transmute::<usize, unsafe extern "C-unwind" fn(usize) -> usize>(address)(argument)
                };
                match NEXT.find(caller) {
                    Next::Shared(address) => {
                        let registers = Registers::here();
                        let call = RuntimeCall { kind: $kind, target: calls!(@$target caller), registers };
                        $hook(call, argument as u64, || real(address))
                    }
                    Next::Own(address) => real(address),
                    Next::Nowhere => 0,
                }
            }
        };)*
    };
    (@caller $caller:ident) => { $caller };
    (@nothing $caller:ident) => {{
        let _ = $caller;
        0
    }};
    (@c $name:literal) => {
        match std::ffi::CStr::from_bytes_with_nul(concat!($name, "\0").as_bytes()) {
            Ok(name) => name,
            Err(_) => panic!("a name with a NUL"),
        }
    };
}

calls! {
    "GOMP_barrier": BARRIER, caller, barriers::wait;
    "GOMP_barrier_cancel": BARRIER, caller, barriers::wait;
    "GOMP_loop_end": IMPLICIT_BARRIER, caller, barriers::wait;
    "GOMP_loop_end_cancel": IMPLICIT_BARRIER, caller, barriers::wait;
    "GOMP_sections_end": IMPLICIT_BARRIER, caller, barriers::wait;
    "GOMP_sections_end_cancel": IMPLICIT_BARRIER, caller, barriers::wait;
    "GOMP_taskwait": TASK_WAIT, caller, barriers::wait;
    "GOMP_critical_start": CRITICAL, caller, locks::begin_unnamed;
    "GOMP_critical_end": CRITICAL, caller, locks::end_unnamed;
    "GOMP_critical_name_start": CRITICAL, caller, locks::begin_critical;
    "GOMP_critical_name_end": CRITICAL, caller, locks::end_critical;
    "GOMP_atomic_start": ATOMIC, caller, locks::begin_atomic;
    "GOMP_atomic_end": ATOMIC, caller, locks::end_atomic;
    "omp_set_lock": SET_LOCK, nothing, locks::set;
    "omp_unset_lock": UNSET_LOCK, nothing, locks::unset;
    "omp_test_lock": TEST_LOCK, nothing, locks::test;
    "omp_set_nest_lock": SET_NEST_LOCK, nothing, locks::set_nested;
    "omp_unset_nest_lock": UNSET_NEST_LOCK, nothing, locks::unset;
    "omp_test_nest_lock": TEST_NEST_LOCK, nothing, locks::test_nested;
    // The same for Fortran.
    "omp_set_lock_": SET_LOCK, nothing, locks::set;
    "omp_unset_lock_": UNSET_LOCK, nothing, locks::unset;
    "omp_test_lock_": TEST_LOCK, nothing, locks::test;
    "omp_set_nest_lock_": SET_NEST_LOCK, nothing, locks::set_nested;
    "omp_unset_nest_lock_": UNSET_NEST_LOCK, nothing, locks::unset;
    "omp_test_nest_lock_": TEST_NEST_LOCK, nothing, locks::test_nested;
}

/// Exports functions that fork a team, call a function in each thread, and join the team: that function and its
/// argument are the first two parameters, and the number of threads is the third.
macro_rules! forks {
    ($($name:literal ($($a:ident),*);)*) => {
        $(const _: () = {
            #[unsafe(export_name = $name)]
            #[allow(clippy::too_many_arguments)] // As many as libgomp has.
            unsafe extern "C-unwind" fn fork(body: usize, data: usize, threads: usize, $($a: usize),*) -> usize {
                static NEXT: NextFunction = NextFunction::new(calls!(@c $name));
                // SAFETY: the address is that of the function of this name, which has these parameters, all
                // integers or pointers, and such a result or none.
                let real = |address, body, data| unsafe {
                    let real = std::mem::transmute::<
                        usize,
                        unsafe extern "C-unwind" fn(usize, usize, usize, $(forks!(@word $a)),*) -> usize,
                    >(address);
                    real(body, data, threads, $($a),*)
                };
                match NEXT.find(body as u64) {
                    Next::Shared(address) => {
                        let registers = Registers::here();
                        // SAFETY: the compiler passes a function and the argument for it, and libgomp calls any
                        // function that it gets with the argument that it gets, in all threads of the team, before it returns.
                        unsafe {
                            teams::fork(registers, body, data, threads as u32, |body, data| {
                                real(address, body, data)
                            })
                        }
                    }
                    Next::Own(address) => real(address, body, data),
                    Next::Nowhere => 0,
                }
            }
        };)*
    };
    (@word $a:ident) => { usize };
}

forks! {
    "GOMP_parallel" (flags);
    "GOMP_parallel_reductions" (flags);
    "GOMP_parallel_sections" (count, flags);
    "GOMP_parallel_loop_static" (begin, end, step, chunk, flags);
    "GOMP_parallel_loop_dynamic" (begin, end, step, chunk, flags);
    "GOMP_parallel_loop_guided" (begin, end, step, chunk, flags);
    "GOMP_parallel_loop_nonmonotonic_dynamic" (begin, end, step, chunk, flags);
    "GOMP_parallel_loop_nonmonotonic_guided" (begin, end, step, chunk, flags);
    "GOMP_parallel_loop_runtime" (begin, end, step, flags);
    "GOMP_parallel_loop_nonmonotonic_runtime" (begin, end, step, flags);
    "GOMP_parallel_loop_maybe_nonmonotonic_runtime" (begin, end, step, flags);
}

/// Exports functions that create tasks: the function of the body is the first parameter. Programs of some versions of
/// GCC pass fewer parameters than others; words behind those are passed on and not used.
macro_rules! creations {
    ($($name:literal),*) => {
        $(const _: () = {
            #[unsafe(export_name = $name)]
            #[allow(clippy::too_many_arguments)] // As many as libgomp has.
            unsafe extern "C-unwind" fn create(
                body: usize,
                data: usize,
                copy: usize,
                size: usize,
                alignment: usize,
                a5: usize,
                a6: usize,
                a7: usize,
                a8: usize,
                a9: usize,
                a10: usize,
            ) {
                static NEXT: NextFunction = NextFunction::new(calls!(@c $name));
                // SAFETY: the address is that of the function of this name, which has these parameters or fewer,
                // all integers or pointers, and no result.
                let real = |address, body| unsafe {
                    let real = std::mem::transmute::<
                        usize,
                        unsafe extern "C-unwind" fn(
                            usize, usize, usize, usize, usize, usize, usize, usize, usize, usize, usize,
                        ),
                    >(address);
                    real(body, data, copy, size, alignment, a5, a6, a7, a8, a9, a10);
                };
                match NEXT.find(body as u64) {
                    Next::Shared(address) => real(address, tasks::body_for(body)),
                    Next::Own(address) => real(address, body),
                    Next::Nowhere => {}
                }
            }
        };)*
    };
}

creations!("GOMP_task", "GOMP_taskloop", "GOMP_taskloop_ull");
