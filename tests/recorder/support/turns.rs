//! Limit of concurrent programs: waiting ranks keep processors busy, and times are measured.

use super::build::Mpi;
use std::sync::{Condvar, Mutex};

/// Number of programs that may run at a time.
const ALL: usize = 2;

static FREE: (Mutex<usize>, Condvar) = (Mutex::new(ALL), Condvar::new());

/// The right to run programs, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn(usize);

impl Turn {
    /// Beside another program, if waiting ranks of the MPI yield.
    pub(crate) fn shared(mpi: &Mpi) -> Turn {
        if mpi.is_open_mpi { Turn::take(1) } else { Turn::alone() }
    }

    /// Beside no other program.
    pub(crate) fn alone() -> Turn {
        Turn::take(ALL)
    }

    fn take(share: usize) -> Turn {
        let (free, changed) = &FREE;
        // A test that has failed meanwhile has left the number in a valid state.
        let free = free.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut free =
            changed.wait_while(free, |free| *free < share).unwrap_or_else(|poisoned| poisoned.into_inner());
        *free -= share;
        Turn(share)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let (free, changed) = &FREE;
        *free.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) += self.0;
        changed.notify_all();
    }
}
