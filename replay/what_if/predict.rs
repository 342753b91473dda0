//! Predictions: the run time of each scenario, from the timed graph of all processes (what-if 3).

use std::mem::take;

use model::Ticks;

use super::changes::Paths;
use super::classes::RowClass;
use super::completing::{completing, leaves};
use super::completions::Completion;
use super::dependencies::DependencyKind;
use super::efficiency::Efficiency;
use super::explain::{LinesOfPairs, explain, tell_measured};
use super::forward::{Forward, Lanes};
use super::graph::{Graph, LocationGraph};
use super::known::KnownNetwork;
use super::lanes::{Lane, RowChanges};
use super::latency::Latency;
use super::levels::Levels;
use super::levers::{Lever, levers};
use super::marks::{Kind, Marks};
use super::nodes::Nodes;
use super::phases::{OfThreads, Phase};
use super::polls::Polls;
use super::purpose::Purpose;
use super::scenario::{Change, Scenario, WhatIf};
use super::usage::ProcessUsage;
use super::workers::{self, Master, Network};
use super::{arrival, members, messages, parts, phases, standard, threads, usage};
use crate::causes::ComparedWork;
use crate::error::Error;
use crate::exchange::{Exchange, share};
use crate::findings::Findings;
use crate::ids::{PathId, Row};
use crate::int::to_u32;
use crate::matching::Matches;
use crate::operations::{Operations, TeamEventKind};
use crate::relay;
use crate::tools::Tools;
use crate::walk::{Note, Noted, Walked, WalkedProcess};

/// The most scenarios that are replayed in one pass.
const LANES: usize = 8;

/// The timed graph of a worker's processes.
#[derive(Clone, Debug)]
pub struct TimedGraph {
    pub(super) graph: Graph,
    /// By location and row: the class of its time, and its call path.
    pub(super) classes: Vec<Vec<RowClass>>,
    pub(super) rows: Vec<Vec<PathId>>,
    /// The nodes of all locations, and the lines of messages.
    pub(super) nodes: Nodes,
    pub(super) lines: LinesOfPairs,
    /// What messages tell of the network.
    known: KnownNetwork,
    /// How long messages of masters and workers take.
    network: Network,
    /// Masters and their workers, if the standard set or advice is asked for.
    pub(super) masters: Vec<Master>,
    /// By process: what its threads did with their time.
    pub(super) usage: Vec<ProcessUsage>,
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
    /// How many messages would come in another order than before at a call path that may have chosen them.
    pub otherwise: u64,
    /// Whether processes would wait for each other: then there is no run time.
    pub deadlocks: bool,
    /// Whether the messages of the run do not tell how long they would take: then there is none, either.
    pub is_unknown: bool,
    /// Whether nothing is at its call paths that it could change.
    pub is_void: bool,
}

/// A pass over the graph.
#[derive(Debug)]
pub(super) struct Pass {
    /// By lane.
    pub lanes: Vec<PassLane>,
    /// Whether processes would wait for each other.
    pub deadlocks: bool,
}

/// A lane of a pass.
#[derive(Debug)]
pub(super) struct PassLane {
    /// The end of the run, in the unit of the lane.
    pub end: Ticks,
    /// Marks with another time than measured.
    pub moved: u64,
    /// See [`Prediction::otherwise`].
    pub otherwise: u64,
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
    /// Efficiencies of the run; `None` if they are not known.
    pub efficiency: Option<Efficiency>,
    /// Receives that may have been free to choose their messages: those at a call path with several sources.
    pub choices: u64,
    /// How much latency the run bears; of the standard set.
    pub latency: Option<Latency>,
    /// Of all threads.
    pub levels: Levels,
    /// Of phases, in the order in which they were named.
    pub phases: Vec<Phase>,
    /// Whether it is the standard set.
    pub is_standard: bool,
    /// In the order of the scenarios; those of the standard set by what they gain, most first.
    pub list: Vec<Prediction>,
    /// What those of the standard set change that gain enough for advice: position, and what it is.
    pub levers: Vec<(usize, Lever)>,
    /// Masters and their workers, in the order of their processes; only with the standard set.
    pub masters: Vec<Master>,
}

/// Bytes of a note: its mark, a completion, pieces of time, whom it tells its time; while lists grow.
const OF_NOTE: u64 = 250;

/// Bytes of a message or of a part in a collective operation: its dependencies, what is asked and answered, and the times that are
/// told in all lanes.
const OF_OPERATION: u64 = 600;

/// Bytes of a border of a phase: where it is, its replayed time, its window.
const OF_BORDER: u64 = 200;

impl TimedGraph {
    /// Forecast of the memory that the graph and its replay take, in bytes.
    pub fn bytes_needed(processes: &[Walked], purpose: Purpose<'_>) -> u64 {
        let of = |walked: &Walked| {
            let notes: usize = walked.notes.iter().map(Vec::len).sum();
            let Operations { sends, receives, collectives, nonblocking, .. } = &*walked.operations;
            let operations = sends.len() + receives.len() + collectives.len() + nonblocking.len();
            let borders = walked.borders.len();
            OF_NOTE * notes as u64 + OF_OPERATION * operations as u64 + OF_BORDER * borders as u64
        };
        // There is a second graph while events have another order.
        processes.iter().map(of).sum::<u64>() * if purpose.reorders() { 2 } else { 1 }
    }

    /// Builds the graph of processes after matching, and before their journals change.
    ///
    /// # Errors
    /// If a worker failed.
    pub fn build(
        tools: &Tools<'_>,
        processes: &mut [Walked],
        matches: &[Matches],
        purpose: Purpose<'_>,
        exchange: &mut dyn Exchange,
    ) -> Result<TimedGraph, Error> {
        let nodes = Nodes::of_trace(tools.trace);
        let first = processes.first().map_or(0, |walked| to_u32(walked.process.range().start));
        let mut graph = Graph { first, ..Graph::default() };
        let noted = processes.iter_mut().map(|walked| (take(&mut walked.notes), take(&mut walked.pieces)));
        let noted: Vec<_> = noted.collect();
        let processes = &*processes;
        let (mut all_classes, mut all_rows, mut usage) = (Vec::new(), Vec::new(), Vec::new());
        for (walked, (all_notes, pieces)) in processes.iter().zip(noted) {
            let of_paths = RowClass::of_paths(tools.trace, &walked.process.paths);
            let mut completing = completing(walked);
            // What is in marks is not kept as notes, too.
            let mut pieces = pieces.into_iter();
            let begin = all_notes.first().and_then(|notes| Some(notes.first()?.time));
            let polling = |path: &PathId| {
                let region = walked.process.paths[path.index()].region;
                tools.trace.kinds.get(region as usize).and_then(|kind| kind.polling)
            };
            let kinds: Vec<Vec<_>> =
                walked.results.severities.iter().map(|of| of.paths().iter().map(polling).collect()).collect();
            let polls = Polls::of_threads(tools.trace, walked, &kinds);
            let first_location = graph.locations.len();
            for (thread, notes) in all_notes.into_iter().enumerate() {
                let notes = &from_begin(notes, begin)[..];
                let rows = walked.results.severities[thread].paths().to_vec();
                let classes: Vec<RowClass> = rows.iter().map(|path| of_paths[path.index()]).collect();
                let completes = leaves(notes, &mut completing[thread]);
                let borders = if thread == 0 { &walked.borders[..] } else { &[] };
                let pieces = pieces.next().unwrap_or_default();
                let marks = Marks::new(notes, &completes, &polls[thread], pieces, &classes, borders);
                graph.locations.push(LocationGraph::new(marks));
                all_classes.push(classes);
                all_rows.push(rows);
            }
            let threads: Vec<usage::Thread<'_>> = graph.locations[first_location..]
                .iter()
                .zip(&all_classes[first_location..])
                .map(|(of, classes)| usage::Thread { marks: &of.marks, classes })
                .collect();
            let phases = tools.trace.phase_paths.len();
            usage.push(usage::of_process(&threads, &walked.operations.barriers, &walked.borders, phases));
        }
        let limits =
            messages::link(tools, processes, matches, purpose.rendezvous(), (&mut graph, &nodes), exchange)?;
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
            let of = processes.partition_point(|walked| walked.process.range().end <= location as usize);
            processes.get(of).map_or(u32::MAX, |walked| walked.operations.barriers[visit as usize].region)
        };
        let function_of = |location: u32, marks: &Marks, completion: &Completion| match marks
            .event_of_threads(completion.mark)
        {
            // Threads have events that are no functions: each kind stands for one that no trace has.
            Some(Noted::Team(kind, _)) => u32::MAX - 2 - kind as u32,
            Some(Noted::Acquire(_)) => u32::MAX - 1,
            Some(Noted::LeaveBarrier(visit)) => barriers(location, visit),
            _ => {
                regions[(location - first) as usize].get(completion.row.index()).copied().unwrap_or(u32::MAX)
            }
        };
        let lines = explain(tools, &mut graph, &function_of, &nodes, exchange)?;
        // Where there are messages between nodes, these decide.
        let class = usize::from(lines[1].are_known());
        let [eager, rendezvous] =
            [DependencyKind::Eager, DependencyKind::Rendezvous].map(|kind| lines[class].of(kind));
        let network = Network { eager, rendezvous, limit: limits[class] };
        let known = KnownNetwork::new(&graph, &nodes, &lines, exchange)?;
        let masters = match purpose.has_masters() {
            true => workers::find(tools, processes, matches, &graph, &network, exchange)?,
            false => Vec::new(),
        };
        let mut graph = TimedGraph {
            graph,
            classes: all_classes,
            rows: all_rows,
            nodes,
            lines,
            known,
            network,
            masters,
            usage,
        };
        graph.keep();
        graph.graph.locations.iter_mut().for_each(|of| of.marks.forget(purpose.needs_causes()));
        Ok(graph)
    }

    /// Calls on windows that wait for nobody take as long as they did.
    fn keep(&mut self) {
        for (at, of) in self.graph.locations.iter_mut().enumerate() {
            for number in 0..of.marks.completions.len() {
                let row = of.marks.completions.get(number).row;
                let class = self.classes[at].get(row.index());
                if class == Some(&RowClass::Kept) && of.dependencies_of(number).is_empty() {
                    of.marks.completions.change(number, |it| it.is_kept = true);
                }
            }
        }
    }

    /// Replays scenarios; `stretches` are those that root causes have compared, if they were searched.
    ///
    /// # Errors
    /// If a worker failed, or a scenario names what is nowhere.
    pub fn predict(
        &self,
        tools: &Tools<'_>,
        processes: &[WalkedProcess],
        (what_if, stretches): (&WhatIf, &[ComparedWork]),
        findings: &mut Findings,
        exchange: &mut dyn Exchange,
    ) -> Result<Predictions, Error> {
        phases::check(tools, &self.usage, exchange)?;
        let paths = Paths::new(tools, processes, self, stretches);
        let begin = self.begin(exchange)?;
        let run = self.measured_end(exchange)? - begin;
        let standard = match what_if {
            WhatIf::Standard => standard::scenarios(&paths, exchange)?,
            WhatIf::Scenarios(_) => Vec::new(),
        };
        let scenarios = if let WhatIf::Scenarios(scenarios) = what_if { scenarios } else { &standard };
        // Efficiencies need the run on an ideal network in any case, and trust the one with fitted times.
        let mut all = scenarios.to_vec();
        let mut also = |change: Change| {
            let is_it = |scenario: &Scenario| scenario.changes == [change.clone()];
            all.iter().position(is_it).unwrap_or_else(|| {
                all.push(Scenario::of(change.to_string(), change.clone()));
                all.len() - 1
            })
        };
        let (ideal, fitted) = (also(Change::Ideal), also(Change::Fitted));
        let mut list = self.run_times(tools, (processes, &paths), &all, begin, findings, exchange)?;
        let (ideal, fitted) = (list[ideal].ticks, list[fitted].ticks);
        list.truncate(scenarios.len());
        let mut latency = None;
        if *what_if == WhatIf::Standard {
            if let Some(together) = standard::together(&list, run) {
                list.extend(self.run_times(
                    tools,
                    (processes, &paths),
                    &[together],
                    begin,
                    findings,
                    exchange,
                )?);
            }
            standard::sort(&mut list, run);
            latency = Some(self.latency(tools, (begin, run), exchange)?);
        }
        let (work, most, ranks) = paths.useful(exchange)?;
        let efficiency = Some(Efficiency { work, most, ranks, run, ideal });
        let OfThreads { levels, phases } = phases::measure(tools, self, processes, (run, ideal), exchange)?;
        let [mpi, unexplained, kept] = self.trust(exchange)?;
        let levers = match what_if {
            WhatIf::Standard => levers(&list, run, mpi, (&paths, &self.network), exchange)?,
            WhatIf::Scenarios(_) => Vec::new(),
        };
        Ok(Predictions {
            is_standard: *what_if == WhatIf::Standard,
            run,
            mpi,
            unexplained,
            kept,
            fitted,
            efficiency,
            choices: self.choices(exchange)?,
            latency,
            levels,
            phases,
            list,
            levers,
            masters: if *what_if == WhatIf::Standard { self.masters.clone() } else { Vec::new() },
        })
    }

    /// The run times of scenarios.
    pub(super) fn run_times(
        &self,
        tools: &Tools<'_>,
        (processes, paths): (&[WalkedProcess], &Paths<'_>),
        scenarios: &[Scenario],
        begin: Ticks,
        findings: &mut Findings,
        exchange: &mut dyn Exchange,
    ) -> Result<Vec<Prediction>, Error> {
        let mut found: Vec<Option<Prediction>> = vec![None; scenarios.len()];
        // Whether sends wait for their receives decides who waits for whom, as the order of events does: both are the same in all lanes
        // of a pass.
        let kind = |at: usize| (scenarios[at].rendezvous(), scenarios[at].reordering());
        let void = paths.void(scenarios, exchange)?;
        let mut order: Vec<usize> = (0..scenarios.len()).collect();
        order.sort_by_key(|&at| kind(at));
        for alike in order.chunk_by(|&one, &other| kind(one) == kind(other)) {
            let reordered = self.reordered(tools, paths, &scenarios[alike[0]], exchange)?;
            let timed = reordered.as_ref().unwrap_or(self);
            let own = reordered.as_ref().map(|timed| Paths::new(tools, processes, timed, paths.stretches));
            let paths = own.as_ref().unwrap_or(paths);
            for now in alike.chunks(LANES) {
                let mut prepared = Vec::with_capacity(now.len());
                for &at in now {
                    prepared.push(paths.prepare(&scenarios[at], exchange)?);
                }
                let Pass { lanes, deadlocks } = timed.replay_all(tools, &prepared, findings, exchange)?;
                for (&at, PassLane { end, moved, otherwise }) in now.iter().zip(lanes) {
                    let (scenario, ticks) = (scenarios[at].clone(), end - begin);
                    let is_unknown = !self.known.tells(&scenario);
                    let is_void = void[at];
                    found[at] = Some(Prediction {
                        scenario,
                        ticks,
                        moved,
                        otherwise,
                        deadlocks,
                        is_unknown,
                        is_void,
                    });
                }
            }
        }
        Ok(found.into_iter().flatten().collect())
    }

    /// The graph with the order of events of a scenario; `None` if that is the one of the run.
    fn reordered(
        &self,
        tools: &Tools<'_>,
        paths: &Paths<'_>,
        scenario: &Scenario,
        exchange: &mut dyn Exchange,
    ) -> Result<Option<TimedGraph>, Error> {
        let mut timed: Option<TimedGraph> = None;
        for change in &scenario.changes {
            let (Change::Arrival(path) | Change::Split(path, _)) = change else { continue };
            let rows: Vec<Vec<bool>> = (0..self.rows.len()).map(|at| paths.within(at, path)).collect();
            let TimedGraph { graph, nodes, lines, .. } = timed.get_or_insert_with(|| self.clone());
            match change {
                Change::Split(_, count) => {
                    parts::split(tools, (graph, nodes, lines), &rows, *count, exchange)?
                }
                _ => arrival::reorder(tools, graph, &rows, exchange)?,
            }
        }
        Ok(timed)
    }

    /// Replays up to [`LANES`] scenarios in one pass.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn replay_all(
        &self,
        tools: &Tools<'_>,
        scenarios: &[(Lane, Vec<RowChanges>)],
        findings: &mut Findings,
        exchange: &mut dyn Exchange,
    ) -> Result<Pass, Error> {
        let mut pass = match scenarios.len() {
            1 => self.replay::<1>(tools, scenarios, findings, exchange)?,
            2 => self.replay::<2>(tools, scenarios, findings, exchange)?,
            3 | 4 => self.replay::<4>(tools, scenarios, findings, exchange)?,
            _ => self.replay::<LANES>(tools, scenarios, findings, exchange)?,
        };
        pass.lanes.truncate(scenarios.len());
        Ok(pass)
    }

    /// Replays some scenarios in one pass.
    fn replay<const K: usize>(
        &self,
        tools: &Tools<'_>,
        scenarios: &[(Lane, Vec<RowChanges>)],
        findings: &mut Findings,
        exchange: &mut dyn Exchange,
    ) -> Result<Pass, Error> {
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
        let mut forward = Forward::new(tools, self, &lanes, me, findings);
        relay::run(&mut forward, exchange);
        let (finalized, last) = forward.ends();
        let mut words = vec![u64::from(finalized.is_some()), u64::from(forward.has_deadlock())];
        words.extend(finalized.unwrap_or(last).map(Ticks::cast_unsigned));
        words.extend(forward.moved());
        words.extend(forward.otherwise());
        let told = share(exchange, words)?;
        let has_finalize = told.iter().any(|words| words[0] == 1);
        let counts = |words: &&Vec<u64>| !has_finalize || words[0] == 1;
        let end = |lane: usize| {
            let ends = told.iter().filter(counts).map(|words| words[2 + lane].cast_signed());
            ends.filter(|&end| end != Ticks::MIN).max()
        };
        let sum = |at: usize| told.iter().map(|words| words[at]).sum();
        let lane = |lane: usize| PassLane {
            end: end(lane).unwrap_or(0),
            moved: sum(2 + K + lane),
            otherwise: sum(2 + 2 * K + lane),
        };
        let deadlocks = told.iter().any(|words| words[1] == 1);
        Ok(Pass { lanes: (0..K).map(lane).collect(), deadlocks })
    }

    /// The number of locations of the worker.
    pub(super) fn locations(&self) -> usize {
        self.rows.len()
    }

    /// How many receives between `MPI_Init` and `MPI_Finalize` may have been free to choose their messages.
    fn choices(&self, exchange: &mut dyn Exchange) -> Result<u64, Error> {
        let own: u64 = self.graph.locations.iter().map(|of| of.choices.len() as u64).sum();
        Ok(share(exchange, vec![own])?.iter().map(|words| words[0]).sum())
    }

    /// The first end of `MPI_Init`, or the first record where there is none.
    pub(super) fn begin(&self, exchange: &mut dyn Exchange) -> Result<Ticks, Error> {
        let marks = || self.graph.locations.iter().map(|of| &of.marks);
        let begins = marks().filter_map(|marks| Some(marks.list[marks.begin? as usize].time)).min();
        let first = marks().filter_map(|marks| Some(marks.list.first()?.time)).min();
        first_of(begins, first, Ticks::MAX, |told| told.min(), exchange)
    }

    /// The last begin of `MPI_Finalize`, or the last record where there is none.
    pub(super) fn measured_end(&self, exchange: &mut dyn Exchange) -> Result<Ticks, Error> {
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
                match of.marks.list[mark].kind() {
                    Kind::Completion(number) => {
                        let completion = of.marks.completions.get(number);
                        if completion.row != Row::NONE {
                            let ticks = of.marks.list[mark].time - of.marks.enter(&completion);
                            sums[0] += ticks;
                            sums[1] += completion.rest;
                            sums[2] += if completion.is_kept { ticks } else { 0 };
                        }
                    }
                    _ => {
                        for piece in of.marks.pieces_of(mark) {
                            let class = self.classes[at].get(piece.row.index());
                            if matches!(class, Some(RowClass::Mpi | RowClass::Kept)) {
                                sums[0] += piece.ticks;
                            }
                            if class == Some(&RowClass::Kept) {
                                sums[2] += piece.ticks;
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
fn from_begin(mut notes: Vec<Note>, begin: Option<Ticks>) -> Vec<Note> {
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
