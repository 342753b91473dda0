//! Receives in the order in which their messages are sent, each with what follows until the next one (advice 3.1).
//!
//! In that order nothing waits for itself: what depends on the work behind a receive was sent later than its message.

use model::Ticks;

use super::dependencies::DependencyKind;
use super::goals::{Goal, Role};
use super::graph::{Graph, LocationGraph};
use super::marks::Kind;
use super::rebuild::Rebuilding;
use crate::error::Error;
use crate::exchange::{Batch, Exchange};
use crate::ids::Row;
use crate::tools::Tools;
use crate::wire::{self, Wire};

/// A receive: its completion's mark, and when its message was sent.
type Receive = (usize, Ticks);

/// Puts receives whose row is chosen, by location, in the order of their sends: those in a row between which the location waits
/// for nothing else.
///
/// # Errors
/// If a worker failed.
pub(super) fn reorder(
    tools: &Tools<'_>,
    graph: &mut Graph,
    rows: &[Vec<bool>],
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    let sent = sent(tools, graph, exchange)?;
    for ((of, rows), sent) in graph.locations.iter_mut().zip(rows).zip(&sent) {
        let runs = runs(of, rows, sent);
        if runs.is_empty() {
            continue;
        }
        let mut rebuilding = Rebuilding::new(of);
        let mut next = 0;
        for run in runs {
            // With the enter of the first receive.
            (next..run[0].0).for_each(|mark| rebuilding.keep(mark));
            next = in_order_of_arrival(of, &run, &mut rebuilding);
        }
        (next..of.marks.list.len()).for_each(|mark| rebuilding.keep(mark));
        let (marks, goals) = rebuilding.finish();
        (of.marks, of.goals) = (marks, goals);
    }
    Ok(())
}

/// When the messages of dependencies were sent, by location and dependency; [`Ticks::MIN`] of others.
fn sent(tools: &Tools<'_>, graph: &Graph, exchange: &mut dyn Exchange) -> Result<Vec<Vec<Ticks>>, Error> {
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    for of in &graph.locations {
        for (mark, goal) in of.goals.iter() {
            if let Goal::Dependency { role: Role::Sent, .. } = goal {
                (goal, of.marks.list[mark as usize].time).put(&mut outgoing[goal.worker(tools)]);
            }
        }
    }
    let mut sent: Vec<Vec<Ticks>> =
        graph.locations.iter().map(|of| vec![Ticks::MIN; of.dependencies.len() as usize]).collect();
    for batch in exchange.exchange(outgoing)? {
        for (goal, time) in wire::all::<(Goal, Ticks)>(&batch) {
            if let Goal::Dependency { location, number, .. } = goal {
                sent[(location - graph.first) as usize][number as usize] = time;
            }
        }
    }
    Ok(sent)
}

/// The message that a completion receives, if it is in a chosen row and waits for nothing else.
fn received(of: &LocationGraph, completion: u32, rows: &[bool]) -> Option<u32> {
    let row = of.marks.completions.get(completion).row;
    if row == Row::NONE || rows.get(row.index()) != Some(&true) {
        return None;
    }
    let kind = |number: u32| of.dependencies.get(number).kind;
    let mut messages = of.dependencies_of(completion).iter().filter(|&&number| is_waited_for(kind(number)));
    let &first = messages.next()?;
    (kind(first).is_of_receive() && messages.next().is_none()).then_some(first)
}

fn is_waited_for(kind: DependencyKind) -> bool {
    !matches!(kind, DependencyKind::IfRendezvous | DependencyKind::Progress)
}

/// Receives in a row, if there are several whose order is another one.
fn runs(of: &LocationGraph, rows: &[bool], sent: &[Ticks]) -> Vec<Vec<Receive>> {
    let mut runs = Vec::new();
    let mut run: Vec<Receive> = Vec::new();
    let mut close = |run: &mut Vec<Receive>| {
        let run = std::mem::take(run);
        if !run.is_sorted_by_key(|&(_, sent)| sent) {
            runs.push(run);
        }
    };
    for mark in of.marks.inside() {
        let Kind::Completion(number) = of.marks.list[mark].kind() else { continue };
        match received(of, number, rows) {
            Some(dependency) => run.push((mark, sent[dependency as usize])),
            None => {
                let mut kinds =
                    of.dependencies_of(number).iter().map(|&number| of.dependencies.get(number).kind);
                if kinds.any(is_waited_for) {
                    close(&mut run);
                }
            }
        }
    }
    close(&mut run);
    runs
}

/// Adds the marks from the first completion of a run to the first mark behind its last one; returns what follows.
fn in_order_of_arrival(of: &LocationGraph, run: &[Receive], rebuilding: &mut Rebuilding<'_>) -> usize {
    let mut order: Vec<usize> = (0..run.len()).collect();
    order.sort_by_key(|&at| run[at].1);
    let last = run.len() - 1;
    let behind = run[last].0 + 1;
    // What the last one is followed by until the next call is taken to be its own.
    let has_work = of.marks.list.get(behind).is_some_and(|mark| mark.kind() == Kind::Work);
    for at in order {
        match run.get(at + 1) {
            Some(&(next, _)) => (run[at].0..next).for_each(|mark| rebuilding.keep(mark)),
            None => {
                rebuilding.keep(run[last].0);
                if has_work {
                    rebuilding.work(behind, of.marks.pieces_of(behind));
                }
            }
        }
    }
    if !has_work {
        return behind;
    }
    rebuilding.keep_with(behind, []);
    rebuilding.goals_of(behind).for_each(|goal| rebuilding.tell(goal));
    behind + 1
}
