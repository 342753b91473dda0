//! Operations of which all members say yes: both sides of a message, all members of a collective operation.
//!
//! Sides of messages are told channel by channel in the order in which they match; members of collective operations tell the
//! worker that judges the operation, which answers where not all have said yes. Recording must not have been interrupted:
//! then the k-th ones belong together.

use super::channels::{ByChannel, Channel, Channels};
use super::collectives::{judge_of, numbers};
use super::pairwise;
use super::participation::Series;
use crate::communicators::Participants;
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange};
use crate::int::to_u32;
use crate::operations::{WORLD_AT_FINALIZE, WORLD_AT_INIT};
use crate::tools::Tools;
use crate::trace::Trace;
use crate::walk::Walked;
use crate::wire::{Halves, Wire};

/// What a process says of its operations, by their positions.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Said {
    pub(crate) sends: Vec<bool>,
    pub(crate) receives: Vec<bool>,
    pub(crate) collectives: Vec<bool>,
    pub(crate) nonblocking: Vec<bool>,
}

/// Kinds of sides, and of collective operations.
const SENDS: u64 = 0;
const RECEIVES: u64 = 1;
const BLOCKING: u64 = 0;
const NON_BLOCKING: u64 = 1;

/// Turns yes into no where another member says no.
///
/// # Errors
/// If a worker failed.
pub(crate) fn unanimous(
    tools: &Tools<'_>,
    processes: &[Walked],
    said: &mut [Said],
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    messages(tools, processes, said, exchange)?;
    collectives(tools.trace, processes, said, exchange)
}

fn messages(
    tools: &Tools<'_>,
    processes: &[Walked],
    said: &mut [Said],
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    let channels: Vec<Channels> =
        processes.iter().map(|walked| Channels::new(walked, tools.trace.semantics)).collect();
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    for ((walked, channels), said) in processes.iter().zip(&channels).zip(&*said) {
        let me = to_u32(walked.process.number);
        let mut tell = |kind: u64, channels: &ByChannel, said: &[bool]| {
            for (channel, list, _) in channels.lists() {
                let Channel { communicator, peer, tag, partitioned } = *channel;
                let batch = &mut outgoing[tools.owners.of(peer as usize)];
                (kind, (Halves(communicator, me), Halves(peer, tag))).put(batch);
                (partitioned, packed(list.iter().map(|&at| said[at as usize]))).put(batch);
            }
        };
        tell(SENDS, &channels.sends, &said.sends);
        tell(RECEIVES, &channels.receives, &said.receives);
    }
    let first = processes.first().map_or(0, |walked| walked.process.number);
    for batch in exchange.exchange(outgoing)? {
        let mut reader = BatchReader::new(&batch);
        while !reader.is_empty() {
            type Head = (u64, (Halves<u32, u32>, Halves<u32, u32>));
            let (kind, (Halves(communicator, peer), Halves(me, tag))): Head = Wire::get(&mut reader);
            let (partitioned, others): (u32, Vec<u64>) = Wire::get(&mut reader);
            let channel = Channel { communicator, peer, tag, partitioned };
            let at = me as usize - first;
            let (list, said) = match kind {
                SENDS => (channels[at].receives.find(channel).0, &mut said[at].receives),
                _ => (channels[at].sends.find(channel).0, &mut said[at].sends),
            };
            for (number, &at) in list.iter().enumerate() {
                // Those without other side stay as they are.
                let other = others.get(number / 64).map(|word| word >> (number % 64) & 1);
                said[at as usize] &= other != Some(0);
            }
        }
    }
    Ok(())
}

/// Yes and no in words: bits from the lowest on, and ones behind the last.
fn packed(said: impl ExactSizeIterator<Item = bool>) -> Vec<u64> {
    let mut words = vec![u64::MAX; said.len().div_ceil(64)];
    for (at, said) in said.enumerate().filter(|(_, said)| !said) {
        words[at / 64] &= !(u64::from(!said) << (at % 64));
    }
    words
}

/// A member's part in a collective operation.
struct Part {
    /// Communicator, series, number, process if it is alone, persistent operation.
    operation: ((u32, u64), ((u32, u32), u32)),
    process: u32,
    /// Blocking or not, and its position among those.
    place: (u64, u32),
    says: bool,
}

fn collectives(
    trace: &Trace,
    processes: &[Walked],
    said: &mut [Said],
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    let workers = outgoing.len();
    for (walked, said) in processes.iter().zip(&*said) {
        let process = to_u32(walked.process.number);
        let mut tell = |Part { operation, process, place, says }: Part| {
            let ((communicator, _), ((instance, _), _)) = operation;
            (operation, (process, (place, says)))
                .put(&mut outgoing[judge_of(communicator, instance, workers)]);
        };
        let alone = |communicator: u32| match trace.communicators.get(communicator as usize) {
            Some(Participants::Myself) => process,
            _ => 0,
        };
        let blocking = walked.operations.collectives.iter().zip(numbers(trace, walked));
        for (position, (collective, numbers)) in (0..).zip(blocking) {
            let communicator = collective.communicator;
            // There is one of each, and all have them.
            if [WORLD_AT_INIT, WORLD_AT_FINALIZE].contains(&communicator) {
                continue;
            }
            let series = Series::of(collective) as u64;
            let operation = ((communicator, series), ((numbers.instance, alone(communicator)), 0));
            let says = said.collectives[position as usize];
            tell(Part { operation, process, place: (BLOCKING, position), says });
        }
        for (position, communicator, (series, instance, persistent)) in pairwise::numbered(walked) {
            let operation = ((communicator, series as u64), ((instance, alone(communicator)), persistent));
            let says = said.nonblocking[position as usize];
            tell(Part { operation, process, place: (NON_BLOCKING, position), says });
        }
    }
    let mut parts = Vec::new();
    for (worker, batch) in exchange.exchange(outgoing)?.iter().enumerate() {
        let mut reader = BatchReader::new(batch);
        while !reader.is_empty() {
            let (operation, (process, (place, says))) = Wire::get(&mut reader);
            parts.push((worker, Part { operation, process, place, says }));
        }
    }
    parts.sort_by_key(|(_, part)| part.operation);
    let mut answers = vec![Batch::new(); workers];
    for members in parts.chunk_by(|(_, a), (_, b)| a.operation == b.operation) {
        if members.iter().all(|(_, part)| part.says) {
            continue;
        }
        for (worker, Part { process, place, .. }) in members.iter().filter(|(_, part)| part.says) {
            (*process, *place).put(&mut answers[*worker]);
        }
    }
    let first = processes.first().map_or(0, |walked| walked.process.number);
    for batch in exchange.exchange(answers)? {
        let mut reader = BatchReader::new(&batch);
        while !reader.is_empty() {
            let (process, (kind, position)): (u32, (u64, u32)) = Wire::get(&mut reader);
            let said = &mut said[process as usize - first];
            let list = if kind == BLOCKING { &mut said.collectives } else { &mut said.nonblocking };
            list[position as usize] = false;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yes_and_no_are_bits_and_what_is_behind_them_is_yes() {
        let said: Vec<bool> = (0..70).map(|at| at % 3 != 0).collect();
        let words = packed(said.iter().copied());
        let back: Vec<bool> = (0..70).map(|at| words[at / 64] >> (at % 64) & 1 == 1).collect();
        assert_eq!((back, words.len(), words[1] >> 6), (said, 2, u64::MAX >> 6));
        assert!(packed([].into_iter()).is_empty());
    }
}
