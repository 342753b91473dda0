//! Work between messages in equal parts, each passed on when it is ready (advice 3.1).

use model::Ticks;
use rustc_hash::FxHashMap;

use super::dependencies::{Dependency, DependencyKind};
use super::explain::{LinesOfPairs, Usual};
use super::goals::{Goal, Goals, Role};
use super::graph::{Graph, LocationGraph};
use super::marks::{Kind, Marks, Piece};
use super::nodes::Nodes;
use super::rebuild::Rebuilding;
use crate::error::Error;
use crate::exchange::{Batch, Exchange};
use crate::ids::Row;
use crate::tools::Tools;
use crate::wire::{self, Wire};

/// The messages that are sent in parts: location and dependency of the receive; the dependency of the second part, behind which are
/// those of the others.
type Parts = FxHashMap<(u32, u32), u32>;

/// Splits messages that are received in chosen rows, by location, into equal parts: so is the work in front of them since the call
/// before, and that behind them until the next call.
///
/// # Errors
/// If a worker failed.
pub(super) fn split(
    tools: &Tools<'_>,
    (graph, nodes, lines): (&mut Graph, &Nodes, &LinesOfPairs),
    rows: &[Vec<bool>],
    parts: u32,
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    let mut received = Parts::default();
    for ((location, of), rows) in (graph.first..).zip(&mut graph.locations).zip(rows) {
        let usual = Usual { location, nodes, lines };
        for number in 0..of.dependencies.len() {
            let dependency = of.dependencies.get(number);
            let row = of.marks.completions.get(dependency.completion).row;
            let is_chosen = row != Row::NONE && rows.get(row.index()) == Some(&true);
            if is_chosen && dependency.kind.is_of_receive() {
                let second = add_parts(of, number, &usual, parts);
                received.insert((location, number), second);
                ((location, number), second).put(&mut outgoing[tools.owner_of(dependency.partner)]);
            }
        }
    }
    let mut sent = Parts::default();
    for batch in exchange.exchange(outgoing)? {
        sent.extend(wire::all::<((u32, u32), u32)>(&batch));
    }
    for (location, of) in (graph.first..).zip(&mut graph.locations) {
        let (marks, goals) = in_parts(of, location, (&received, &sent), parts);
        (of.marks, of.goals) = (marks, goals);
        of.sort();
    }
    Ok(())
}

/// Adds the dependencies of all parts of a message but the first; returns that of the second.
fn add_parts(of: &mut LocationGraph, number: u32, usual: &Usual<'_>, parts: u32) -> u32 {
    let whole = of.dependencies.get(number);
    let (first, by_size) = usual.of(&whole);
    let transfer = whole.transfer.min(first.saturating_add(by_size / Ticks::from(parts)));
    let bytes = whole.bytes / u64::from(parts);
    let kind = DependencyKind::Eager;
    let part = Dependency { kind, starts: 1, transfer, bytes, is_choice: false, ..whole };
    of.dependencies.set(number, Dependency { transfer, bytes, ..whole });
    let second = of.dependencies.len();
    for _ in 1..parts {
        of.dependencies.push(part);
    }
    second
}

/// The marks and goals of a location whose messages come and go in parts.
fn in_parts(
    of: &mut LocationGraph,
    location: u32,
    (received, sent): (&Parts, &Parts),
    parts: u32,
) -> (Marks, Goals) {
    let mut waiting: Vec<(u32, u32)> = Vec::new();
    let mut rebuilding = Rebuilding::new(of);
    // Dependencies of parts, and the row of the call that receives them.
    let mut next: Vec<(u32, Row)> = Vec::new();
    for mark in 0..of.marks.list.len() {
        let kind = of.marks.list[mark].kind();
        if kind != Kind::Work {
            wait(&mut rebuilding, mark, std::mem::take(&mut next), 1..parts, &mut waiting);
        }
        if let Kind::Completion(number) = kind {
            let row = of.marks.completions.get(number).row;
            let all = of.dependencies_of(number).iter();
            next = all.filter_map(|&number| Some((*received.get(&(location, number))?, row))).collect();
        }
        let goals = rebuilding.goals_of(mark);
        let goes_in_parts = |goal: &Goal| second_of(*goal, sent).is_some();
        if kind != Kind::Work || next.is_empty() && !goals.clone().any(|goal| goes_in_parts(&goal)) {
            rebuilding.keep_with(mark, of.marks.pieces_of(mark));
            for goal in goals {
                rebuilding.tell(goal);
                (1..parts)
                    .filter_map(|part| part_of(goal, part, sent))
                    .for_each(|goal| rebuilding.tell(goal));
            }
            continue;
        }
        let incoming = std::mem::take(&mut next);
        for part in 0..parts {
            wait(&mut rebuilding, mark, incoming.clone(), part..(part + 1), &mut waiting);
            let pieces = of.marks.pieces_of(mark).map(|piece| share(piece, part, parts));
            let is_last = part + 1 == parts;
            if is_last {
                rebuilding.keep_with(mark, pieces);
            } else {
                rebuilding.work(mark, pieces);
            }
            for goal in goals.clone() {
                match (part_of(goal, part, sent), goes_in_parts(&goal)) {
                    (Some(goal), _) => rebuilding.tell(goal),
                    (None, false) if is_last => rebuilding.tell(goal),
                    _ => {}
                }
            }
        }
    }
    if let Some(last) = of.marks.list.len().checked_sub(1) {
        wait(&mut rebuilding, last, next, 1..parts, &mut waiting);
    }
    let result = rebuilding.finish();
    for (dependency, completion) in waiting {
        of.dependencies.change(dependency, |part| part.completion = completion);
    }
    result
}

/// Waits for some parts of messages; the first part of each is that of its own completion.
fn wait(
    rebuilding: &mut Rebuilding<'_>,
    mark: usize,
    incoming: Vec<(u32, Row)>,
    parts: std::ops::Range<u32>,
    waiting: &mut Vec<(u32, u32)>,
) {
    for part in parts.filter(|&part| part > 0) {
        for &(second, row) in &incoming {
            waiting.push((second + part - 1, rebuilding.wait(mark, row)));
        }
    }
}

/// The dependency of the second part of a message, if a goal is its send.
fn second_of(goal: Goal, sent: &Parts) -> Option<u32> {
    match goal {
        Goal::Dependency { location, number, role: Role::Sent } => sent.get(&(location, number)).copied(),
        _ => None,
    }
}

/// Whom a part of a message tells when it is sent, if it goes in parts.
fn part_of(goal: Goal, part: u32, sent: &Parts) -> Option<Goal> {
    let second = second_of(goal, sent)?;
    match (goal, part) {
        (_, 0) => Some(goal),
        (Goal::Dependency { location, role, .. }, part) => {
            Some(Goal::Dependency { location, number: second + part - 1, role })
        }
        (Goal::Seat { .. }, _) => None,
    }
}

/// A part of a piece of time; all parts are as long as the piece.
fn share(piece: Piece, part: u32, parts: u32) -> Piece {
    let until = |part: u32| {
        let ticks = i128::from(piece.ticks) * i128::from(part) / i128::from(parts);
        Ticks::try_from(ticks).unwrap_or(Ticks::MAX)
    };
    Piece { ticks: until(part + 1) - until(part), ..piece }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_piece_of_time_are_as_long_as_the_piece() {
        for ticks in [0, 1, 10, 17, -5] {
            let parts = (0..4).map(|part| share(Piece { row: Row::NONE, ticks }, part, 4).ticks);
            assert_eq!(parts.sum::<Ticks>(), ticks);
        }
    }
}
