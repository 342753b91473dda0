//! Matching of operations: sends with receives, and members of collective operations with each other.
//!
//! All time stamps are known before, so facts travel in bulk: threads of one process read each other's
//! operations, one exchange sends the facts of sends to receivers on other workers and of receives to
//! senders, and rounds of two send the parts of collective operations to workers that see all members, and return
//! the results.

mod awaited;
mod channels;
mod collectives;
mod latecomers;
mod messages;
mod one_sided;
mod operation;
mod pairing;
pub(crate) mod pairwise;
mod participation;
mod partners;
mod probes;
mod progress;
mod returns;
mod rounds;
mod sides;
mod stalls;
mod threads;
mod told;
mod unanimous;
mod waits;

use std::sync::Arc;

use model::Ticks;
use patterns::collective::Synchronisation;
use patterns::matched::{CollectiveClass, CollectiveMember, NonBlockingMember};
use rustc_hash::FxHashSet;

use crate::details::instances::{BothSides, Threshold};
use crate::error::Error;
use crate::exchange::{Batch, Exchange};
use crate::findings::Findings;
use crate::operations::{Done, NonBlocking, Operations};
use crate::statistics::{Instance, SubjectId};
use crate::tools::Tools;
use crate::trace::Trace;
use crate::walk::Walked;
use returns::Questions;

pub(crate) use channels::Channels;
pub(crate) use collectives::{instances, judge_of};
pub use latecomers::{Latecomer, Latecomers};
use messages::Near;
pub(crate) use one_sided::match_epochs;
pub use one_sided::{Accessed, LockWait, OneSidedMatches, OriginEpoch, TargetReturn};
pub(crate) use operation::{Operation, Verdict};
pub use pairwise::{Awaitable, Progression};
pub(crate) use participation::Participation;
pub use partners::{Synchronised, With};
pub(crate) use rounds::Rounds;
pub use sides::{Facts, PostingFacts, Receipt, SendFacts, Sides};
pub use stalls::Stall;
pub(crate) use unanimous::{Said, unanimous};

/// The partners of a process's operations; positions as in its [`Operations`].
#[derive(Clone, Debug, Default)]
pub struct Matches {
    /// For each receive, the send.
    pub sends: Sides<SendFacts>,
    /// For each send, the call that posted the receive.
    pub postings: Sides<PostingFacts>,
    /// Largest time by which a message was sent after its receive, in ticks; 0 if none was.
    pub clock_error: Ticks,
    /// Receives that are matched only by equal numbers of messages behind a gap; in no order.
    pub unverified: Vec<u32>,
    /// The processes with pauses in their recording.
    pub paused: Arc<Paused>,
    /// For each collective operation, the result of its synchronisation.
    pub collectives: Vec<Membership>,
    /// For each non-blocking collective operation, whom it waits for.
    pub nonblocking: Vec<Progression>,
    /// For blocking collective operations whose members each wait for members of their own, by the operation's position in
    /// rising order: whom this process waits for.
    pub pairwise: Vec<(u32, Progression)>,
    /// Calls that wait for a message until another process is in MPI again, one for each, in their order.
    pub stalls: Vec<Stall>,
    /// Partners of one-sided communication.
    pub one_sided: OneSidedMatches,
    /// Instances of wait states in collective operations that this process represents, with the operation's
    /// position, the pattern and, for details, both sides; the call path is still missing.
    pub waits: Vec<(u32, SubjectId, Instance, Option<Box<BothSides>>)>,
    /// The processes with which this one has synchronised in collective operations, by the operation's
    /// position; in no order.
    pub partners: Vec<(u32, Synchronised)>,
}

/// Processes with pauses in their recording, in which missing operations are counted.
pub type Paused = FxHashSet<u32>;

/// Result for a member of a collective operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Membership {
    /// It does not synchronise with others.
    #[default]
    Independent,
    /// It synchronises with others.
    Synchronising {
        /// Start of the member that it has to wait for.
        last_begin: i64,
        /// Earliest end among the members that synchronise.
        first_end: i64,
    },
    /// Members are missing or contradict each other.
    Unmatched,
}

impl From<Option<Synchronisation>> for Membership {
    fn from(synchronisation: Option<Synchronisation>) -> Membership {
        match synchronisation {
            Some(Synchronisation { last_begin, first_end }) => {
                Membership::Synchronising { last_begin, first_end }
            }
            None => Membership::Independent,
        }
    }
}

impl Membership {
    /// Its synchronisation point, if it synchronises.
    pub fn synchronisation(&self) -> Option<Synchronisation> {
        match *self {
            Membership::Synchronising { last_begin, first_end } => {
                Some(Synchronisation { last_begin, first_end })
            }
            Membership::Independent | Membership::Unmatched => None,
        }
    }

    /// The input of patterns, for a member that synchronises.
    pub fn member(&self, class: CollectiveClass, begin: Ticks, end: Ticks) -> Option<CollectiveMember> {
        let Membership::Synchronising { last_begin, first_end } = *self else { return None };
        Some(CollectiveMember { class, begin, end, last_begin, first_end, accessed: Ticks::MIN })
    }
}

/// Lists that grow by doubling take up to three times what is in them: twice as much, and the old list while it moves.
const GROWING: u64 = 3;

/// Bytes of a process, whatever it did: its channels, its partners, and its places in lists.
const OF_PROCESS: u64 = (size_of::<Channels>() + size_of::<Matches>()) as u64 + 128;

/// Bytes of a message: its place in its channel, and where its other side is.
const OF_MESSAGE: u64 = (size_of::<u32>() + size_of::<u32>() + size_of::<(u32, u32)>()) as u64;

/// Bytes more of a message whose other side may be with another process of the analysis: the words that are sent and
/// received, and the facts that are kept of them.
const OF_TOLD: u64 = GROWING * (size_of::<u64>() * SendFacts::WORDS + size_of::<SendFacts>()) as u64;

/// Bytes more of such a message if there are details: its receipt.
const OF_RECEIPT: u64 = GROWING * (size_of::<u64>() * Receipt::WORDS + size_of::<Receipt>()) as u64;

/// Bytes of an envelope: its channel, in a list and in a table, both while they grow.
const OF_ENVELOPE: u64 = 128;

/// Bytes of a collective operation: a part in the words that are sent, in those that are received and by itself, and the
/// same again for the judgement and the partners that its members learn; all while lists grow.
const OF_COLLECTIVE: u64 = GROWING * 3 * (size_of::<Participation>() + size_of::<Membership>()) as u64;

/// How many bytes finding the partners of these processes' operations takes at most. `is_alone` says that there is no other
/// process of the analysis, `with_receipts` that there are details.
pub fn bytes_needed(trace: &Trace, processes: &[Walked], is_alone: bool, with_receipts: bool) -> u64 {
    let of_receipt = if with_receipts { OF_RECEIPT } else { 0 };
    let of_message = OF_MESSAGE + if is_alone { 0 } else { OF_TOLD + of_receipt };
    let of = |walked: &Walked| {
        let Operations { sends, receives, destinations, sources, collectives, nonblocking, .. } =
            &*walked.operations;
        of_message * (sends.len() + receives.len()) as u64
            + OF_ENVELOPE * (destinations.list().len() + sources.list().len()) as u64
            + OF_COLLECTIVE * collectives.len() as u64
            + pairwise::OF_OPERATION * nonblocking.len() as u64
            + one_sided::bytes_needed(trace, walked)
            + stalls::bytes_needed(trace, &walked.operations)
    };
    processes.iter().map(|walked| OF_PROCESS + of(walked)).sum()
}

/// Matches all operations of this worker's processes. If there are details, senders learn how their messages were
/// received, and `latecomers` gets the collective operations that this worker judges.
///
/// # Errors
/// If a worker failed.
pub fn match_operations(
    tools: &Tools<'_>,
    processes: &[Walked],
    findings: &mut Findings,
    mut latecomers: Option<&mut Latecomers>,
    exchange: &mut dyn Exchange,
) -> Result<Vec<Matches>, Error> {
    let trace = tools.trace;
    let (mut matches, paused) = match_messages(tools, processes, latecomers.is_some(), findings, exchange)?;
    let first = processes.first().map_or(0, |walked| walked.process.number);
    let rounds = Rounds::agree(trace, processes, exchange)?;
    let mut threshold = Threshold::default();
    for round in 0..rounds.count() {
        let parts = rounds.collect(round, trace, processes, exchange)?;
        let (workers, latest) = (exchange.workers(), latecomers.as_deref_mut());
        let answers = collectives::judge(tools, &parts, &paused, workers, findings, latest, &mut threshold);
        drop(parts);
        for batch in exchange.exchange(answers)? {
            collectives::hear(&batch, first, &mut matches);
        }
    }
    drop(rounds);
    let parts = pairwise::collect(trace, processes, exchange)?;
    let answers = pairwise::judge(tools, &parts, &paused, exchange.workers(), findings, latecomers);
    drop(parts);
    for batch in exchange.exchange(answers)? {
        pairwise::hear(&batch, first, &mut matches);
    }
    if trace.semantics.replays_all_of_mpi() {
        if !trace.definitions.windows.is_empty() {
            one_sided::find(tools, processes, &mut matches, findings, exchange)?;
        }
        find_returns(tools, processes, &mut matches, exchange)?;
    }
    for matches in &mut matches {
        matches.pairwise.sort_unstable_by_key(|&(position, _)| position);
        matches.paused = Arc::clone(&paused);
    }
    Ok(matches)
}

/// Subject of a question when a process comes back to MPI: a message, or an access, of the process at a position.
#[derive(Debug)]
enum Awaiting {
    Message(usize, stalls::Rest),
    Target(usize, one_sided::TargetCall),
}

/// Asks other processes when they came back to MPI, wherever these processes may have waited for that.
fn find_returns(
    tools: &Tools<'_>,
    processes: &[Walked],
    matches: &mut [Matches],
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    let mut questions = Questions::new(exchange.workers());
    for (at, (walked, matches)) in processes.iter().zip(&*matches).enumerate() {
        stalls::question(tools, walked, matches, &mut questions, |rest| Awaiting::Message(at, rest));
        one_sided::question_progress(tools, walked, matches, &mut questions, |call| {
            Awaiting::Target(at, call)
        });
    }
    questions.send(processes, exchange, |subject, returned| match subject {
        Awaiting::Message(at, rest) => stalls::receive(&mut matches[*at], rest, returned),
        Awaiting::Target(at, call) => one_sided::receive_progress(&mut matches[*at], call, returned),
    })?;
    for matches in matches {
        matches.keep_longest_stalls();
        matches.keep_latest_returns();
    }
    Ok(())
}

/// Matches messages only, and finds the processes with pauses in their recording. Senders of other workers get receipts
/// only if they are wanted.
///
/// # Errors
/// If a worker failed.
pub(crate) fn match_messages(
    tools: &Tools<'_>,
    processes: &[Walked],
    with_receipts: bool,
    findings: &mut Findings,
    exchange: &mut dyn Exchange,
) -> Result<(Vec<Matches>, Arc<Paused>), Error> {
    let Tools { trace, owners, shared, .. } = *tools;
    let team = shared.team(exchange.worker());
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    let mut channels = Vec::with_capacity(processes.len());
    for walked in processes {
        let of_process = Channels::new(walked, trace.semantics);
        of_process.check(walked, findings);
        threads::check(trace, walked, findings);
        messages::tell(walked, &of_process, &team, owners, with_receipts, &mut outgoing);
        channels.push(Arc::new(of_process));
    }
    let operations = processes.iter().map(|walked| walked.operations.clone()).collect();
    let (near, told) = Near::share(tools, operations, channels, outgoing, exchange)?;
    let mut matches: Vec<Matches> =
        processes.iter().map(|walked| Matches::new(walked, &near.operations)).collect();
    for (walked, matches) in processes.iter().zip(&mut matches) {
        near.join(walked.process.number, matches);
    }
    let first = processes.first().map_or(0, |walked| walked.process.number);
    let mut paused = near.paused();
    for batch in told {
        near.hear(&batch, first, &mut matches, &mut paused);
    }
    Ok((matches, Arc::new(paused)))
}

/// Matches once more the messages between some processes, those for which `is_wanted`: this worker has walked its own
/// of them again. Nothing is known of others.
///
/// # Errors
/// If a worker failed.
pub(crate) fn match_again(
    tools: &Tools<'_>,
    walked: &[Walked],
    is_wanted: impl Fn(usize) -> bool,
    exchange: &mut dyn Exchange,
) -> Result<Vec<Matches>, Error> {
    let Tools { trace, owners, shared, .. } = *tools;
    let worker = exchange.worker();
    let team = shared.team(worker);
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    // Operations have the place of their process, so that of others is empty.
    let own = owners.block(worker, trace.processes.len());
    let nothing = (Arc::new(Operations::default()), Arc::new(Channels::default()));
    let mut all = vec![nothing; own.len()];
    for walked in walked {
        let channels = Channels::new(walked, trace.semantics);
        let is_told = |peer: usize| is_wanted(peer) && !team.contains(&owners.of(peer));
        messages::tell_some(walked, &channels, is_told, owners, false, &mut outgoing);
        all[walked.process.number - own.start] = (Arc::clone(&walked.operations), Arc::new(channels));
    }
    let (operations, channels) = all.into_iter().unzip();
    let (near, told) = Near::share(tools, operations, channels, outgoing, exchange)?;
    let mut matches = vec![Matches::default(); own.len()];
    for walked in walked {
        let of_process = &mut matches[walked.process.number - own.start];
        *of_process = Matches::new(walked, &near.operations);
        near.join(walked.process.number, of_process);
    }
    let mut paused = Paused::default();
    for batch in told {
        near.hear(&batch, own.start, &mut matches, &mut paused);
    }
    let of_walked = |walked: &Walked| std::mem::take(&mut matches[walked.process.number - own.start]);
    Ok(walked.iter().map(of_walked).collect())
}

impl Matches {
    /// The completion of the non-blocking collective operation at a position, of which all members are known, and this member
    /// as patterns see it.
    pub fn nonblocking_member(
        &self,
        operations: &Operations,
        at: usize,
        operation: &NonBlocking,
    ) -> Option<(Done, NonBlockingMember)> {
        let Progression::Together { last_request, last_return, .. } = self.nonblocking[at] else {
            return None;
        };
        let done = operation.done?;
        let call = operations.call(done.call);
        let (class, completion) = (done.class?, call.site.completion);
        let call = call.interval;
        Some((done, NonBlockingMember { class, call, completion, last_request, last_return }))
    }

    fn new(walked: &Walked, near: &Arc<[Arc<Operations>]>) -> Matches {
        let operations = &walked.operations;
        Matches {
            sends: Sides::new(operations.receives.len(), near),
            postings: Sides::new(operations.sends.len(), near),
            clock_error: 0,
            unverified: Vec::new(),
            paused: Arc::default(),
            collectives: vec![Membership::default(); operations.collectives.len()],
            nonblocking: vec![Progression::default(); operations.nonblocking.len()],
            pairwise: Vec::new(),
            stalls: Vec::new(),
            one_sided: OneSidedMatches::default(),
            waits: Vec::new(),
            partners: Vec::new(),
        }
    }
}
