//! Steps of a thread: what its events mean, in the order of time, as they lie in the spool.

use std::io;

use crate::spool::{Blocks, Spool, put, take};

/// What happens at a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// A call begins: the number of its region.
    Enter { region: u32, of: Callee },
    /// The innermost call ends.
    Leave,
    /// A counter, by its number, has counted more since its last record.
    Count { counter: u32, more: u64 },
    /// The call that has just begun is a collective operation.
    Collective(Collective),
    /// The callers of the call that begins next: a number of the call paths.
    Callers { path: u32 },
}

/// What is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Callee {
    /// A function of the program.
    Program,
    /// A function of MPI that is known to be about messages.
    Messages,
    /// Another function of MPI, which may be about messages, too.
    Mpi,
}

/// A collective operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Collective {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// Position of the communicator.
    pub(crate) communicator: u32,
    /// Its position among the operations with a root there.
    pub(crate) order: u64,
}

/// Bits of a step's kind, below its time.
const KIND_BITS: u32 = 3;
const LEAVE: u64 = 0;
const ENTER: u64 = 1;
const ENTER_MPI: u64 = 2;
const COUNT: u64 = 3;
const COLLECTIVE: u64 = 4;
const CALLERS: u64 = 5;
const ENTER_MESSAGES: u64 = 6;

/// Appends a step; `passed` is the time since the step before.
#[inline]
pub(crate) fn encode(passed: u64, step: Step, bytes: &mut Vec<u8>) {
    let head = |kind: u64, bytes: &mut Vec<u8>| put(passed << KIND_BITS | kind, bytes);
    match step {
        Step::Leave => head(LEAVE, bytes),
        Step::Enter { region, of } => {
            let kind = match of {
                Callee::Program => ENTER,
                Callee::Messages => ENTER_MESSAGES,
                Callee::Mpi => ENTER_MPI,
            };
            head(kind, bytes);
            put(region.into(), bytes);
        }
        Step::Count { counter, more } => {
            head(COUNT, bytes);
            put(counter.into(), bytes);
            put(more, bytes);
        }
        Step::Collective(Collective { sent, received, communicator, order }) => {
            head(COLLECTIVE, bytes);
            [sent, received, communicator.into(), order].into_iter().for_each(|number| put(number, bytes));
        }
        Step::Callers { path } => {
            head(CALLERS, bytes);
            put(path.into(), bytes);
        }
    }
}

/// Reads the steps of a thread.
#[derive(Debug)]
pub(crate) struct Steps<'s> {
    blocks: Blocks<'s>,
    buffer: Vec<u8>,
    at: usize,
    time: u64,
}

impl<'s> Steps<'s> {
    pub(crate) fn new(spool: &'s Spool, stream: usize) -> Steps<'s> {
        Steps { blocks: spool.blocks(stream), buffer: Vec::new(), at: 0, time: 0 }
    }

    /// The next step with its time.
    #[inline]
    pub(crate) fn next(&mut self) -> io::Result<Option<(u64, Step)>> {
        if self.at >= self.buffer.len() {
            self.at = 0;
            if !self.blocks.next(&mut self.buffer)? {
                self.buffer.clear();
                return Ok(None);
            }
        }
        let mut left = self.buffer.get(self.at..).unwrap_or_default();
        let step = decode(&mut left);
        self.at = self.buffer.len() - left.len();
        Ok(step.map(|(passed, step)| {
            self.time += passed;
            (self.time, step)
        }))
    }
}

#[inline]
fn decode(bytes: &mut &[u8]) -> Option<(u64, Step)> {
    let head = take(bytes)?;
    let mut number = || take(bytes);
    let small = |number: u64| u32::try_from(number).ok();
    let step = match head & ((1 << KIND_BITS) - 1) {
        LEAVE => Step::Leave,
        ENTER => Step::Enter { region: small(number()?)?, of: Callee::Program },
        ENTER_MPI => Step::Enter { region: small(number()?)?, of: Callee::Mpi },
        ENTER_MESSAGES => Step::Enter { region: small(number()?)?, of: Callee::Messages },
        COUNT => Step::Count { counter: small(number()?)?, more: number()? },
        COLLECTIVE => Step::Collective(Collective {
            sent: number()?,
            received: number()?,
            communicator: small(number()?)?,
            order: number()?,
        }),
        CALLERS => Step::Callers { path: small(number()?)? },
        _ => return None,
    };
    Some((head >> KIND_BITS, step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_read_as_they_were_written() {
        let collective = Collective { sent: 1 << 40, received: 0, communicator: 3, order: 1 << 33 };
        let steps = [
            (0, Step::Enter { region: 7, of: Callee::Mpi }),
            (0, Step::Enter { region: 8, of: Callee::Messages }),
            (1 << 60, Step::Leave),
            (3, Step::Count { counter: 2, more: u64::MAX }),
            (0, Step::Callers { path: 9 }),
            (0, Step::Enter { region: u32::MAX, of: Callee::Program }),
            (0, Step::Collective(collective)),
        ];
        let mut spool = Spool::new(tempfile::tempfile().unwrap(), 1);
        let mut item = Vec::new();
        for (passed, step) in steps {
            item.clear();
            encode(passed, step, &mut item);
            spool.push(0, &item).unwrap();
        }
        let mut read = Steps::new(&spool, 0);
        let mut time = 0;
        for (passed, step) in steps {
            time += passed;
            assert_eq!(read.next().unwrap(), Some((time, step)));
        }
        assert_eq!(read.next().unwrap(), None);
        assert_eq!(read.next().unwrap(), None);
    }
}
