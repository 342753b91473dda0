//! The names of the C library's functions for files, each of which jumps into the recorder.
//!
//! The recorder does not export these names itself, so that nobody's `read` passes through it unless files are to
//! be recorded: this library is preloaded in front of the recorder then, which looks for the next functions behind
//! itself.

/// The instruction that jumps to a function of the recorder.
#[cfg(target_arch = "x86_64")]
macro_rules! instruction {
    ($to:literal) => {
        concat!("jmp ", $to, "@PLT")
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! instruction {
    ($to:literal) => {
        concat!("b ", $to)
    };
}

/// Exports a function that is a jump to another one: it has the arguments and the stack of that.
macro_rules! jump {
    ($name:literal, $to:literal) => {
        const _: () = {
            #[unsafe(export_name = $name)]
            #[unsafe(naked)]
            unsafe extern "C" fn exported() {
                std::arch::naked_asm!(instruction!($to))
            }
        };
    };
}

include!(concat!(env!("OUT_DIR"), "/jumps.rs"));
