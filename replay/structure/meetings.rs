//! Meetings: messages and collective operations, which show whether iterations of different locations correspond.

use model::Ticks;

use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange};
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

/// Calls `with` with the receiving call and the sending one of each message to these processes, each with what `of_call` says of
/// it, which its owner is asked for.
///
/// # Errors
/// If a worker failed.
pub(super) fn at_messages(
    tools: &Tools<'_>,
    (processes, matches): (&[Walked], &[Matches]),
    of_call: impl Fn(CallAt) -> u64,
    exchange: &mut dyn Exchange,
    mut with: impl FnMut([(u32, u64); 2]),
) -> Result<(), Error> {
    let mut questions = vec![Batch::new(); exchange.workers()];
    messages(processes, matches, |_, CallAt { location, enter }| {
        (location, enter).put(&mut questions[tools.owner_of(location)]);
    });
    let asked = exchange.exchange(questions)?;
    let answer = |batch: &Batch| {
        let calls = wire::all::<(u32, Ticks)>(batch);
        calls.map(|(location, enter)| of_call(CallAt { location, enter })).collect()
    };
    let answers = exchange.exchange(asked.iter().map(answer).collect())?;
    let mut answers: Vec<BatchReader<'_>> = answers.iter().map(|batch| BatchReader::new(batch)).collect();
    messages(processes, matches, |receiver, sender| {
        let of_sender = answers[tools.owner_of(sender.location)].word();
        with([(receiver.location, of_call(receiver)), (sender.location, of_sender)]);
    });
    Ok(())
}

/// Calls `with` with all members of each blocking collective operation that this worker judges, by location, each with what
/// `of_call` says of its call.
///
/// # Errors
/// If a worker failed.
pub(super) fn at_collectives(
    tools: &Tools<'_>,
    processes: &[Walked],
    of_call: impl Fn(CallAt) -> u64,
    exchange: &mut dyn Exchange,
    mut with: impl FnMut(&[(u32, u64)]),
) -> Result<(), Error> {
    let workers = exchange.workers();
    let mut outgoing = vec![Batch::new(); workers];
    for walked in processes {
        let operations = walked.operations.collectives.iter();
        for (collective, instance) in operations.zip(matching::instances(tools.trace, walked)) {
            let Some((communicator, instance)) = instance else { continue };
            let call = walked.operations.call(collective.call);
            let (location, enter) = (call.site.location, call.interval.enter);
            let batch = &mut outgoing[matching::judge_of(communicator, instance, workers)];
            ((communicator, instance), (location, of_call(CallAt { location, enter }))).put(batch);
        }
    }
    let told = exchange.exchange(outgoing)?;
    let mut parts: Vec<((u32, u32), (u32, u64))> = told.iter().flat_map(|batch| wire::all(batch)).collect();
    parts.sort_unstable();
    let mut members = Vec::new();
    for parts in parts.chunk_by(|a, b| a.0 == b.0).filter(|parts| parts.len() > 1) {
        members.clear();
        members.extend(parts.iter().map(|part| part.1));
        with(&members);
    }
    Ok(())
}
