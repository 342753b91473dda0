//! Durations of completions from measured times: overhead, transfer and rest, so that measured times give measured times (what-if
//! 2.5, 2.6).

use model::Ticks;
use rustc_hash::FxHashMap;

use super::completions::Completion;
use super::dependencies::{Dependency, DependencyKind};
use super::goals::{Goal, Role};
use super::graph::{DoneAt, DoneMessage, Graph, LocationGraph};
use super::lines::{Line, Samples, fit, medians};
use super::marks::Marks;
use super::nodes::Nodes;
use crate::error::Error;
use crate::exchange::{Batch, Exchange};
use crate::tools::Tools;
use crate::wire::{self, Wire, wire};

/// The fitted lines of messages on one node, or between nodes; where one has no samples, that of all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lines {
    eager: Option<Line>,
    rendezvous: Option<Line>,
    send: Option<Line>,
    copy: Option<Line>,
    any: Option<Line>,
}

impl Lines {
    /// The line of the transfer of a message.
    pub(super) fn of(&self, kind: DependencyKind) -> Line {
        let line = if kind == DependencyKind::Eager { self.eager } else { self.rendezvous };
        line.or(self.any).unwrap_or_default()
    }

    /// The usual overhead of a message.
    fn overhead(&self, done: &DoneMessage) -> Ticks {
        let line = if done.is_send { self.send } else { self.copy };
        line.or(self.any).unwrap_or_default().at(done.bytes)
    }

    /// Whether there is any message to know them from.
    pub(super) fn are_known(&self) -> bool {
        self.any.is_some()
    }
}

/// Lines on one node, and between nodes.
pub(super) type LinesOfPairs = [Lines; 2];

/// What messages and operations of a location usually take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usual<'a> {
    /// The location.
    pub location: u32,
    /// The nodes of all.
    pub nodes: &'a Nodes,
    /// The lines on one node, and between nodes.
    pub lines: &'a LinesOfPairs,
}

impl Usual<'_> {
    /// What fitted lines have for the transfer of a dependency: the part for no bytes, and that by size; no time where none has anything.
    pub(super) fn of(&self, dependency: &Dependency) -> (Ticks, Ticks) {
        let lines = &self.lines[usize::from(dependency.is_remote(self.location, self.nodes))];
        let steps: Ticks = match dependency.kind {
            kind if kind.is_of_message() => 1,
            // An operation of many: its steps one after the other, and all of its bytes.
            _ => dependency.steps.into(),
        };
        if steps == 0 {
            return (0, 0);
        }
        let kind = if dependency.steps > 0 { DependencyKind::Eager } else { dependency.kind };
        let line = lines.of(kind);
        (line.intercept.saturating_mul(steps), line.of_size(dependency.bytes))
    }
}

/// The number of the function of a completion, at a location.
type FunctionOf<'a> = dyn Fn(u32, &Marks, &Completion) -> u32 + 'a;

/// Places of samples.
const EAGER: usize = 0;
const RENDEZVOUS: usize = 1;
const SEND: usize = 2;
const ANY: usize = 3;

/// Parts of a second that a rest takes at least before somebody is asked whether the other side was outside of MPI.
const LONG_REST: u64 = 50_000;

/// Tells the measured times of all starts to whoever depends on them.
///
/// # Errors
/// If a worker failed.
pub(super) fn tell_measured(
    tools: &Tools<'_>,
    graph: &mut Graph,
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    for of in &graph.locations {
        for (mark, goal) in of.goals.iter() {
            (goal, of.marks.list[mark as usize].time).put(&mut outgoing[goal.worker(tools)]);
        }
    }
    let mut begun = vec![Ticks::MIN; graph.meetings.seats.len()];
    for batch in exchange.exchange(outgoing)? {
        for (goal, time) in wire::all::<(Goal, Ticks)>(&batch) {
            match goal {
                Goal::Dependency { location, number, .. } => {
                    graph.of(location).dependencies.change(number, |it| it.latest = it.latest.max(time));
                }
                Goal::Seat { number, .. } => begun[number as usize] = time,
            }
        }
    }
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    for (at, meeting) in graph.meetings.list.iter().enumerate() {
        let seats = graph.meetings.seats_of(at);
        let all = begun[seats.clone()].iter().copied().max().unwrap_or(Ticks::MIN);
        let mut so_far = Ticks::MIN;
        for seat in seats {
            so_far = so_far.max(begun[seat]);
            let latest = if meeting.in_turn { so_far } else { all };
            if let Some((location, number)) = graph.meetings.seats[seat].waits {
                let goal = Goal::Dependency { location, number, role: Role::Other };
                (goal, latest).put(&mut outgoing[tools.owner_of(location)]);
            }
        }
    }
    for batch in exchange.exchange(outgoing)? {
        for (goal, time) in wire::all::<(Goal, Ticks)>(&batch) {
            if let Goal::Dependency { location, number, .. } = goal {
                graph.of(location).dependencies.change(number, |it| it.latest = time);
            }
        }
    }
    Ok(())
}

/// Sets overhead, transfer and rest of all completions; returns the fitted lines.
///
/// # Errors
/// If a worker failed.
pub(super) fn explain(
    tools: &Tools<'_>,
    graph: &mut Graph,
    function_of: &FunctionOf<'_>,
    nodes: &Nodes,
    exchange: &mut dyn Exchange,
) -> Result<LinesOfPairs, Error> {
    graph.locations.iter_mut().for_each(LocationGraph::sort);
    // By pairs on one node and on different ones: eager, rendezvous, send, any.
    let mut samples: [[Samples; 4]; 2] = Default::default();
    for (location, of) in (graph.first..).zip(&graph.locations) {
        let is_remote = |done: &DoneMessage| {
            usize::from(done.partner.is_some_and(|partner| nodes.are_remote(location, partner)))
        };
        for_each_completion(of, |completion, done, dependencies| {
            let (enter, end) = (of.marks.enter(completion), of.marks.list[completion.mark as usize].time);
            if let Some(largest) = done.iter().max_by_key(|done| (done.bytes, done.is_send, done.partner)) {
                let beyond = beyond(enter, end, dependencies);
                samples[is_remote(largest)][ANY].push((largest.bytes, beyond));
            }
            let &[one] = done else { return };
            let samples = &mut samples[is_remote(&one)];
            match dependencies.first() {
                Some(it)
                    if !one.is_send && it.kind.is_of_message() && end > it.latest && it.latest >= enter =>
                {
                    let of_kind = if it.kind == DependencyKind::Eager { EAGER } else { RENDEZVOUS };
                    samples[of_kind].push((it.bytes, end - it.latest));
                }
                None if one.is_send && one.posted.is_some_and(|posted| end < posted || posted <= enter) => {
                    samples[SEND].push((one.bytes, end - enter));
                }
                _ => {}
            }
        });
    }
    let samples: Vec<(Samples, u64)> =
        samples.into_iter().flat_map(|of| of.into_iter().zip([2, 2, 2, 4])).collect();
    let fitted = fit(samples, exchange)?;
    let of_pairs = |fitted: &[Option<Line>]| Lines {
        eager: fitted[EAGER],
        rendezvous: fitted[RENDEZVOUS],
        send: fitted[SEND],
        copy: None,
        any: fitted[ANY],
    };
    let mut lines: LinesOfPairs = [of_pairs(&fitted[..4]), of_pairs(&fitted[4..])];
    let mut copy: [Samples; 2] = Default::default();
    for (location, of) in (graph.first..).zip(&graph.locations) {
        for_each_completion(of, |completion, done, dependencies| {
            let (enter, end) = (of.marks.enter(completion), of.marks.list[completion.mark as usize].time);
            if let ([_], Some(it)) = (done, dependencies.first())
                && it.kind == DependencyKind::Eager
                && let class = usize::from(it.is_remote(location, nodes))
                && let Some(line) = lines[class].eager
                && it.latest + line.at(it.bytes) < enter
            {
                copy[class].push((it.bytes, end - enter));
            }
        });
    }
    let copies = fit(copy.map(|samples| (samples, 2)).into(), exchange)?;
    lines.iter_mut().zip(copies).for_each(|(lines, copy)| lines.copy = copy);
    set_usual(graph, function_of, exchange)?;
    let asked = set_all(tools, graph, &lines, nodes);
    find_progress(tools, graph, (&lines, nodes), asked, exchange)?;
    Ok(lines)
}

/// Calls a function for each completion, with the messages that it completes and its dependencies.
fn for_each_completion(of: &LocationGraph, mut each: impl FnMut(&Completion, &[DoneMessage], &[Dependency])) {
    let (mut done, mut dependencies, mut found) = (Vec::new(), Vec::new(), DoneAt::default());
    for (at, completion) in (0..).zip(of.marks.completions.iter()) {
        done.clear();
        done.extend(of.done_of(at, &mut found));
        dependencies.clear();
        let all = of.dependencies_of(at).iter().map(|&number| of.dependencies.get(number));
        dependencies.extend(all.filter(|dependency| dependency.kind != DependencyKind::IfRendezvous));
        each(&completion, &done, &dependencies);
    }
}

/// Ticks of a call after all that it waits for was there.
fn beyond(enter: Ticks, end: Ticks, dependencies: &[Dependency]) -> Ticks {
    let latest = dependencies.iter().map(|it| it.latest).max().unwrap_or(Ticks::MIN);
    (end - enter.max(latest)).max(0)
}

/// Sets the usual times of completions of no messages: the median of their functions.
fn set_usual(
    graph: &mut Graph,
    function_of: &FunctionOf<'_>,
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    let mut by_function = FxHashMap::<u32, Vec<Ticks>>::default();
    for (location, of) in (graph.first..).zip(&graph.locations) {
        for_each_completion(of, |completion, done, dependencies| {
            if done.is_empty() {
                let end = of.marks.list[completion.mark as usize].time;
                let ticks = beyond(of.marks.enter(completion), end, dependencies);
                by_function.entry(function_of(location, &of.marks, completion)).or_default().push(ticks);
            }
        });
    }
    let usual = medians(by_function, exchange)?;
    let first = graph.first;
    for (location, of) in (first..).zip(&mut graph.locations) {
        let mut found = DoneAt::default();
        for at in 0..of.marks.completions.len() {
            if of.done_of(at, &mut found).next().is_none() {
                let function = function_of(location, &of.marks, &of.marks.completions.get(at));
                let fitted = usual.get(&function).copied().unwrap_or(0);
                of.marks.completions.change(at, |completion| completion.fitted = fitted);
            }
        }
    }
    Ok(())
}

/// A completion with a long rest asks for the return of a partner to MPI.
#[derive(Clone, Copy, Debug)]
struct Question {
    partner: u32,
    /// Who asks: location and completion.
    location: u32,
    completion: u32,
    /// All but the rest was over.
    top: Ticks,
    /// The end of the call.
    end: Ticks,
    rest: Ticks,
}

wire!(Question { [location, completion], partner, top, end, rest });

/// The return of a partner.
#[derive(Clone, Copy, Debug)]
struct Answer {
    location: u32,
    completion: u32,
    partner: u32,
    mark: u32,
    time: Ticks,
}

wire!(Answer { [location, completion], [partner, mark], time });

/// Sets overhead, transfer and rest of all completions, and returns the questions of those with long rests.
fn set_all(tools: &Tools<'_>, graph: &mut Graph, lines: &LinesOfPairs, nodes: &Nodes) -> Vec<Question> {
    let resolution = tools.trace.definitions.clock.resolution;
    let mut questions = Vec::new();
    for (location, of) in (graph.first..).zip(&mut graph.locations) {
        let (mut done, mut found) = (Vec::new(), DoneAt::default());
        for at in 0..of.marks.completions.len() {
            done.clear();
            done.extend(of.done_of(at, &mut found));
            let (top, rest) = set((location, of), at, &done, (lines, nodes));
            if u64::try_from(rest).is_ok_and(|rest| rest.saturating_mul(LONG_REST) >= resolution) {
                let end = top + rest;
                let question = |partner| Question { partner, location, completion: at, top, end, rest };
                questions.extend(done.iter().filter_map(|done| done.partner).map(question));
            }
        }
    }
    questions
}

/// Sets overhead, transfer and rest of a completion; returns when all but the rest is over, and the rest.
fn set(
    (location, of): (u32, &mut LocationGraph),
    at: u32,
    done: &[DoneMessage],
    (lines, nodes): (&LinesOfPairs, &Nodes),
) -> (Ticks, Ticks) {
    let mut completion = of.marks.completions.get(at);
    let (enter, end) = (of.marks.enter(&completion), of.marks.list[completion.mark as usize].time);
    let numbers = of.dependencies_of(at).to_vec();
    let is_there = |dependency: &Dependency| dependency.kind != DependencyKind::IfRendezvous;
    let latest = numbers.iter().map(|&number| of.dependencies.get(number)).filter(is_there);
    let latest = latest.map(|dependency| dependency.latest).max();
    let beyond = (end - enter.max(latest.unwrap_or(Ticks::MIN))).max(0);
    let overhead_of = |done: &DoneMessage| {
        let is_remote = done.partner.is_some_and(|partner| nodes.are_remote(location, partner));
        lines[usize::from(is_remote)].overhead(done)
    };
    let usual = done.iter().map(overhead_of).max();
    let overhead = usual.map_or(beyond, |usual| usual.min(end - enter));
    let mut top = enter + overhead;
    for number in numbers {
        let mut dependency = of.dependencies.get(number);
        let most = match dependency.kind.is_of_message() {
            true => {
                let (first, by_size) = Usual { location, nodes, lines }.of(&dependency);
                first.saturating_add(by_size)
            }
            false => beyond,
        };
        if dependency.kind == DependencyKind::IfRendezvous {
            dependency.transfer = most;
        } else {
            dependency.transfer = most.min(end - dependency.latest);
            top = top.max(dependency.latest + dependency.transfer);
        }
        of.dependencies.set(number, dependency);
    }
    (completion.overhead, completion.rest) = (overhead, end - top);
    completion.completes_messages = !done.is_empty();
    if let Some(usual) = usual {
        completion.fitted = usual;
    }
    of.marks.completions.set(at, completion);
    (top, end - top)
}

/// Adds dependencies on the return of partners to MPI, where these explain long rests.
fn find_progress(
    tools: &Tools<'_>,
    graph: &mut Graph,
    lines: (&LinesOfPairs, &Nodes),
    questions: Vec<Question>,
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    for question in questions {
        question.put(&mut outgoing[tools.owner_of(question.partner)]);
    }
    let mut answers = vec![Batch::new(); exchange.workers()];
    for batch in exchange.exchange(outgoing)? {
        for Question { partner, location, completion, top, end, rest } in wire::all::<Question>(&batch) {
            let marks = &graph.of(partner).marks;
            let Some(mark) = marks.call_left_behind(top) else { continue };
            let time = marks.list[mark as usize].time;
            if top < time && time <= end && 2 * (end - time) <= rest {
                let answer = Answer { location, completion, partner, mark, time };
                answer.put(&mut answers[tools.owner_of(location)]);
            }
        }
    }
    let mut found = Vec::new();
    for batch in exchange.exchange(answers)? {
        found.extend(wire::all::<Answer>(&batch));
    }
    // Of several the latest, of equals that of the lowest location.
    found.sort_by_key(|it: &Answer| (it.location, it.completion, std::cmp::Reverse(it.time), it.partner));
    found.dedup_by_key(|it| (it.location, it.completion));
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    for &Answer { location, completion, partner, mark, time } in &found {
        let of = graph.of(location);
        let bytes = of.done_of(completion, &mut DoneAt::default()).map(|done| done.bytes).max().unwrap_or(0);
        let number = of.depend(completion, DependencyKind::Progress, bytes, 1);
        of.dependencies.change(number, |it| it.latest = time);
        let goal = Goal::Dependency { location, number, role: Role::Other };
        ((partner, mark), goal).put(&mut outgoing[tools.owner_of(partner)]);
    }
    for batch in exchange.exchange(outgoing)? {
        for ((partner, mark), goal) in wire::all::<((u32, u32), Goal)>(&batch) {
            graph.of(partner).goals.push(mark, goal);
        }
    }
    graph.locations.iter_mut().for_each(LocationGraph::sort);
    for Answer { location, completion, .. } in found {
        let of = graph.of(location);
        let done: Vec<DoneMessage> = of.done_of(completion, &mut DoneAt::default()).collect();
        set((location, of), completion, &done, lines);
    }
    for of in &mut graph.locations {
        (of.sent, of.received) = Default::default();
    }
    Ok(())
}
