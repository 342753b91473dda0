//! Skipped tests: what a machine lacks is reported, and is a failure where it must not be missing.
//!
//! `REPLAY_REQUIRE=mpi,otf2-print,python` names what a machine is supposed to have: skipping a test because
//! that is missing fails it. `.ci/run` sets it.

use std::fmt::Display;

/// Prerequisite of tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// An MPI library with its launcher and compilers.
    Mpi,
    /// The program of Debian's otf2-tools.
    Otf2Print,
    /// The program of SIONlib that takes containers apart.
    Sionsplit,
    /// Python, with packages that read what we write.
    Python,
    /// Compilers and the tools beside them.
    Compiler,
    /// Something of the operating system: a file system, a right, a batch system.
    System,
}

impl Need {
    /// Name in `REPLAY_REQUIRE`.
    pub const fn name(self) -> &'static str {
        match self {
            Need::Mpi => "mpi",
            Need::Otf2Print => "otf2-print",
            Need::Sionsplit => "sionsplit",
            Need::Python => "python",
            Need::Compiler => "compiler",
            Need::System => "system",
        }
    }

    fn is_in(self, list: &str) -> bool {
        list.split(',').any(|name| name.trim() == self.name())
    }
}

/// Reports that a test is skipped, and why.
///
/// # Panics
/// If `REPLAY_REQUIRE` names what is missing.
#[track_caller]
pub fn skip(need: Need, what: impl Display) {
    let required = std::env::var("REPLAY_REQUIRE").unwrap_or_default();
    assert!(!need.is_in(&required), "REPLAY_REQUIRE names {}, but: {what}", need.name());
    println!("skipped: {what}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_named_is_required() {
        assert!(Need::Mpi.is_in("python, mpi") && Need::Otf2Print.is_in("otf2-print"));
        assert!(!Need::Mpi.is_in("") && !Need::Mpi.is_in("mpich"));
    }
}
