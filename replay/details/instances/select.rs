//! Selection of the severest waits: candidates go up to worker 0, and those that are selected come down, because root
//! causes are asked about them.

use super::candidates::{LONGEST, SevereWaits};
use super::{BothSides, Candidate};
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange, broadcast, gather, reduce};
use crate::ids::{PathId, ReportPath};
use crate::int::to_u64;
use crate::operations::Place;
use crate::report_paths::ReportPaths;
use crate::statistics::{Instance, SUBJECTS, Severest, SubjectId};
use crate::tools::Tools;
use crate::wire::{self, Wire, wire};

/// A wait of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SelectedWait {
    /// Its wait state.
    pub subject: SubjectId,
    /// The instance.
    pub instance: Instance<ReportPath>,
    /// Both sides.
    pub both: BothSides,
    /// Call paths of the report: of the call that waits, and of the cause; known on worker 0.
    pub paths: [ReportPath; 2],
}

/// The waits of the table, in their order; on every worker.
#[derive(Clone, Debug, Default)]
pub struct Selected {
    /// The waits.
    pub waits: Vec<SelectedWait>,
    /// How many instances were found in all; known on worker 0.
    pub found: u64,
}

/// Candidates for one wait state.
#[derive(Clone, Debug, Default)]
struct OfSubject {
    offered: u64,
    /// In the order of their instances.
    candidates: Vec<Candidate<ReportPath>>,
}

impl OfSubject {
    /// Drops the candidates that will be neither listed by the statistics nor among the longest.
    fn prune(&mut self) {
        self.candidates.sort_unstable_by_key(Candidate::key);
        self.candidates.dedup();
        let mut listed = self.listed().into_iter();
        let mut rank = 0;
        self.candidates.retain(|_| {
            rank += 1;
            listed.next() == Some(true) || rank <= LONGEST
        });
    }

    /// For each candidate, whether the statistics list it.
    fn listed(&self) -> Vec<bool> {
        let mut listed = Severest::default();
        self.candidates.iter().for_each(|candidate| listed.offer(candidate.instance));
        let mut are_listed = vec![false; self.candidates.len()];
        for instance in listed.instances() {
            are_listed[self.candidates.partition_point(|candidate| candidate.instance < *instance)] = true;
        }
        are_listed
    }
}

impl SevereWaits {
    /// Selects the waits of the table, about so many.
    ///
    /// # Errors
    /// If a worker failed.
    pub fn select(
        self,
        tools: &Tools<'_>,
        paths: &ReportPaths,
        rows: usize,
        exchange: &mut dyn Exchange,
    ) -> Result<Selected, Error> {
        let first = tools.owners.first(exchange.worker());
        let number = |process: usize, path: PathId| {
            paths.numbers.get(process.checked_sub(first)?)?.get(path.index()).copied()
        };
        let process_of = |place: &Place| tools.process_of(place.location);
        let of_report = |candidate: Candidate<PathId>| {
            let Candidate { instance, both, speaker } = candidate;
            let Instance { duration, process, enter, exit, path, cause } = instance;
            let path = number(speaker as usize, path)?;
            let instance = Instance { duration, process, enter, exit, path, cause };
            Some(Candidate { instance, both, speaker })
        };
        let mut own = vec![OfSubject::default(); SUBJECTS.len()];
        for (own, (offered, candidates)) in own.iter_mut().zip(self.into_subjects()) {
            *own = OfSubject { offered, candidates: candidates.into_iter().filter_map(of_report).collect() };
            own.prune();
        }
        let all = reduce(exchange, own, encode, merge)?;
        let (mut waits, found) = (Vec::new(), all.iter().map(|of| of.offered).sum());
        if exchange.worker() == 0 {
            waits = choose(&all, rows);
        }
        let mut batch = Batch::new();
        waits.put(&mut batch);
        let mut waits: Vec<SelectedWait> = wire::one(&broadcast(exchange, batch)?);
        // Only the owners of both sides know their call paths.
        let mut known = Batch::new();
        for (at, wait) in waits.iter().enumerate() {
            for (side, place) in [wait.both.waiting, wait.instance.cause].iter().enumerate() {
                if let Some(path) = number(process_of(place), place.path) {
                    ((at, side), path).put(&mut known);
                }
            }
        }
        for batch in gather(exchange, known)? {
            for ((at, side), path) in wire::all::<((usize, usize), ReportPath)>(&batch) {
                waits[at].paths[side] = path;
            }
        }
        Ok(Selected { waits, found })
    }
}

/// Selects about so many waits: all that the statistics list, and then the longest.
fn choose(all: &[OfSubject], rows: usize) -> Vec<SelectedWait> {
    let (mut chosen, mut others) = (Vec::new(), Vec::new());
    for (subject, of) in all.iter().enumerate() {
        for (&Candidate { instance, both, .. }, is_listed) in of.candidates.iter().zip(of.listed()) {
            let paths = [ReportPath::NONE; 2];
            let into = if is_listed { &mut chosen } else { &mut others };
            into.push(SelectedWait { subject, instance, both, paths });
        }
    }
    others.sort_by_key(|wait| (wait.instance, wait.subject));
    others.truncate(rows.saturating_sub(chosen.len()));
    chosen.append(&mut others);
    chosen.sort_by_key(|wait| (wait.instance, wait.subject));
    chosen
}

fn encode(all: &Vec<OfSubject>) -> Batch {
    let mut batch = Batch::new();
    for of in all {
        (of.offered, to_u64(of.candidates.len())).put(&mut batch);
        of.candidates.iter().for_each(|candidate| candidate.put(&mut batch));
    }
    batch
}

/// Adds the candidates of the next higher workers.
fn merge(all: &mut Vec<OfSubject>, words: &[u64]) {
    let mut reader = BatchReader::new(words);
    for of in all {
        let (offered, count): (u64, u64) = Wire::get(&mut reader);
        of.offered += offered;
        of.candidates.extend((0..count).map(|_| Candidate::get(&mut reader)));
        of.prune();
    }
}

wire!(SelectedWait { subject, instance, both, paths });
