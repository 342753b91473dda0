//! Exit status.

/// How the program ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// 0: everything was printed, and gates passed.
    Done,
    /// 1: a gate failed (`diff`, `check`).
    GateFailed,
    /// 2: anything else went wrong: usage, an unreadable file, a gate that cannot be evaluated.
    Failed,
}

impl Status {
    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Status::Done => 0,
            Status::GateFailed => 1,
            Status::Failed => 2,
        }
    }
}
