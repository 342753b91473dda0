//! Meetings: messages and collective operations, which show whether iterations of different locations correspond.

use std::cell::OnceCell;

use model::Ticks;

use crate::error::Error;
use crate::exchange::batch::{BatchReader, pair};
use crate::exchange::{Batch, Exchange};
use crate::int::to_u32;
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

/// One side of a meeting, with what was said of its call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side<const N: usize> {
    pub(super) location: u32,
    pub(super) words: [u64; N],
}

/// A member of a collective operation.
struct Member<const N: usize> {
    /// Communicator and number of the operation.
    operation: u64,
    side: Side<N>,
}

/// The messages to these processes, and their blocking collective operations.
pub(super) struct Meetings<'a> {
    tools: &'a Tools<'a>,
    processes: &'a [Walked],
    matches: &'a [Matches],
    /// By process and operation: its communicator, and its number there.
    instances: Vec<Vec<Option<(u32, u32)>>>,
    /// The members of collective operations that this worker judges, those of an operation one behind the other; once somebody has
    /// asked.
    order: OnceCell<Vec<u32>>,
}

impl<'a> Meetings<'a> {
    pub(super) fn new(tools: &'a Tools<'a>, processes: &'a [Walked], matches: &'a [Matches]) -> Meetings<'a> {
        let instances = processes.iter().map(|walked| matching::instances(tools.trace, walked)).collect();
        Meetings { tools, processes, matches, instances, order: OnceCell::new() }
    }

    /// Calls a function with the calls in which each message was received and sent, of receivers among these processes.
    fn messages(&self, mut with: impl FnMut(CallAt, CallAt)) {
        for (walked, matches) in self.processes.iter().zip(self.matches) {
            for (receive, send) in walked.operations.receives.iter().zip(matches.sends.iter()) {
                let Some(send) = send else { continue };
                let call = walked.operations.call(receive.call);
                let receiver = CallAt { location: call.site.location, enter: call.interval.enter };
                with(receiver, CallAt { location: send.place.location, enter: send.call.enter });
            }
        }
    }

    /// Calls `with` with the receiving side and the sending one of each message to these processes, each with what `of_call` says
    /// of its call; the owner of a sender is asked for it.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn at_messages<const N: usize>(
        &self,
        mut of_call: impl FnMut(CallAt) -> [u64; N],
        exchange: &mut dyn Exchange,
        mut with: impl FnMut([Side<N>; 2]),
    ) -> Result<(), Error> {
        let worker = exchange.worker();
        let mut questions = vec![Batch::new(); exchange.workers()];
        if exchange.workers() > 1 {
            self.messages(|_, CallAt { location, enter }| {
                let owner = self.tools.owner_of(location);
                if owner != worker {
                    (location, enter).put(&mut questions[owner]);
                }
            });
        }
        let asked = exchange.exchange(questions)?;
        let answer = |batch: &Batch| {
            let mut answers = Batch::new();
            let calls = wire::all::<(u32, Ticks)>(batch);
            calls.for_each(|(location, enter)| answers.extend(of_call(CallAt { location, enter })));
            answers
        };
        let answers = exchange.exchange(asked.iter().map(answer).collect())?;
        let mut answers: Vec<BatchReader<'_>> = answers.iter().map(|batch| BatchReader::new(batch)).collect();
        self.messages(|receiver, sender| {
            let owner = if answers.len() > 1 { self.tools.owner_of(sender.location) } else { worker };
            let mut said = |call: CallAt| Side { location: call.location, words: of_call(call) };
            let receiver = said(receiver);
            let sender = match owner == worker {
                true => said(sender),
                false => Side { location: sender.location, words: Wire::get(&mut answers[owner]) },
            };
            with([receiver, sender]);
        });
        Ok(())
    }

    /// Calls `with` with all members of each blocking collective operation that this worker judges, by location, each with what
    /// `of_call` says of its call.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn at_collectives<const N: usize>(
        &self,
        mut of_call: impl FnMut(CallAt) -> [u64; N],
        exchange: &mut dyn Exchange,
        mut with: impl FnMut(&[Side<N>]),
    ) -> Result<(), Error> {
        let (worker, workers) = (exchange.worker(), exchange.workers());
        let mut outgoing = vec![Batch::new(); workers];
        let mut own: Vec<Member<N>> = Vec::new();
        for (walked, instances) in self.processes.iter().zip(&self.instances) {
            for (collective, instance) in walked.operations.collectives.iter().zip(instances) {
                let Some((communicator, instance)) = *instance else { continue };
                let call = walked.operations.call(collective.call);
                let call = CallAt { location: call.site.location, enter: call.interval.enter };
                let side = Side { location: call.location, words: of_call(call) };
                let operation = pair(communicator, instance);
                match matching::judge_of(communicator, instance, workers) {
                    judge if judge == worker => own.push(Member { operation, side }),
                    judge => (operation, (side.location, side.words)).put(&mut outgoing[judge]),
                }
            }
        }
        let told = exchange.exchange(outgoing)?;
        let [before, behind] = [0..worker, worker..workers].map(|workers| {
            told[workers]
                .iter()
                .flat_map(|batch| wire::all::<(u64, (u32, [u64; N]))>(batch))
                .map(|(operation, (location, words))| Member { operation, side: Side { location, words } })
        });
        let members: Vec<Member<N>> = before.chain(own).chain(behind).collect();
        // Each location's are in order, so a sort that is stable merges them; and those of an operation stay in the order of
        // locations. They are the same members each time.
        let order = self.order.get_or_init(|| {
            let mut order: Vec<u32> = (0..to_u32(members.len())).collect();
            order.sort_by_key(|&member| members[member as usize].operation);
            order
        });
        let operation = |member: u32| members[member as usize].operation;
        let mut sides = Vec::new();
        for of_one in order.chunk_by(|&a, &b| operation(a) == operation(b)).filter(|of_one| of_one.len() > 1)
        {
            sides.clear();
            sides.extend(of_one.iter().map(|&member| members[member as usize].side));
            with(&sides);
        }
        Ok(())
    }
}
