//! Masters and their workers: who hands out work to whom, and what other numbers of workers or other chunks would take (what-if 6).
//!
//! ```text
//!   messages of each process ─► claims of workers ─► pattern, at the master ─► tasks of workers ─► measure ─► master
//!       by stretch between            └────── again for masters that have a master ──────┘           farm, formula, policies
//!       operations of all
//! ```

mod farm;
mod formula;
mod known;
mod master;
mod measure;
mod messages;
mod pattern;
mod policies;
mod told;

use std::collections::{BTreeMap, BTreeSet};

use model::Ticks;
use rustc_hash::FxHashMap;

use super::graph::Graph;
use crate::call_tree::CallPath;
use crate::error::Error;
use crate::exchange::{Batch, Exchange, share};
use crate::ids::PathId;
use crate::int::to_u32;
use crate::journal::JournalSpot;
use crate::matching::Matches;
use crate::tools::Tools;
use crate::walk::Walked;
use crate::wire::{self, Wire, wire};
pub use formula::Formula;
pub(super) use master::Network;
pub use master::{Master, Policy, PolicyKind, Unknown};
use measure::{Measured, Told};
use messages::Message;
use pattern::{Claim, claim, tasks, workers};

/// Levels of masters that have masters.
const LEVELS: usize = 4;

/// A process in a stretch between operations of all.
type Key = (u32, u32);

/// A master tells one of its workers.
#[derive(Clone, Copy, Debug)]
struct Accepted {
    worker: u32,
    stretch: u32,
    master: u32,
}

wire!(Accepted { [worker, stretch], master });

/// Finds all masters, in the order of their processes, the same on all workers of the analysis.
///
/// # Errors
/// If a worker failed.
pub(super) fn find(
    tools: &Tools<'_>,
    processes: &[Walked],
    matches: &[Matches],
    graph: &Graph,
    network: &Network,
    exchange: &mut dyn Exchange,
) -> Result<Vec<Master>, Error> {
    let borders = messages::borders(tools, processes, exchange)?;
    let whole = find_in(tools, (processes, matches), None, graph, network, exchange)?;
    let has_borders = share(exchange, vec![u64::from(borders.iter().any(|ends| !ends.is_empty()))])?;
    if whole.is_empty() && has_borders.iter().any(|words| words[0] == 1) {
        return find_in(tools, (processes, matches), Some(&borders), graph, network, exchange);
    }
    Ok(whole)
}

/// Finds the masters of the whole run, or of stretches between borders.
fn find_in(
    tools: &Tools<'_>,
    (processes, matches): (&[Walked], &[Matches]),
    borders: Option<&[Vec<Ticks>]>,
    graph: &Graph,
    network: &Network,
    exchange: &mut dyn Exchange,
) -> Result<Vec<Master>, Error> {
    let of = |(at, walked): (usize, &Walked)| {
        let borders = borders.map_or(&[][..], |borders| &borders[at]);
        let messages = messages::of_process(walked, &matches[at], borders);
        Speaker { process: to_u32(walked.process.number), messages }
    };
    let speakers: Vec<Speaker> = processes.iter().enumerate().map(of).collect();
    let found = relations(tools, &speakers, graph, exchange)?;
    let told = tell_tasks(tools, &speakers, &found, exchange)?;
    let mut mine = Batch::new();
    for (speaker, walked) in speakers.iter().zip(processes) {
        // Stretches with the same workers are one.
        let mut by_workers = BTreeMap::<&BTreeSet<u32>, Measured>::new();
        for (stretch, messages) in speaker.stretches() {
            if let Some(workers) = found.workers.get(&(speaker.process, stretch)) {
                by_workers.entry(workers).or_default().add(messages, workers, &told);
            }
        }
        for (workers, measured) in by_workers {
            let name = |of: &BTreeMap<PathId, u64>| {
                let most = of.iter().max_by_key(|&(&path, &count)| (count, std::cmp::Reverse(path)));
                most.map_or_else(String::new, |(&path, _)| name(tools, &walked.process.paths, path))
            };
            let names = [name(&measured.sent_in), name(&measured.received_in)];
            let mut ranks: Vec<u32> = workers.iter().map(|&worker| rank(tools, worker)).collect();
            ranks.sort_unstable();
            let of = rank(tools, speaker.process);
            if let Some(master) = Master::new(of, ranks, names, &measured, network) {
                master.put(&mut mine);
            }
        }
    }
    let told = share(exchange, mine)?;
    Ok(told.iter().flat_map(|batch| wire::all::<Master>(batch).collect::<Vec<_>>()).collect())
}

/// A process of this worker of the analysis with its messages in the order of time.
struct Speaker {
    process: u32,
    messages: Vec<Message>,
}

impl Speaker {
    /// Its messages by stretch.
    fn stretches(&self) -> impl Iterator<Item = (u32, &[Message])> {
        let of = |messages: &'_ [Message]| messages[0].stretch;
        self.messages.chunk_by(|one, other| one.stretch == other.stretch).map(move |it| (of(it), it))
    }
}

/// Who is a worker of whom, of the processes of this worker of the analysis.
#[derive(Default)]
struct Relations {
    /// The workers of each master.
    workers: BTreeMap<Key, BTreeSet<u32>>,
    /// The master of each worker.
    masters: BTreeMap<Key, u32>,
}

/// Finds who is a worker of whom; masters that have become so may be workers themselves, by the messages that they do not have with
/// their workers.
fn relations(
    tools: &Tools<'_>,
    speakers: &[Speaker],
    graph: &Graph,
    exchange: &mut dyn Exchange,
) -> Result<Relations, Error> {
    let mut found = Relations::default();
    let mut claims = BTreeMap::<Key, Vec<Claim>>::new();
    let mut asked: Option<BTreeSet<Key>> = None;
    for _ in 0..LEVELS {
        let mut outgoing = vec![Batch::new(); exchange.workers()];
        for speaker in speakers {
            for (stretch, messages) in speaker.stretches() {
                let key = (speaker.process, stretch);
                if asked.as_ref().is_some_and(|asked| !asked.contains(&key))
                    || found.masters.contains_key(&key)
                {
                    continue;
                }
                let own = found.workers.get(&key);
                let is_own = |message: &&Message| own.is_some_and(|own| own.contains(&message.peer));
                let others: Vec<&Message> = messages.iter().filter(|message| !is_own(message)).collect();
                let idle = |from: &Message, to: &Message| idle(graph, from, to);
                if let Some(claim) = claim(speaker.process, &others, &idle) {
                    claim.put(&mut outgoing[tools.owners.of(claim.master as usize)]);
                }
            }
        }
        let mut touched = BTreeSet::new();
        for batch in exchange.exchange(outgoing)? {
            for claim in wire::all::<Claim>(&batch) {
                let key = (claim.master, claim.stretch);
                claims.entry(key).or_default().push(claim);
                touched.insert(key);
            }
        }
        let mut outgoing = vec![Batch::new(); exchange.workers()];
        let mut new = BTreeSet::new();
        for speaker in speakers {
            for (stretch, messages) in speaker.stretches() {
                let key = (speaker.process, stretch);
                if !touched.contains(&key) {
                    continue;
                }
                let before = found.workers.get(&key).cloned().unwrap_or_default();
                let workers = workers(messages, &claims[&key]);
                if !workers.is_superset(&before) || workers == before {
                    continue;
                }
                for &worker in workers.difference(&before) {
                    let accepted = Accepted { worker, stretch, master: speaker.process };
                    accepted.put(&mut outgoing[tools.owners.of(worker as usize)]);
                }
                found.workers.insert(key, workers);
                new.insert(key);
            }
        }
        for batch in exchange.exchange(outgoing)? {
            for Accepted { worker, stretch, master } in wire::all::<Accepted>(&batch) {
                found.masters.insert((worker, stretch), master);
            }
        }
        let has_new = share(exchange, vec![u64::from(!new.is_empty())])?;
        asked = Some(new);
        if has_new.iter().all(|words| words[0] == 0) {
            break;
        }
    }
    Ok(found)
}

/// Workers tell their masters of the tasks that they have done; by the event of their sends.
fn tell_tasks(
    tools: &Tools<'_>,
    speakers: &[Speaker],
    found: &Relations,
    exchange: &mut dyn Exchange,
) -> Result<FxHashMap<JournalSpot, Told>, Error> {
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    for speaker in speakers {
        for (stretch, messages) in speaker.stretches() {
            let Some(&master) = found.masters.get(&(speaker.process, stretch)) else { continue };
            let with: Vec<&Message> = messages.iter().filter(|message| message.peer == master).collect();
            for (received, answer, work) in tasks(&with) {
                let told = Told { sent: with[received].sent, work, back: with[answer].bytes };
                told.put(&mut outgoing[tools.owners.of(master as usize)]);
            }
        }
    }
    let told = exchange.exchange(outgoing)?;
    Ok(told.iter().flat_map(|batch| wire::all::<Told>(batch)).map(|told| (told.sent, told)).collect())
}

/// The longest time outside of MPI from a message that is sent to one that is received, on one location; 0 where it is not known.
fn idle(graph: &Graph, from: &Message, to: &Message) -> Ticks {
    let (Some(from), Some(to)) = (from.here, to.here) else { return 0 };
    if from.location != to.location {
        return 0;
    }
    let Some(of) = from.location.checked_sub(graph.first).and_then(|at| graph.locations.get(at as usize))
    else {
        return 0;
    };
    let marks = &of.marks;
    let (Some(first), Some(last)) = (marks.call_at(from.position), marks.call_at(to.position)) else {
        return 0;
    };
    let calls = (first..=last).filter_map(|at| Some((marks.list[at as usize].time, marks.left(at)?)));
    let mut left = None;
    let mut longest = 0;
    for (entered, call_left) in calls {
        longest = longest.max(left.map_or(0, |left| entered - left));
        left = Some(call_left);
    }
    longest
}

/// The rank of a process, or its number where it has none.
fn rank(tools: &Tools<'_>, process: u32) -> u32 {
    tools.trace.processes[process as usize].rank.unwrap_or(process)
}

/// The names of a call path with slashes between them.
fn name(tools: &Tools<'_>, paths: &[CallPath], path: PathId) -> String {
    let mut names = Vec::new();
    let mut next = path;
    while next != PathId::NONE {
        let CallPath { region, parent, .. } = &paths[next.index()];
        names.push(tools.trace.region_name(*region));
        next = *parent;
    }
    names.reverse();
    names.join("/")
}
