//! Who communicated with whom: every operation finds its partners.
//!
//! All time stamps are known before, so facts travel in bulk: one exchange brings the facts of sends to their receivers
//! and of receives to their senders, one brings the parts of collective operations to workers that see all members, one
//! brings their answers back.

mod collectives;
mod messages;
mod partners;
mod sides;
mod waits;

use model::Ticks;
use patterns::matched::{CollectiveClass, CollectiveMember};

use crate::error::Error;
use crate::exchange::{Batch, Exchange};
use crate::findings::Findings;
use crate::metrics::Metrics;
use crate::statistics::{Instance, SubjectId};
use crate::trace::Trace;
use crate::walk::ProcessProfile;

pub(crate) use collectives::{Operation, Part, Verdict, operations};
pub use partners::{Synchronised, With};
use sides::Mine;
pub use sides::{Facts, PostingFacts, SendFacts, Sides};

/// The partners of a process's operations; positions as in its [`Operations`](crate::operations::Operations).
#[derive(Clone, Debug, Default)]
pub struct Matches {
    /// For each receive, the send.
    pub sends: Sides<SendFacts>,
    /// For each send, the call that posted the receive.
    pub postings: Sides<PostingFacts>,
    /// How much later than its receive a message was sent at most, in ticks; 0 if none was.
    pub clock_error: Ticks,
    /// For each collective operation, what its members tell.
    pub collectives: Vec<Membership>,
    /// Instances of wait states in collective operations that this process speaks for, with the operation's position and
    /// the pattern; the call path is still missing.
    pub waits: Vec<(u32, SubjectId, Instance)>,
    /// With whom this process has synchronised in collective operations, by the operation's position; in no order.
    pub partners: Vec<(u32, Synchronised)>,
}

/// What a process learns about its part in a collective operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Membership {
    /// It waits for nobody, and nobody for it.
    #[default]
    Independent,
    /// It synchronises with others.
    Synchronising {
        /// Begin of the member that it has to wait for.
        last_begin: i64,
        /// Earliest end among the members that synchronise.
        first_end: i64,
    },
    /// Members are missing or contradict each other.
    Unmatched,
}

impl Membership {
    /// What patterns look at, for a member that synchronises.
    pub fn member(&self, class: CollectiveClass, begin: Ticks, end: Ticks) -> Option<CollectiveMember> {
        let Membership::Synchronising { last_begin, first_end } = *self else { return None };
        Some(CollectiveMember { class, begin, end, last_begin, first_end })
    }
}

/// Who works for which process.
#[derive(Clone, Debug)]
pub struct Owners {
    /// First process of each worker, in rising order.
    firsts: Vec<usize>,
}

impl Owners {
    /// The owners of consecutive blocks of processes.
    pub fn new(blocks: &[std::ops::Range<usize>]) -> Owners {
        Owners { firsts: blocks.iter().map(|block| block.start).collect() }
    }

    /// The worker that owns a process.
    pub fn of(&self, process: usize) -> usize {
        // Of workers with equal firsts all but the last have no process.
        self.firsts.partition_point(|&first| first <= process) - 1
    }
}

/// How many bytes finding the partners of these processes' operations may take: what is told, what is heard, and who
/// was found, twice, because lists grow by doubling and may be copied then.
pub fn bytes_needed(profiles: &[ProcessProfile]) -> u64 {
    let of = |profile: &ProcessProfile| {
        let operations = &profile.operations;
        let (sends, receives) = (operations.sends.len(), operations.receives.len());
        300 * (sends + receives) as u64 + 1000 * operations.collectives.len() as u64
    };
    profiles.iter().map(of).sum()
}

/// Finds the partners of all operations of this worker's processes.
///
/// # Errors
/// If a worker failed.
pub fn match_operations(
    trace: &Trace,
    metrics: &Metrics,
    profiles: &[ProcessProfile],
    owners: &Owners,
    findings: &mut Findings,
    exchange: &mut dyn Exchange,
) -> Result<Vec<Matches>, Error> {
    let mut matches = match_messages(trace, profiles, owners, findings, exchange)?;
    let parts = collect_parts(trace, profiles, exchange)?;
    let answers = collectives::judge(trace, metrics, &parts, owners, exchange.workers(), findings);
    drop(parts);
    let first = profiles.first().map_or(0, |profile| profile.process);
    for batch in exchange.exchange(answers)? {
        collectives::hear(&batch, first, &mut matches);
    }
    Ok(matches)
}

/// Finds the partners of messages only.
///
/// # Errors
/// If a worker failed.
pub(crate) fn match_messages(
    trace: &Trace,
    profiles: &[ProcessProfile],
    owners: &Owners,
    findings: &mut Findings,
    exchange: &mut dyn Exchange,
) -> Result<Vec<Matches>, Error> {
    let mut messages = vec![Batch::new(); exchange.workers()];
    let channels: Vec<_> =
        profiles.iter().map(|profile| messages::Channels::new(profile, trace.semantics)).collect();
    for (profile, channels) in profiles.iter().zip(&channels) {
        channels.check(profile, findings);
        channels.tell(profile, exchange.worker(), owners, &mut messages);
    }
    let messages = exchange.exchange(messages)?;

    let mine: Mine = profiles.iter().map(|profile| profile.operations.clone()).collect();
    let mut matches: Vec<Matches> = profiles.iter().map(|profile| Matches::new(profile, &mine)).collect();
    messages::join(profiles, &channels, &mut matches);
    let first = profiles.first().map_or(0, |profile| profile.process);
    for batch in messages {
        messages::hear(&batch, first, profiles, &channels, &mut matches);
    }
    Ok(matches)
}

/// The parts of all members in those collective operations that this worker judges; those of one operation together.
///
/// # Errors
/// If a worker failed.
pub(crate) fn collect_parts(
    trace: &Trace,
    profiles: &[ProcessProfile],
    exchange: &mut dyn Exchange,
) -> Result<Vec<Part>, Error> {
    let mut members = vec![Batch::new(); exchange.workers()];
    for profile in profiles {
        collectives::tell(profile, &mut members);
    }
    Ok(collectives::gather(trace, &exchange.exchange(members)?))
}

impl Matches {
    fn new(profile: &ProcessProfile, mine: &Mine) -> Matches {
        let operations = &profile.operations;
        Matches {
            sends: Sides::new(operations.receives.len(), mine),
            postings: Sides::new(operations.sends.len(), mine),
            clock_error: 0,
            collectives: vec![Membership::default(); operations.collectives.len()],
            waits: Vec::new(),
            partners: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worker_without_processes_owns_none() {
        let owners = Owners::new(&[0..2, 2..2, 2..3]);
        assert_eq!([owners.of(0), owners.of(1), owners.of(2)], [0, 0, 2]);
    }
}
