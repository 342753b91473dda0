//! A number with three flags in 32 bits.

/// Number of bits for flags.
const FLAGS: u32 = 3;

/// A number below 2^29, and three flags. There are fewer call sites and fewer envelopes: each takes more than
/// eight bytes of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Flagged(u32);

impl Flagged {
    /// A number without flags.
    pub(crate) fn new(number: u32) -> Flagged {
        Flagged(number << FLAGS)
    }

    /// The number.
    pub(crate) fn number(self) -> usize {
        (self.0 >> FLAGS) as usize
    }

    /// Whether a flag is set, one of the lowest three bits.
    pub(crate) fn has(self, flag: u32) -> bool {
        self.0 & flag != 0
    }

    /// Sets a flag if `is_so`.
    #[must_use]
    pub(crate) fn with(self, flag: u32, is_so: bool) -> Flagged {
        if is_so { Flagged(self.0 | flag) } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_leave_the_number_alone() {
        let number = Flagged::new(5).with(1, false).with(4, true);
        assert_eq!((number.number(), number.has(1), number.has(2), number.has(4)), (5, false, false, true));
    }
}
