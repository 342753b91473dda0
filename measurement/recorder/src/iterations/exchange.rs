//! Exchanges of numbers with all other processes, as non-blocking collective operations on a communicator of their own.

use crate::iterations::plan::{Exchange, NUMBERS, Numbers};
use crate::mpi::Mpi;

/// The communicator, and the operation that is under way on it.
pub(crate) struct AllReduce {
    mpi: Mpi,
    communicator: usize,
    request: usize,
    /// Whether MPI has refused something: nothing is exchanged any more.
    has_failed: bool,
    buffers: Box<Buffers>,
}

/// What MPI reads and writes while an operation is under way. They do not move, and are never freed before its end.
struct Buffers {
    mine: Numbers,
    largest: Numbers,
}

impl AllReduce {
    /// Makes the communicator, as a duplicate; all processes do so. Errors on it are returned: they must not end the
    /// program, nor call a function of it.
    pub(crate) fn new(mpi: &Mpi, of: usize) -> AllReduce {
        let mut communicator = 0;
        // SAFETY: the communicator exists, all processes duplicate it, and the result is writable.
        let has_failed = unsafe {
            (mpi.comm_dup)(of, &mut communicator) != 0
                || (mpi.comm_set_errhandler)(communicator, mpi.errors_return) != 0
        };
        let buffers = Box::new(Buffers { mine: [0; NUMBERS], largest: [0; NUMBERS] });
        AllReduce { mpi: *mpi, communicator, request: 0, has_failed, buffers }
    }

    /// Frees the communicator. No operation is under way, and none is started any more.
    pub(crate) fn free(&mut self) {
        if !self.has_failed {
            // SAFETY: the communicator is this value's own.
            unsafe { (self.mpi.comm_free)(&mut self.communicator) };
        }
        self.has_failed = true;
    }
}

impl Exchange for AllReduce {
    fn begin(&mut self, mine: Numbers) {
        if self.has_failed {
            return;
        }
        self.buffers.mine = mine;
        let Buffers { mine, largest } = &mut *self.buffers;
        let (mpi, count) = (&self.mpi, NUMBERS as i32);
        // SAFETY: both arrays have so many values of `long long`; they are in a box that lives as long as the process does
        // or until the operation has ended, and nobody uses them before. Only the thread that may call MPI comes here, from
        // inside of a call of the program.
        let failed = unsafe {
            (mpi.iallreduce)(
                mine.as_ptr(),
                largest.as_mut_ptr(),
                count,
                mpi.long_long,
                mpi.max,
                self.communicator,
                &mut self.request,
            )
        };
        self.has_failed = failed != 0;
    }

    fn test(&mut self) -> Option<Numbers> {
        if self.has_failed {
            return None;
        }
        let mut is_complete = 0;
        // SAFETY: the request is that of the operation that is under way; the flag is writable.
        let failed =
            unsafe { (self.mpi.test)(&mut self.request, &mut is_complete, self.mpi.status_ignore()) };
        self.has_failed = failed != 0;
        // The operation has ended: MPI does not write to the buffers any more.
        (failed == 0 && is_complete != 0).then_some(self.buffers.largest)
    }

    fn wait(&mut self) -> Option<Numbers> {
        while !self.has_failed {
            if let Some(largest) = self.test() {
                return Some(largest);
            }
            // Others may need the processor.
            std::thread::yield_now();
        }
        None
    }
}
