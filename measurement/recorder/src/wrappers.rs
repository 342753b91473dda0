//! The exported functions: for every MPI function of the table one `MPI_` and one `PMPI_` symbol.
//!
//! A wrapper knows the classes of its parameters only; integers and pointers travel in the same registers and
//! stack slots, so one library serves every MPI with handles that are `int` or pointers (x86-64 and AArch64
//! on Linux). `MPI_X` passes on to the next `MPI_X`, `PMPI_X` to the next `PMPI_X`, so that other tools
//! stacked on this one see their calls.
//!
//! C++ programs may throw exceptions through a call (from an error handler, from a reduction operation), so
//! wrappers let them propagate ("C-unwind"), and a call is left when it is dropped.
//!
//! Effects of a call beyond being entered and left are recorded by its hook, a plain function around the
//! call: it gets the arguments in a normal form and a closure that makes the call.

use std::ffi::CStr;

use crate::call::Call;
use crate::mpi::normal_handle;
use crate::next::{Layer, next};

/// The arguments of a call.
#[derive(Clone, Copy)]
pub(crate) struct Arguments<const N: usize> {
    /// In a normal form: `int` sign-extended, handles without what lies above an `int` handle in the
    /// register.
    pub(crate) values: [usize; N],
    /// Whether counts in arrays are `MPI_Count` (functions `*_c`), not `int`.
    pub(crate) wide: bool,
}

macro_rules! normal {
    (pointer, $value:expr) => {
        $value
    };
    (number, $value:expr) => {
        $value
    };
    (int, $value:expr) => {
        $value as i32 as isize as usize
    };
    (handle, $value:expr) => {
        normal_handle($value)
    };
}

/// Expands to `usize`, whatever the name: one for each parameter of a function type.
macro_rules! word {
    ($name:ident) => {
        usize
    };
}

/// Exports a function that exists only if the MPI library has it. Programs refer to functions of newer MPI
/// weakly (mpi4py does): they must not find ours where there is no next function. The symbol is an indirect
/// function (`STT_GNU_IFUNC`): the loader calls it to get the address.
#[cfg(all(target_arch = "x86_64", not(feature = "static")))]
macro_rules! indirect {
    ($name:literal, $number:literal, $wrapper:ident) => {
        const _: () = {
            #[unsafe(export_name = $name)]
            #[unsafe(naked)]
            unsafe extern "C" fn resolve() -> usize {
                std::arch::naked_asm!(
                    concat!(".type ", $name, ", @gnu_indirect_function"),
                    concat!("mov edi, ", $number),
                    "lea rsi, [rip + {}]",
                    "jmp {}",
                    sym $wrapper,
                    sym crate::next::resolve,
                )
            }
        };
    };
}

#[cfg(all(target_arch = "aarch64", not(feature = "static")))]
macro_rules! indirect {
    ($name:literal, $number:literal, $wrapper:ident) => {
        const _: () = {
            #[unsafe(export_name = $name)]
            #[unsafe(naked)]
            unsafe extern "C" fn resolve() -> usize {
                std::arch::naked_asm!(
                    concat!(".type ", $name, ", @gnu_indirect_function"),
                    concat!("mov w0, #", $number),
                    "adrp x1, {0}",
                    "add x1, x1, :lo12:{0}",
                    "b {1}",
                    sym $wrapper,
                    sym crate::next::resolve,
                )
            }
        };
    };
}

/// For a call of a function for files, lets calls of the C library be recorded that the MPI library makes for it, up to the end of
/// the block.
macro_rules! at_work {
    (other, $($a:ident),*) => {};
    (file, $file:ident $(, $a:ident)*) => {
        #[cfg(posix)]
        let _at_work = crate::posix::inner::AtWork::begin($file);
    };
}

macro_rules! wrapper {
    (always $kind:ident $number:literal, $name:literal, $($rest:tt)*) => {
        #[cfg(not(feature = "static"))]
        wrapper!(@exported $kind $number, $name, $($rest)*);
        #[cfg(feature = "static")]
        wrapper!(@linked $name, $kind $number, $($rest)*);
    };
    (@exported $kind:ident $number:literal, $name:literal, $profiling:literal, $wide:literal, ($($a:ident: $class:ident),*), $hook:path) => {
        const _: () = {
            #[unsafe(export_name = $name)]
            unsafe extern "C-unwind" fn mpi($($a: usize),*) -> usize {
                wrapper!(@body $kind, Layer::Mpi, $number, $wide, ($($a: $class),*), $hook)
            }
            #[unsafe(export_name = $profiling)]
            unsafe extern "C-unwind" fn profiling($($a: usize),*) -> usize {
                wrapper!(@body $kind, Layer::Profiling, $number, $wide, ($($a: $class),*), $hook)
            }
        };
    };
    (optional $kind:ident $number:literal, $name:literal, $($rest:tt)*) => {
        #[cfg(not(feature = "static"))]
        wrapper!(@indirect $kind $number, $name, $($rest)*);
        // Its `MPI_` name is in an object file of its own, see `build.rs`.
        #[cfg(feature = "static")]
        wrapper!(@linked concat!("replay_", $name), $kind $number, $($rest)*);
    };
    // In a program that the recorder is linked into, `PMPI_` names belong to the MPI library. The section
    // delimits the wrappers, see `linked`.
    (@linked $name:expr, $kind:ident $number:literal, $profiling:literal, $wide:literal, ($($a:ident: $class:ident),*), $hook:path) => {
        const _: () = {
            #[unsafe(export_name = $name)]
            #[unsafe(link_section = "replay_wrappers")]
            unsafe extern "C-unwind" fn mpi($($a: usize),*) -> usize {
                wrapper!(@body $kind, Layer::Mpi, $number, $wide, ($($a: $class),*), $hook)
            }
        };
    };
    (@indirect $kind:ident $number:literal, $name:literal, $profiling:literal, $wide:literal, ($($a:ident: $class:ident),*), $hook:path) => {
        const _: () = {
            unsafe extern "C-unwind" fn mpi($($a: usize),*) -> usize {
                wrapper!(@body $kind, Layer::Mpi, $number, $wide, ($($a: $class),*), $hook)
            }
            unsafe extern "C-unwind" fn profiling($($a: usize),*) -> usize {
                wrapper!(@body $kind, Layer::Profiling, $number, $wide, ($($a: $class),*), $hook)
            }
            indirect!($name, $number, mpi);
            indirect!($profiling, $number, profiling);
        };
    };
    (@real $layer:path, $number:literal, ($($a:ident: $class:ident),*)) => {{
        let address = next($layer, $number);
        // SAFETY: the address is that of the function of this name, with parameters and result passed as
        // described above.
        unsafe { std::mem::transmute::<usize, unsafe extern "C-unwind" fn($(word!($a)),*) -> usize>(address) }
    }};
    (@body plain, $($rest:tt)*) => { wrapper!(@plain other, $($rest)*) };
    (@body plain_file, $($rest:tt)*) => { wrapper!(@plain file, $($rest)*) };
    (@body hooked, $($rest:tt)*) => { wrapper!(@hooked other, $($rest)*) };
    (@body hooked_file, $($rest:tt)*) => { wrapper!(@hooked file, $($rest)*) };
    (@plain $about:ident, $layer:path, $number:literal, $wide:literal, ($($a:ident: $class:ident),*), $hook:path) => {{
        let real = wrapper!(@real $layer, $number, ($($a: $class),*));
        match Call::enter($number) {
            // SAFETY: the program's own call is passed on.
            None => unsafe { real($($a),*) },
            Some(_call) => {
                at_work!($about, $($a),*);
                // SAFETY: as above.
                unsafe { real($($a),*) }
            }
        }
    }};
    (@hooked $about:ident, $layer:path, $number:literal, $wide:literal, ($($a:ident: $class:ident),*), $hook:path) => {{
        let real = wrapper!(@real $layer, $number, ($($a: $class),*));
        match Call::enter($number) {
            // SAFETY: the program's own call is passed on.
            None => unsafe { real($($a),*) },
            Some(mut call) => {
                let arguments = Arguments { values: [$(normal!($class, $a)),*], wide: $wide };
                $hook(
                    &mut call,
                    arguments,
                    #[inline(always)]
                    |[$($a),*]: [usize; _]| {
                        at_work!($about, $($a),*);
                        // SAFETY: the program's own call is passed on; hooks replace pointers to statuses only,
                        // by valid ones.
                        unsafe { real($($a),*) }
                    },
                )
            }
        }
    }};
    (@body starting, $layer:path, $number:literal, $wide:literal, ($($a:ident: $class:ident),*), $hook:path) => {{
        let real = wrapper!(@real $layer, $number, ($($a: $class),*));
        // SAFETY: the program's own call is passed on.
        $hook($number, || unsafe { real($($a),*) })
    }};
}

include!(concat!(env!("OUT_DIR"), "/wrappers.rs"));
