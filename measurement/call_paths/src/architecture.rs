//! Registers of the processor's calling convention, by their DWARF numbers: those that a function must keep
//! for its caller.

use gimli::Register;

#[cfg(not(target_arch = "aarch64"))]
mod numbers {
    use super::*;
    /// The stack pointer.
    pub(crate) const STACK: Register = Register(7);
    /// The return address.
    pub(crate) const RETURN: Register = Register(16);
    /// `rbp` first, then `rbx`, `r12` to `r15`.
    pub(crate) const SAVED: [Register; 6] =
        [Register(6), Register(3), Register(12), Register(13), Register(14), Register(15)];
    /// Bits of a return address that are the address.
    pub(crate) const ADDRESS: u64 = u64::MAX;
}

#[cfg(target_arch = "aarch64")]
mod numbers {
    use super::*;
    /// The stack pointer.
    pub(crate) const STACK: Register = Register(31);
    /// The return address: the link register.
    pub(crate) const RETURN: Register = Register(30);
    /// `x29`, the frame pointer, first; then `x19` to `x23`; more are not used to find a caller.
    pub(crate) const SAVED: [Register; 6] =
        [Register(29), Register(19), Register(20), Register(21), Register(22), Register(23)];
    /// Bits of a return address that are the address: the upper ones may hold a signature.
    pub(crate) const ADDRESS: u64 = (1 << 48) - 1;
}

pub(crate) use numbers::*;
