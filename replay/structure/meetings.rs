//! Meetings: messages and collective operations, which show whether iterations of different locations correspond.

use model::Ticks;

use crate::error::Error;
use crate::exchange::batch::{BatchReader, halves, pair};
use crate::exchange::{Batch, Exchange, share};
use crate::int::to_usize;
use crate::matching::{self, Matches};
use crate::tools::Tools;
use crate::walk::Walked;
use crate::wire::{self, Wire};

/// A call of a location, by the time of its enter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CallAt {
    /// Position of the location in the report.
    pub(super) location: u32,
    pub(super) enter: Ticks,
}

/// One side of a meeting, with the words that were said of its call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side<'a> {
    pub(super) location: u32,
    pub(super) words: &'a [u64],
}

/// Calls a function with the calls in which each message was received and sent, of receivers among these processes.
fn messages(processes: &[Walked], matches: &[Matches], mut with: impl FnMut(CallAt, CallAt)) {
    for (walked, matches) in processes.iter().zip(matches) {
        for (receive, send) in walked.operations.receives.iter().zip(matches.sends.iter()) {
            let Some(send) = send else { continue };
            let call = walked.operations.call(receive.call);
            let receiver = CallAt { location: call.site.location, enter: call.interval.enter };
            with(receiver, CallAt { location: send.place.location, enter: send.call.enter });
        }
    }
}

/// Calls `with` with the receiving side and the sending one of each message to these processes, each with what `of_call` says of
/// its call, in words, as many for each call; the owner of a sender is asked for these.
///
/// # Errors
/// If a worker failed.
pub(super) fn at_messages(
    tools: &Tools<'_>,
    (processes, matches): (&[Walked], &[Matches]),
    mut of_call: impl FnMut(CallAt, &mut Vec<u64>),
    exchange: &mut dyn Exchange,
    mut with: impl FnMut([Side<'_>; 2]),
) -> Result<(), Error> {
    let worker = exchange.worker();
    let mut questions = vec![Batch::new(); exchange.workers()];
    if exchange.workers() > 1 {
        messages(processes, matches, |_, CallAt { location, enter }| {
            let owner = tools.owner_of(location);
            if owner != worker {
                (location, enter).put(&mut questions[owner]);
            }
        });
    }
    let asked = exchange.exchange(questions)?;
    let answer = |batch: &Batch| {
        let mut answers = Batch::new();
        let calls = wire::all::<(u32, Ticks)>(batch);
        calls.for_each(|(location, enter)| of_call(CallAt { location, enter }, &mut answers));
        answers
    };
    let answers = exchange.exchange(asked.iter().map(answer).collect())?;
    let mut answers: Vec<BatchReader<'_>> = answers.iter().map(|batch| BatchReader::new(batch)).collect();
    let (mut receiving, mut sending) = (Vec::new(), Vec::new());
    messages(processes, matches, |receiver, sender| {
        receiving.clear();
        of_call(receiver, &mut receiving);
        let owner = if answers.len() > 1 { tools.owner_of(sender.location) } else { worker };
        let words = match owner == worker {
            true => {
                sending.clear();
                of_call(sender, &mut sending);
                &sending
            }
            false => answers[owner].words(receiving.len()),
        };
        let receiver = Side { location: receiver.location, words: &receiving };
        with([receiver, Side { location: sender.location, words }]);
    });
    Ok(())
}

/// A member of a collective operation.
struct Member {
    /// Communicator and number of the operation.
    operation: (u32, u32),
    location: u32,
    /// Where its words are in the list of all.
    words: usize,
}

/// Calls `with` with all members of each blocking collective operation that this worker judges, by location, each with what
/// `of_call` says of its call.
///
/// # Errors
/// If a worker failed.
pub(super) fn at_collectives(
    tools: &Tools<'_>,
    processes: &[Walked],
    mut of_call: impl FnMut(CallAt, &mut Vec<u64>),
    exchange: &mut dyn Exchange,
    mut with: impl FnMut(&[Side<'_>]),
) -> Result<(), Error> {
    let workers = exchange.workers();
    let mut outgoing = vec![Batch::new(); workers];
    // Words of a member, the same for all.
    let mut width = 0;
    for walked in processes {
        let operations = walked.operations.collectives.iter();
        for (collective, instance) in operations.zip(matching::instances(tools.trace, walked)) {
            let Some((communicator, instance)) = instance else { continue };
            let call = walked.operations.call(collective.call);
            let (location, enter) = (call.site.location, call.interval.enter);
            let batch = &mut outgoing[matching::judge_of(communicator, instance, workers)];
            (pair(communicator, instance), location).put(batch);
            let begin = batch.len();
            of_call(CallAt { location, enter }, batch);
            width = batch.len() - begin;
        }
    }
    // A worker without members may judge others.
    let widths = share(exchange, vec![width as u64])?;
    let width = to_usize(widths.iter().map(|batch| batch[0]).max().unwrap_or(0));
    let told = exchange.exchange(outgoing)?;
    let mut members: Vec<Member> = Vec::new();
    let mut words: Vec<u64> = Vec::new();
    for batch in &told {
        let mut reader = BatchReader::new(batch);
        while !reader.is_empty() {
            let (operation, location) = <(u64, u32)>::get(&mut reader);
            members.push(Member { operation: halves(operation), location, words: words.len() });
            words.extend(reader.words(width));
        }
    }
    // Each location's are in order, so a sort that is stable merges them; and those of an operation stay in the order of locations.
    members.sort_by_key(|member| member.operation);
    let mut sides = Vec::new();
    for members in members.chunk_by(|a, b| a.operation == b.operation).filter(|members| members.len() > 1) {
        sides.clear();
        let side = |member: &Member| Side {
            location: member.location,
            words: &words[member.words..member.words + width],
        };
        sides.extend(members.iter().map(side));
        with(&sides);
    }
    Ok(())
}
