//! Dependencies of messages: which completion waits for which send, or for which posting of a receive (what-if 2.2, 2.3).

use std::collections::BTreeMap;

use model::{Ticks, mpi};
use rustc_hash::FxHashMap;

use super::dependencies::{DependencyKind, NOBODY};
use super::goals::{Goal, Role};
use super::graph::{Graph, LocationGraph, SentMessage};
use super::near::partition_point_near;
use super::nodes::Nodes;
use crate::error::Error;
use crate::exchange::{Batch, Exchange, share};
use crate::ids::{CallId, EventNumber, JournalPosition, Row};
use crate::int::to_u32;
use crate::journal::JournalSpot;
use crate::matching::Matches;
use crate::operations::{Operations, Send};
use crate::tools::Tools;
use crate::trace::Trace;
use crate::walk::Walked;
use crate::wire::{self, Wire, wire};

/// Where a trace does not tell, standard sends of so many bytes are eager, as in BSC's scripts for Dimemas.
const DEFAULT_EAGER: i64 = 32 << 10;

/// Stands for a mark that is not known.
const NO_MARK: u32 = u32::MAX;

/// A receive asks the process that has sent its message.
#[derive(Clone, Copy, Debug)]
struct Question {
    /// The event of the send.
    send: JournalSpot,
    /// Where the dependency is, and its number there.
    location: u32,
    number: u32,
    /// The mark at which the receive was posted, or [`NO_MARK`], and where.
    posted_at: u32,
    post: u32,
    /// When that was.
    posted: Ticks,
    /// Whether a probe asks, which only waits for the send.
    is_probe: bool,
    /// The dependency if the message were sent by rendezvous, or [`NO_MARK`].
    if_rendezvous: u32,
}

wire!(Question { send, [location, number], [posted_at, post], posted, [is_probe, if_rendezvous] });

/// What a receive learns of its message, if that is not an eager one whatever is asked.
#[derive(Clone, Copy, Debug)]
struct Answer {
    location: u32,
    number: u32,
    is_rendezvous: bool,
    /// Whether it may be one by rendezvous, and the dependency of the receive then, or [`NO_MARK`].
    may_be: bool,
    if_rendezvous: u32,
    /// Whom the posting tells its time, if the send waits for it: the number of the dependency where it was sent, or [`NO_MARK`].
    goal: u32,
    post: u32,
    posted_at: u32,
}

wire!(Answer { [location, number], [posted_at, post], [goal, if_rendezvous], [is_rendezvous, may_be] });

/// Mode of a send (MPI 4.1, 3.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Standard { is_blocking: bool },
    Synchronous,
    Local,
}

fn mode(trace: &Trace, region: u32) -> Mode {
    let name = mpi::plain(trace.region_name(region));
    let starts = |prefixes: [&str; 2]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if starts(["ss", "iss"]) {
        Mode::Synchronous
    } else if starts(["b", "ib"]) || starts(["r", "ir"]) {
        Mode::Local
    } else {
        Mode::Standard { is_blocking: name == "send" || name == "send_c" }
    }
}

/// The completion of a location's call with an event of the journal, with the enter of that call; `None` if it is no call of MPI.
pub(super) fn completion_at(graph: &mut Graph, location: u32, position: EventNumber) -> Option<u32> {
    let enter = call_at(graph, location, position)?;
    graph.of(location).marks.completion_of(enter)
}

/// The enter of the outermost call of MPI with an event of the journal.
pub(super) fn call_at(graph: &mut Graph, location: u32, position: EventNumber) -> Option<u32> {
    if position == EventNumber::NONE {
        return None;
    }
    graph.of(location).marks.call_near(position.in_journal())
}

/// A matched send, once its receive has asked.
#[derive(Clone, Copy)]
struct Asked {
    /// Its position.
    send: u32,
    /// The mark of the call that sent.
    start: u32,
    /// Whether it was complete before the receive was posted.
    was_early: bool,
}

/// The sends of a worker by their events.
struct Sends {
    /// The first of its locations.
    first: u32,
    /// By location.
    list: Vec<SendsOfLocation>,
}

/// The sends of a location.
#[derive(Clone, Default)]
struct SendsOfLocation {
    /// The position of the process.
    process: u32,
    /// In ascending order: position of the event in the journal, and that of the send.
    list: Vec<(JournalPosition, u32)>,
    /// Where the last one was found: receives ask for them mostly in turn.
    found: usize,
}

impl Sends {
    fn new(processes: &[Walked], graph: &Graph) -> Sends {
        let mut list = vec![SendsOfLocation::default(); graph.locations.len()];
        for (process, walked) in (0..).zip(processes) {
            let operations = &walked.operations;
            for (at, send) in (0..).zip(&operations.sends) {
                if { send.position } == EventNumber::NONE {
                    continue;
                }
                let location = operations.site(send.call).location - graph.first;
                let of = &mut list[location as usize];
                of.process = process;
                of.list.push(({ send.position }.in_journal(), at));
            }
        }
        list.iter_mut().for_each(|of| of.list.sort_unstable());
        Sends { first: graph.first, list }
    }

    /// The position of the process of a location that has sent.
    fn process_of(&self, location: u32) -> usize {
        self.list[(location - self.first) as usize].process as usize
    }

    /// The position of the process that has sent at an event, and that of the send.
    fn at(&mut self, spot: JournalSpot) -> Option<(usize, usize)> {
        let of = self.list.get_mut(spot.location.checked_sub(self.first)? as usize)?;
        of.found = partition_point_near(&of.list, of.found, |&(position, _)| position < spot.position);
        let &(position, at) = of.list.get(of.found)?;
        (position == spot.position).then_some((of.process as usize, at as usize))
    }
}

/// Adds the dependencies of messages; also those of standard sends of more bytes than `rendezvous`, which would wait for their
/// receives if the network had them do so. Returns the eager limits of pairs on one node, and between nodes, in bytes.
///
/// # Errors
/// If a worker failed.
pub(super) fn link(
    tools: &Tools<'_>,
    processes: &[Walked],
    matches: &[Matches],
    rendezvous: Option<u64>,
    (graph, nodes): (&mut Graph, &Nodes),
    exchange: &mut dyn Exchange,
) -> Result<[i64; 2], Error> {
    let mut questions = vec![Batch::new(); exchange.workers()];
    // By process and send: its position among those that were completed.
    let mut sent_of = Vec::with_capacity(processes.len());
    for (walked, matches) in processes.iter().zip(matches) {
        receives(tools, &walked.operations, matches, rendezvous, graph, &mut questions);
        probes(tools, &walked.operations, matches, graph, &mut questions);
        sent_of.push(sends(&walked.operations, graph));
    }
    let questions = exchange.exchange(questions)?;
    let questions = || questions.iter().flat_map(|batch| wire::all::<Question>(batch));
    let mut sends = Sends::new(processes, graph);
    let modes: Vec<Mode> =
        (0..to_u32(tools.trace.kinds.len())).map(|region| mode(tools.trace, region)).collect();
    let mode_of = |process: usize, send: &Send| {
        let path = processes[process].operations.site(send.call).path;
        modes[processes[process].process.paths[path.index()].region as usize]
    };
    let mut evidence = EvidenceByPairs::default();
    let asked = |question: Question| {
        let (process, at) = sends.at(question.send)?;
        let of = graph.of(question.send.location);
        let start = of.marks.call_near(question.send.position)?;
        if question.is_probe {
            let (location, number) = (question.location, question.number);
            of.goals.push(start, Goal::Dependency { location, number, role: Role::Other });
            return None;
        }
        let send = &processes[process].operations.sends[at];
        let mut was_early = false;
        if let Some(message) = of.sent.get_mut(sent_of[process][at] as usize) {
            (message.partner, message.posted) = (question.posted_at, question.posted);
            let ended = of.marks.list[of.marks.completions.get(message.completion).mark as usize].time;
            was_early = ended < question.posted;
            let waits = of.marks.list[start as usize].time < question.posted && question.posted <= ended;
            let is_remote = nodes.are_remote(question.send.location, question.posted_at);
            evidence.of_pairs(is_remote).take(mode_of(process, send), send.bytes, was_early, waits);
        }
        Some(Asked { send: to_u32(at), start, was_early })
    };
    let asked: Vec<Option<Asked>> = questions().map(asked).collect();
    let limits = [evidence.near.limit(exchange)?, evidence.remote.limit(exchange)?];
    let mut answers = vec![Batch::new(); exchange.workers()];
    for (question, asked) in questions().zip(asked) {
        let Some(Asked { send: at, start, was_early }) = asked else { continue };
        let process = sends.process_of(question.send.location);
        let send = &processes[process].operations.sends[at as usize];
        let is_remote = nodes.are_remote(question.send.location, question.posted_at);
        let limit = limits[usize::from(is_remote)];
        let is_rendezvous = match mode_of(process, send) {
            Mode::Synchronous => true,
            Mode::Local => false,
            Mode::Standard { .. } => !was_early && send.bytes.cast_signed() > limit,
        };
        let may_be = matches!(mode_of(process, send), Mode::Standard { .. })
            && !is_rendezvous
            && rendezvous.is_some_and(|limit| send.bytes > limit);
        let of = graph.of(question.send.location);
        let completion = of.sent.get(sent_of[process][at as usize] as usize).map(|sent| sent.completion);
        let sent = Sent { start, completion, bytes: send.bytes, is_rendezvous, may_be };
        if let Some(answer) = answer(of, &question, &sent) {
            answer.put(&mut answers[tools.owner_of(answer.location)]);
        }
    }
    for answer in exchange.exchange(answers)?.iter().flat_map(|batch| wire::all::<Answer>(batch)) {
        hear(graph, answer);
    }
    Ok(limits)
}

fn hear(graph: &mut Graph, answer: Answer) {
    let Answer { location, number, goal, post, posted_at, is_rendezvous, may_be, if_rendezvous } = answer;
    let of = graph.of(location);
    if if_rendezvous != NO_MARK {
        match may_be {
            // Nobody will tell it anything.
            false => of.dependencies.change(if_rendezvous, |it| it.starts = 0),
            true if post != NO_MARK => {
                of.dependencies.change(if_rendezvous, |it| it.starts += 1);
                let own = Goal::Dependency { location, number: if_rendezvous, role: Role::Posting };
                graph.of(posted_at).goals.push(post, own);
            }
            true => {}
        }
    }
    let of = graph.of(location);
    let sender = of.dependencies.get(number).partner;
    if is_rendezvous {
        of.dependencies.change(number, |it| it.kind = DependencyKind::Rendezvous);
    }
    if is_rendezvous && post != NO_MARK {
        of.dependencies.change(number, |it| it.starts += 1);
        let own = Goal::Dependency { location, number, role: Role::Posting };
        graph.of(posted_at).goals.push(post, own);
    }
    if goal != NO_MARK {
        let goal = Goal::Dependency { location: sender, number: goal, role: Role::Posting };
        graph.of(posted_at).goals.push(post, goal);
    }
}

/// How a message was sent.
struct Sent {
    /// The mark of the call that sent.
    start: u32,
    /// The completion of the send, if there is one.
    completion: Option<u32>,
    bytes: u64,
    is_rendezvous: bool,
    /// Whether it would have been by rendezvous in some scenario.
    may_be: bool,
}

/// Adds the goals of a send and, if it waits or may wait for its receive, its own dependency, at the location that sends; returns what
/// the receive does not know, if there is anything.
fn answer(of: &mut LocationGraph, question: &Question, sent: &Sent) -> Option<Answer> {
    let Question { location, number, posted_at, post, if_rendezvous, .. } = *question;
    let &Sent { start, completion, bytes, is_rendezvous, may_be } = sent;
    let sender = question.send.location;
    of.goals.push(start, Goal::Dependency { location, number, role: Role::Sent });
    let mut goal = NO_MARK;
    if (is_rendezvous || may_be)
        && let Some(completion) = completion
    {
        let starts = if post == NO_MARK { 1 } else { 2 };
        let kind = if is_rendezvous { DependencyKind::Send } else { DependencyKind::IfRendezvous };
        let number = of.depend(completion, kind, bytes, starts);
        of.dependencies.change(number, |it| it.partner = posted_at);
        of.goals.push(start, Goal::Dependency { location: sender, number, role: Role::Other });
        if post != NO_MARK {
            goal = number;
        }
    }
    if may_be && if_rendezvous != NO_MARK {
        let number = if_rendezvous;
        of.goals.push(start, Goal::Dependency { location, number, role: Role::Other });
    }
    let is_eager = !is_rendezvous && !may_be && if_rendezvous == NO_MARK;
    let answer = Answer { location, number, is_rendezvous, may_be, if_rendezvous, goal, post, posted_at };
    (!is_eager).then_some(answer)
}

/// Adds the messages that a process has received, with a dependency where the send is known.
fn receives(
    tools: &Tools<'_>,
    operations: &Operations,
    matches: &Matches,
    rendezvous: Option<u64>,
    graph: &mut Graph,
    questions: &mut [Batch],
) {
    // By location and call path of the posting: the first source, and whether there is another one.
    let mut sources = FxHashMap::<(u32, Row), (u32, bool)>::default();
    let mut received = Vec::new();
    for (receive, send) in operations.receives.iter().zip(matches.sends.iter()) {
        let location = operations.site(receive.call).location;
        let Some(completion) = completion_at(graph, location, receive.position) else { continue };
        let bytes = send.map_or(0, |send| send.bytes);
        let of = graph.of(location);
        let Some(send) = send.filter(|send| send.position != EventNumber::NONE) else {
            of.received.push((completion, bytes));
            continue;
        };
        let partner = send.place.location;
        let number = of.depend(completion, DependencyKind::Eager, bytes, 1);
        of.dependencies.change(number, |it| it.partner = partner);
        let if_rendezvous = match rendezvous {
            Some(limit) if bytes > limit => {
                let number = of.depend(completion, DependencyKind::IfRendezvous, bytes, 1);
                of.dependencies.change(number, |it| it.partner = partner);
                number
            }
            _ => NO_MARK,
        };
        let posted_at = match receive.posting {
            CallId::NONE => location,
            posting => operations.site(posting).location,
        };
        let post = call_at(graph, posted_at, receive.posted_at).unwrap_or(NO_MARK);
        let posting = &graph.of(posted_at).marks;
        let posted = posting.list.get(post as usize).map_or(Ticks::MIN, |mark| mark.time);
        if let Some(row) = posting.list.get(post as usize).map(|mark| mark.row()) {
            let (first, has_others) = sources.entry((posted_at, row)).or_insert((send.place.location, false));
            *has_others |= *first != send.place.location;
            received.push((location, number, (posted_at, row)));
        }
        let send = JournalSpot { location: send.place.location, position: send.position.in_journal() };
        let is_probe = false;
        let question = Question { send, location, number, posted_at, post, posted, is_probe, if_rendezvous };
        question.put(&mut questions[tools.owner_of(send.location)]);
    }
    // Traces do not tell which receives take messages from anybody: one call path with several sources may (what-if 4).
    for (location, number, posting) in received {
        if sources.get(&posting).is_some_and(|&(_, has_others)| has_others) {
            let of = graph.of(location);
            of.dependencies.change(number, |it| it.is_choice = true);
            of.choices.push((number, posting.1));
        }
    }
}

/// Adds the dependencies of probes on the sends of the messages that they have found.
fn probes(
    tools: &Tools<'_>,
    operations: &Operations,
    matches: &Matches,
    graph: &mut Graph,
    questions: &mut [Batch],
) {
    for (probe, found) in operations.probes.iter().zip(matches.probed(operations)) {
        let call = operations.call(probe.call);
        let location = call.site.location;
        let Some(completion) = completion_at(graph, location, probe.position) else { continue };
        let send = found.map(|(_, send)| send);
        let Some(send) =
            send.filter(|send| send.position != EventNumber::NONE && send.call.enter <= call.interval.leave)
        else {
            graph.of(location).marks.completions.change(completion, |it| it.is_kept = true);
            continue;
        };
        let number = graph.of(location).depend(completion, DependencyKind::Together, 0, 1);
        let send = JournalSpot { location: send.place.location, position: send.position.in_journal() };
        let question = Question {
            send,
            location,
            number,
            posted_at: location,
            post: NO_MARK,
            posted: Ticks::MIN,
            is_probe: true,
            if_rendezvous: NO_MARK,
        };
        question.put(&mut questions[tools.owner_of(send.location)]);
    }
}

/// Adds the messages that a process has sent to what its calls have completed; returns the position of each, or [`NO_MARK`].
fn sends(operations: &Operations, graph: &mut Graph) -> Vec<u32> {
    let sent = |send: &Send| {
        let completion = send.completion;
        if completion == CallId::NONE || send.is_cancelled() {
            return NO_MARK;
        }
        let location = operations.site(completion).location;
        let Some(completion) = completion_at(graph, location, send.completed) else { return NO_MARK };
        // A send that a thread has started and another one has completed is done where it was started: they share nothing else.
        if location != operations.site(send.call).location {
            return NO_MARK;
        }
        let of = graph.of(location);
        let bytes = send.bytes;
        of.sent.push(SentMessage { completion, partner: NOBODY, bytes, posted: Ticks::MIN });
        to_u32(of.sent.len() - 1)
    };
    operations.sends.iter().map(sent).collect()
}

/// What standard sends say, on one node and between nodes.
#[derive(Default)]
struct EvidenceByPairs {
    near: Evidence,
    remote: Evidence,
}

impl EvidenceByPairs {
    fn of_pairs(&mut self, is_remote: bool) -> &mut Evidence {
        if is_remote { &mut self.remote } else { &mut self.near }
    }
}

/// What standard sends say of the eager limit: bytes; how many have not waited for their receive, and how many have.
#[derive(Default)]
struct Evidence(FxHashMap<u64, (u64, u64)>);

impl Evidence {
    fn take(&mut self, mode: Mode, bytes: u64, was_early: bool, waits: bool) {
        let Mode::Standard { is_blocking } = mode else { return };
        let (eager, waited) = (u64::from(was_early), u64::from(is_blocking && waits));
        if eager + waited > 0 {
            let known = self.0.entry(bytes).or_default();
            (known.0, known.1) = (known.0 + eager, known.1 + waited);
        }
    }

    /// Of the sizes that the fewest sends contradict, the one nearest to the default, of these the smallest (what-if 2.3).
    fn limit(self, exchange: &mut dyn Exchange) -> Result<i64, Error> {
        let mut words = Batch::new();
        self.0
            .iter()
            .for_each(|(&bytes, &(eager, waited))| (bytes.cast_signed(), (eager, waited)).put(&mut words));
        let mut all = BTreeMap::<i64, (u64, u64)>::new();
        for batch in share(exchange, words)? {
            for (bytes, (eager, waited)) in wire::all::<(i64, (u64, u64))>(&batch) {
                let known = all.entry(bytes).or_default();
                (known.0, known.1) = (known.0 + eager, known.1 + waited);
            }
        }
        let eager = all.iter().filter(|(_, (eager, _))| *eager > 0).map(|(&bytes, _)| bytes);
        // An empty message that has waited says that none is eager.
        let waited = all.iter().filter(|(_, (_, waited))| *waited > 0).map(|(&bytes, _)| bytes - 1);
        let mut sizes: Vec<i64> = eager.chain(waited).chain([DEFAULT_EAGER]).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let contradictions = |limit: i64| {
            let eager: u64 = all.range(limit + 1..).map(|(_, &(eager, _))| eager).sum();
            let waited: u64 = all.range(..=limit).map(|(_, &(_, waited))| waited).sum();
            eager + waited
        };
        let best = sizes.into_iter().min_by_key(|&it| (contradictions(it), it.abs_diff(DEFAULT_EAGER), it));
        Ok(best.unwrap_or(DEFAULT_EAGER))
    }
}
