//! The registers that unwinding starts with.

/// Registers of a thread at some place in its code.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Registers {
    /// Address of an instruction, not a return address.
    pub instruction: u64,
    /// The stack pointer.
    pub stack: u64,
    /// The frame pointer (`rbp`, `x29`), which may hold anything.
    pub frame: u64,
}

impl Registers {
    /// Returns the registers of the function in which this is called: it is always inlined.
    ///
    /// They are good for unwinding as long as that function has not returned. All are zero on architectures
    /// that are not supported, which leaves paths without frames.
    #[inline(always)]
    pub fn here() -> Self {
        #[allow(unused_mut)]
        let mut registers = Self::default();
        #[cfg(target_arch = "x86_64")]
        // SAFETY: copies registers; touches neither memory nor stack nor flags.
        unsafe {
            std::arch::asm!(
                "lea {instruction}, [rip]",
                "mov {stack}, rsp",
                "mov {frame}, rbp",
                instruction = out(reg) registers.instruction,
                stack = out(reg) registers.stack,
                frame = out(reg) registers.frame,
                options(nomem, nostack, preserves_flags),
            );
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: copies registers; touches neither memory nor stack nor flags.
        unsafe {
            std::arch::asm!(
                "adr {instruction}, .",
                "mov {stack}, sp",
                "mov {frame}, x29",
                instruction = out(reg) registers.instruction,
                stack = out(reg) registers.stack,
                frame = out(reg) registers.frame,
                options(nomem, nostack, preserves_flags),
            );
        }
        registers
    }
}
