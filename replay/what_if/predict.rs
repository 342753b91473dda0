//! Predictions: the run time of each scenario, from the timed graph of all processes (what-if 3).

use model::Ticks;
use patterns::matched::CollectiveClass;

use super::changes::Paths;
use super::classes::{self, RowClass};
use super::efficiency::Efficiency;
use super::explain::{explain, tell_measured};
use super::forward::{Forward, Lanes};
use super::graph::{Graph, LocationGraph};
use super::lanes::{Lane, RowChanges};
use super::marks::{Completion, Kind, Marks};
use super::scenario::{Change, Scenario, WhatIf};
use super::{members, messages, standard, threads};
use crate::error::Error;
use crate::exchange::{Exchange, share};
use crate::findings::Findings;
use crate::ids::{EventNumber, JournalPosition, PathId, Row};
use crate::int::to_u32;
use crate::matching::Matches;
use crate::operations::{Operations, TeamEventKind};
use crate::relay;
use crate::tools::Tools;
use crate::walk::{Note, Noted, Walked, WalkedProcess};

/// The most scenarios that are replayed in one pass.
const LANES: usize = 8;

/// The timed graph of a worker's processes.
#[derive(Debug)]
pub struct TimedGraph {
    pub(super) graph: Graph,
    /// By location and row: the class of its time, and its call path.
    pub(super) classes: Vec<Vec<RowClass>>,
    pub(super) rows: Vec<Vec<PathId>>,
}

/// The run time of a scenario.
#[derive(Clone, PartialEq, Debug)]
pub struct Prediction {
    /// What was different.
    pub scenario: Scenario,
    /// The run time, in ticks.
    pub ticks: Ticks,
    /// How many marks have another time than measured: calls of MPI, and what threads wait for.
    pub moved: u64,
}

/// Predictions, and how far to trust them.
#[derive(Clone, PartialEq, Debug)]
pub struct Predictions {
    /// From the first end of `MPI_Init` to the last begin of `MPI_Finalize`, in ticks, as measured.
    pub run: Ticks,
    /// The time in calls of MPI that complete something, and in those that cannot wait, in ticks.
    pub mpi: Ticks,
    /// The part of it that the model does not explain: rests.
    pub unexplained: Ticks,
    /// The part of it that takes as long as it did, whatever is different.
    pub kept: Ticks,
    /// The run time if calls of MPI took as long as the fitted lines have it, in ticks.
    pub fitted: Ticks,
    /// Efficiencies of the run.
    pub efficiency: Efficiency,
    /// Whether it is the standard set.
    pub is_standard: bool,
    /// In the order of the scenarios; those of the standard set by what they gain, most first.
    pub list: Vec<Prediction>,
}

/// Bytes of a note: its mark, a completion, pieces of time, whom it tells its time; while lists grow.
const OF_NOTE: u64 = 400;

/// Bytes of a message or of a part in a collective operation: its dependencies, what is asked and answered, and the times that are
/// told in all lanes.
const OF_OPERATION: u64 = 600;

impl TimedGraph {
    /// Forecast of the memory that the graph and its replay take, in bytes.
    pub fn bytes_needed(processes: &[Walked]) -> u64 {
        let of = |walked: &Walked| {
            let notes: usize = walked.notes.iter().map(Vec::len).sum();
            let Operations { sends, receives, collectives, nonblocking, .. } = &*walked.operations;
            let operations = sends.len() + receives.len() + collectives.len() + nonblocking.len();
            OF_NOTE * notes as u64 + OF_OPERATION * operations as u64
        };
        processes.iter().map(of).sum()
    }

    /// Builds the graph of processes after matching, and before their journals change.
    ///
    /// # Errors
    /// If a worker failed.
    pub fn build(
        tools: &Tools<'_>,
        processes: &[Walked],
        matches: &[Matches],
        exchange: &mut dyn Exchange,
    ) -> Result<TimedGraph, Error> {
        let first = processes.first().map_or(0, |walked| to_u32(walked.process.range().start));
        let mut graph = Graph { first, ..Graph::default() };
        let (mut all_classes, mut all_rows) = (Vec::new(), Vec::new());
        for walked in processes {
            let of_paths = classes::of_paths(tools.trace, &walked.process.paths);
            let mut completing = completing(walked);
            let begin = walked.notes.first().and_then(|notes| Some(notes.first()?.time));
            for (thread, notes) in walked.notes.iter().enumerate() {
                let notes = &from_begin(notes, begin)[..];
                let rows = walked.results.severities[thread].paths().to_vec();
                let classes: Vec<RowClass> = rows.iter().map(|path| of_paths[path.index()]).collect();
                let completes = leaves(notes, &mut completing[thread]);
                let marks = Marks::new(notes, &completes, &walked.journals[thread], &classes);
                graph.locations.push(LocationGraph { marks, ..LocationGraph::default() });
                all_classes.push(classes);
                all_rows.push(rows);
            }
        }
        messages::link(tools, processes, matches, &mut graph, exchange)?;
        members::link(tools, processes, matches, &mut graph, exchange)?;
        processes.iter().for_each(|walked| threads::link(walked, &mut graph));
        tell_measured(tools, &mut graph, exchange)?;
        let regions: Vec<Vec<u32>> = processes
            .iter()
            .flat_map(|walked| walked.results.severities.iter().map(move |of| (walked, of)))
            .map(|(walked, of)| {
                of.paths().iter().map(|path| walked.process.paths[path.index()].region).collect()
            })
            .collect();
        let barriers = |location: u32, visit: u32| {
            let walked =
                processes.iter().find(|walked| walked.process.range().contains(&(location as usize)));
            walked.map_or(u32::MAX, |walked| walked.operations.barriers[visit as usize].region)
        };
        let function_of = |location: u32, completion: &Completion| match completion.what {
            // Threads have events that are no functions: each kind stands for one that no trace has.
            Noted::Team(kind, _) => u32::MAX - 2 - kind as u32,
            Noted::Acquire(_) => u32::MAX - 1,
            Noted::LeaveBarrier(visit) => barriers(location, visit),
            _ => {
                regions[(location - first) as usize].get(completion.row.index()).copied().unwrap_or(u32::MAX)
            }
        };
        explain(tools, &mut graph, &function_of, exchange)?;
        let mut graph = TimedGraph { graph, classes: all_classes, rows: all_rows };
        graph.keep();
        Ok(graph)
    }

    /// Calls on windows that wait for nobody take as long as they did.
    fn keep(&mut self) {
        for (at, of) in self.graph.locations.iter_mut().enumerate() {
            for number in 0..to_u32(of.marks.completions.len()) {
                let row = of.marks.completions[number as usize].row;
                let class = self.classes[at].get(row.index());
                if class == Some(&RowClass::Kept) && of.dependencies_of(number).is_empty() {
                    of.marks.completions[number as usize].is_kept = true;
                }
            }
        }
    }

    /// Replays scenarios.
    ///
    /// # Errors
    /// If a worker failed, or a scenario names what is nowhere.
    pub fn predict(
        &self,
        tools: &Tools<'_>,
        processes: &[WalkedProcess],
        what_if: &WhatIf,
        findings: &mut Findings,
        exchange: &mut dyn Exchange,
    ) -> Result<Predictions, Error> {
        let paths = Paths::new(tools, processes, &self.graph, &self.classes, &self.rows);
        let begin = self.begin(exchange)?;
        let run = self.measured_end(exchange)? - begin;
        let standard = match what_if {
            WhatIf::Standard => standard::scenarios(&paths, exchange)?,
            WhatIf::Scenarios(_) => Vec::new(),
        };
        let scenarios = if let WhatIf::Scenarios(scenarios) = what_if { scenarios } else { &standard };
        // Efficiencies need the run on an ideal network in any case, and trust the one with fitted times.
        let [ideal, fitted] =
            [Change::Ideal, Change::Fitted].map(|change| Scenario::of(change.to_string(), change));
        let all: Vec<Scenario> = scenarios.iter().cloned().chain([ideal, fitted]).collect();
        let mut list = self.run_times(tools, &paths, &all, begin, findings, exchange)?;
        let fitted = list.pop().map_or(run, |it| it.ticks);
        let ideal = list.pop().map_or(run, |it| it.ticks);
        if *what_if == WhatIf::Standard {
            if let Some(together) = standard::together(&list, run) {
                list.extend(self.run_times(tools, &paths, &[together], begin, findings, exchange)?);
            }
            standard::sort(&mut list, run);
        }
        let (work, most, ranks) = paths.useful(exchange)?;
        let efficiency = Efficiency { work, most, ranks, run, ideal };
        let [mpi, unexplained, kept] = self.trust(exchange)?;
        Ok(Predictions {
            is_standard: *what_if == WhatIf::Standard,
            run,
            mpi,
            unexplained,
            kept,
            fitted,
            efficiency,
            list,
        })
    }

    /// The run times of scenarios.
    fn run_times(
        &self,
        tools: &Tools<'_>,
        paths: &Paths<'_>,
        scenarios: &[Scenario],
        begin: Ticks,
        findings: &mut Findings,
        exchange: &mut dyn Exchange,
    ) -> Result<Vec<Prediction>, Error> {
        let mut prepared = Vec::with_capacity(scenarios.len());
        for scenario in scenarios {
            prepared.push(paths.prepare(scenario, exchange)?);
        }
        let mut ends = Vec::with_capacity(scenarios.len());
        let mut rest = &prepared[..];
        while !rest.is_empty() {
            let count = if rest.len() == 1 { 1 } else { rest.len().min(LANES) };
            let (now, later) = rest.split_at(count);
            let found = match count {
                1 => self.replay::<1>(tools, now, findings, exchange)?,
                _ => self.replay::<LANES>(tools, now, findings, exchange)?,
            };
            ends.extend(found.into_iter().take(count));
            rest = later;
        }
        let prediction = |(scenario, (end, moved)): (&Scenario, (Ticks, u64))| Prediction {
            scenario: scenario.clone(),
            ticks: end - begin,
            moved,
        };
        Ok(scenarios.iter().zip(ends).map(prediction).collect())
    }

    /// Replays some scenarios in one pass; returns the end of the run in each, and how many
    /// marks have moved.
    fn replay<const K: usize>(
        &self,
        tools: &Tools<'_>,
        scenarios: &[(Lane, Vec<RowChanges>)],
        findings: &mut Findings,
        exchange: &mut dyn Exchange,
    ) -> Result<Vec<(Ticks, u64)>, Error> {
        let lane = |lane: usize| scenarios.get(lane).map_or_else(Lane::default, |(lane, _)| *lane);
        let changes = |at: usize| {
            std::array::from_fn(|lane| {
                scenarios.get(lane).map_or_else(RowChanges::default, |(_, changes)| changes[at].clone())
            })
        };
        let lanes = Lanes::<K> {
            lanes: std::array::from_fn(lane),
            changes: (0..self.rows.len()).map(changes).collect(),
        };
        let me = exchange.worker();
        let mut forward = Forward::new(tools, (&self.graph, &self.classes), &lanes, me, findings);
        relay::run(&mut forward, exchange);
        let (finalized, last) = forward.ends();
        let mut words = vec![u64::from(finalized.is_some())];
        words.extend(finalized.unwrap_or(last).map(Ticks::cast_unsigned));
        words.extend(forward.moved());
        let told = share(exchange, words)?;
        let has_finalize = told.iter().any(|words| words[0] == 1);
        let counts = |words: &&Vec<u64>| !has_finalize || words[0] == 1;
        let end = |lane: usize| {
            told.iter().filter(counts).map(|words| words[1 + lane].cast_signed()).max().unwrap_or(0)
        };
        let moved = |lane: usize| told.iter().map(|words| words[1 + K + lane]).sum();
        Ok((0..K).map(|lane| (end(lane), moved(lane))).collect())
    }

    /// The first end of `MPI_Init`, or the first record where there is none.
    fn begin(&self, exchange: &mut dyn Exchange) -> Result<Ticks, Error> {
        let marks = || self.graph.locations.iter().map(|of| &of.marks);
        let begins = marks().filter_map(|marks| Some(marks.list[marks.begin? as usize].time)).min();
        let first = marks().filter_map(|marks| Some(marks.list.first()?.time)).min();
        first_of(begins, first, Ticks::MAX, |told| told.min(), exchange)
    }

    /// The last begin of `MPI_Finalize`, or the last record where there is none.
    fn measured_end(&self, exchange: &mut dyn Exchange) -> Result<Ticks, Error> {
        let marks = || self.graph.locations.iter().map(|of| &of.marks);
        let ends = marks().filter_map(|marks| Some(marks.list[marks.end? as usize].time)).max();
        let last = marks().filter_map(|marks| Some(marks.list.last()?.time)).max();
        first_of(ends, last, Ticks::MIN, |told| told.max(), exchange)
    }

    /// Sums over all locations between `MPI_Init` and `MPI_Finalize`: time in MPI, rests, kept time.
    fn trust(&self, exchange: &mut dyn Exchange) -> Result<[Ticks; 3], Error> {
        let mut sums = [0; 3];
        for (at, of) in self.graph.locations.iter().enumerate() {
            for mark in of.marks.inside() {
                match of.marks.list[mark].kind {
                    Kind::Completion(number) => {
                        let completion = &of.marks.completions[number as usize];
                        if completion.row != Row::NONE {
                            let ticks = of.marks.list[mark].time - of.marks.enter(completion);
                            sums[0] += ticks;
                            sums[1] += completion.rest;
                            sums[2] += if completion.is_kept { ticks } else { 0 };
                        }
                    }
                    _ => {
                        for piece in of.marks.pieces_of(mark) {
                            if self.classes[at].get(piece.row.index()) == Some(&RowClass::Mpi) {
                                sums[0] += piece.ticks;
                            }
                        }
                    }
                }
            }
        }
        let told = share(exchange, sums.iter().map(|sum| sum.cast_unsigned()).collect())?;
        Ok(std::array::from_fn(|at| told.iter().map(|words| words[at].cast_signed()).sum()))
    }
}

/// Notes of a thread; one that begins in a team could have begun with its process.
fn from_begin(notes: &[Note], begin: Option<Ticks>) -> Vec<Note> {
    let mut notes = notes.to_vec();
    if let [first, Note { what: Noted::Team(TeamEventKind::Begin, _), .. }, ..] = &mut notes[..]
        && let Some(begin) = begin
    {
        first.time = first.time.min(begin);
    }
    notes
}

/// What workers have: that of the first kind if any worker has it, else that of the second.
fn first_of(
    first: Option<Ticks>,
    second: Option<Ticks>,
    nothing: Ticks,
    choose: fn(&mut dyn Iterator<Item = Ticks>) -> Option<Ticks>,
    exchange: &mut dyn Exchange,
) -> Result<Ticks, Error> {
    let words = [first, second].map(|time| time.unwrap_or(nothing).cast_unsigned());
    let told = share(exchange, words.to_vec())?;
    let of = |at: usize| {
        let times = told.iter().map(|words| words[at].cast_signed()).filter(|&time| time != nothing);
        choose(&mut { times })
    };
    Ok(of(0).or_else(|| of(1)).unwrap_or(0))
}

/// By thread: the positions in the journal of events that complete something.
fn completing(walked: &Walked) -> Vec<Vec<JournalPosition>> {
    let operations = &walked.operations;
    let first = walked.process.range().start;
    let mut found = vec![Vec::new(); walked.process.locations.len()];
    let mut add = |location: u32, position: EventNumber| {
        if position != EventNumber::NONE {
            found[location as usize - first].push(position.in_journal());
        }
    };
    let is_modelled = |class: Option<CollectiveClass>| {
        !matches!(
            class,
            Some(CollectiveClass::Init | CollectiveClass::FileHandling | CollectiveClass::FileTransfer)
        )
    };
    for send in &operations.sends {
        if let Some(call) = operations.calls.find(send.completion) {
            add(call.site.location, send.completed);
        }
    }
    for receive in &operations.receives {
        add(operations.site(receive.call).location, receive.position);
    }
    for collective in operations.collectives.iter().filter(|it| is_modelled(it.class)) {
        add(operations.site(collective.call).location, collective.position);
    }
    for done in operations.nonblocking.iter().filter_map(|it| it.done).filter(|it| is_modelled(it.class)) {
        add(operations.site(done.call).location, done.position);
    }
    for probe in &operations.probes {
        add(operations.site(probe.call).location, probe.position);
    }
    found
}

/// For each note whether it is the leave of a call with one of these positions.
fn leaves(notes: &[Note], positions: &mut [JournalPosition]) -> Vec<bool> {
    positions.sort_unstable();
    let mut next = 0;
    let mut entered = JournalPosition::default();
    let of = |note: &Note| match note.what {
        Noted::Enter(_) => {
            entered = note.position;
            false
        }
        Noted::Leave => {
            next += positions[next..].partition_point(|&position| position < entered);
            positions.get(next).is_some_and(|&position| position < note.position)
        }
        _ => false,
    };
    notes.iter().map(of).collect()
}
