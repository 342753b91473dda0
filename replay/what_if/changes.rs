//! Changes at call paths: which rows of which locations a scenario concerns, and by which factors (what-if 3.2).

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use model::{LocationType, Ticks};

use super::classes::RowClass;
use super::explain::LinesOfPairs;
use super::graph::Graph;
use super::lanes::{Lane, RowChanges};
use super::lines::ONE;
use super::nodes::Nodes;
use super::predict::TimedGraph;
use super::scenario::{Change, Place, Scenario};
use crate::causes::ComparedWork;
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::batch::put_text;
use crate::exchange::{Batch, Exchange, share};
use crate::ids::{PathId, Row};
use crate::int::to_u32;
use crate::tools::Tools;
use crate::walk::WalkedProcess;
use crate::wire::Wire;

/// What stands behind the names of a call path that is meant alone, without what is called there.
pub const ITSELF: &str = "/.";

/// Call paths of the processes of a worker in words, and the rows of its locations.
#[derive(Debug)]
pub(super) struct Paths<'a> {
    tools: &'a Tools<'a>,
    pub(super) graph: &'a Graph,
    pub(super) classes: &'a [Vec<RowClass>],
    /// By location: the call path of each row.
    rows: &'a [Vec<PathId>],
    /// By process: the names of each call path with slashes between them, before and behind.
    names: Vec<Vec<String>>,
    /// By location: the position of its process.
    process_of: Vec<usize>,
    /// The lines of messages.
    lines: &'a LinesOfPairs,
    /// What root causes have compared.
    pub(super) stretches: &'a [ComparedWork],
}

/// Work of a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Work {
    ticks: Ticks,
    /// Whether it comes there.
    comes: bool,
}

/// How work in a call path is spread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Shares {
    /// The most of a location, of those at the place.
    pub(super) most: Ticks,
    /// The mean of all locations, and of those that come there.
    pub(super) mean_of_all: Ticks,
    pub(super) mean_of_some: Ticks,
}

/// Work of a location in a call path above the mean of all locations.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Excess {
    ticks: Reverse<Ticks>,
    /// The names of the call path with slashes between them.
    pub(super) path: String,
    /// The rank and the thread.
    pub(super) rank: (u32, u32),
}

impl<'a> Paths<'a> {
    pub(super) fn new(
        tools: &'a Tools<'a>,
        processes: &[WalkedProcess],
        timed: &'a TimedGraph,
        stretches: &'a [ComparedWork],
    ) -> Paths<'a> {
        let of = |process: &WalkedProcess| {
            let mut names: Vec<String> = Vec::with_capacity(process.paths.len());
            for path in &process.paths {
                let above = match path.parent {
                    PathId::NONE => "/",
                    parent => &names[parent.index()],
                };
                names.push(format!("{above}{}/", tools.trace.region_name(path.region)));
            }
            names
        };
        let process_of = processes
            .iter()
            .enumerate()
            .flat_map(|(at, process)| process.locations.iter().map(move |_| at))
            .collect();
        let TimedGraph { graph, classes, rows, lines, .. } = timed;
        let names = processes.iter().map(of).collect();
        Paths { tools, graph, classes, rows, names, process_of, lines, stretches }
    }

    /// By row of a location: whether its call path has these names in a row, or ends with them if `/.` is behind.
    pub(super) fn within(&self, at: usize, part: &str) -> Vec<bool> {
        let alone = part.strip_suffix(ITSELF);
        let part = format!("/{}/", alone.unwrap_or(part).trim_matches('/'));
        let names = &self.names[self.process_of[at]];
        let is_within = |path: &PathId| match &names[path.index()] {
            _ if part == "//" => true,
            names if alone.is_some() => names.ends_with(&part),
            names => names.contains(&part),
        };
        self.rows[at].iter().map(is_within).collect()
    }

    /// The work of a location between `MPI_Init` and `MPI_Finalize` in some rows.
    fn work(&self, at: usize, within: &[bool], has_outside: bool) -> Work {
        let marks = &self.graph.locations[at].marks;
        let mut work = Work { ticks: 0, comes: false };
        for mark in marks.inside() {
            for piece in marks.pieces_of(mark) {
                let counts = match piece.row {
                    Row::NONE => has_outside,
                    row => within[row.index()] && self.classes[at][row.index()].is_work(),
                };
                if counts {
                    work = Work { ticks: work.ticks + piece.ticks, comes: true };
                }
            }
        }
        work
    }

    /// The rank and the thread of a location.
    pub(super) fn rank(&self, at: usize) -> (Option<u32>, usize) {
        let location = &self.tools.trace.locations[self.graph.first as usize + at];
        let process = &self.tools.trace.processes[location.process];
        (process.rank, self.graph.first as usize + at - process.locations.start)
    }

    pub(super) fn is_at(&self, at: usize, place: Option<(u32, u32)>) -> bool {
        place.is_none_or(|(rank, thread)| self.rank(at) == (Some(rank), thread as usize))
    }

    /// What a scenario changes everywhere, and at each location.
    ///
    /// # Errors
    /// If a worker failed, or a call path or rank of the scenario is nowhere.
    pub(super) fn prepare(
        &self,
        scenario: &Scenario,
        exchange: &mut dyn Exchange,
    ) -> Result<(Lane, Vec<RowChanges>), Error> {
        let mut lane = Lane::default();
        let mut changes = vec![RowChanges::default(); self.rows.len()];
        for change in &scenario.changes {
            match change {
                Change::Same => {}
                Change::Fitted => lane.is_fitted = true,
                Change::Ideal => lane.is_ideal = true,
                Change::Latency(factor) => lane.latency = *factor,
                Change::Bandwidth(factor) => lane.bandwidth = *factor,
                Change::Add(microseconds) => {
                    let seconds = microseconds * 1e-6;
                    lane.add = ticks(seconds * self.tools.trace.definitions.clock.resolution as f64);
                }
                Change::Eager(limit) => lane.eager = Some(limit.unwrap_or(u64::MAX)),
                Change::Remove(path) => {
                    self.is_somewhere(path, None, exchange)?;
                    self.each(&mut changes, |at, of| also(&mut of.removed, self.within(at, path)));
                }
                Change::EarlySend(path) => {
                    self.is_somewhere(path, None, exchange)?;
                    self.each(&mut changes, |at, of| also(&mut of.early, self.within(at, path)));
                }
                Change::Cpu(factor, place) => {
                    self.is_somewhere(&place.path, place.rank, exchange)?;
                    let factor = ticks(ONE as f64 * factor);
                    self.each(&mut changes, |at, of| {
                        if self.is_at(at, place.rank) {
                            self.scale(at, &place.path, factor, of);
                        }
                    });
                }
                Change::Level(place) => self.level(place, &mut changes, exchange)?,
                Change::LevelAuto => {
                    if let Some(Excess { path, rank, .. }) = self.excesses(1, exchange)?.pop() {
                        self.level(&Place { path, rank: Some(rank) }, &mut changes, exchange)?;
                    }
                }
                Change::Rendezvous(bytes) => lane.rendezvous = Some(*bytes),
                Change::Overlap(path) => {
                    self.is_somewhere(path, None, exchange)?;
                    self.each(&mut changes, |at, of| also(&mut of.overlapped, self.within(at, path)));
                }
                Change::Quiet(path) => {
                    self.is_somewhere(path, None, exchange)?;
                    self.each(&mut changes, |at, of| of.shorter.push(self.quiet(at, path)));
                }
                Change::Without(place) => {
                    self.is_somewhere(&place.path, place.rank, exchange)?;
                    self.each(&mut changes, |at, of| {
                        if self.is_at(at, place.rank) {
                            of.shorter.push(self.without(at, &place.path));
                        }
                    });
                }
                Change::Posted(path) => {
                    self.is_somewhere(path, None, exchange)?;
                    self.each(&mut changes, |at, of| also(&mut of.posted, self.within(at, path)));
                }
                Change::Progress(path) => {
                    self.is_somewhere(path, None, exchange)?;
                    self.each(&mut changes, |at, of| also(&mut of.progress, self.within(at, path)));
                }
                // The order of events is that of the graph.
                Change::Arrival(path) | Change::Split(path, _) => self.is_somewhere(path, None, exchange)?,
                Change::Spread(path) => {
                    self.is_somewhere(path, None, exchange)?;
                    self.spread(path, &mut changes, exchange)?;
                }
                Change::Mapping(file) => {
                    let nodes = Arc::new(self.nodes_of(file, exchange)?);
                    self.each(&mut changes, |_, of| of.nodes = Some(Arc::clone(&nodes)));
                }
                Change::Balance(path) => {
                    self.is_somewhere(path, None, exchange)?;
                    let own = self.of_all(path);
                    let (sum, count) = self.sum(&own, exchange)?;
                    let mean = Ticks::try_from(sum / i128::from(count.max(1))).unwrap_or(Ticks::MAX);
                    self.each(&mut changes, |at, of| {
                        if own[at].ticks > 0 {
                            self.scale(at, path, share_of(mean, own[at].ticks), of);
                        }
                    });
                }
            }
        }
        Ok((lane, changes))
    }

    /// The nodes that a file names.
    ///
    /// # Errors
    /// If it cannot be read, has no line for a rank, or there is no message to know the new ways of messages from; or if a worker failed.
    fn nodes_of(&self, file: &str, exchange: &mut dyn Exchange) -> Result<Nodes, Error> {
        // One worker reads, for all.
        let mut words = Batch::new();
        if exchange.worker() == 0 {
            match std::fs::read_to_string(file) {
                Ok(text) => (put_text(&mut words, &text), put_text(&mut words, "")),
                Err(error) => (put_text(&mut words, ""), put_text(&mut words, &error.to_string())),
            };
        }
        let told = share(exchange, words)?;
        let mut reader = BatchReader::new(&told[0]);
        let (text, error) = (reader.text(), reader.text());
        let wrong = |what: String| Error::new(format!("--what-if=mapping={file}: {what}"));
        if !error.is_empty() {
            return Err(wrong(error));
        }
        if self.lines.iter().any(|lines| !lines.are_known()) {
            return Err(wrong(
                "the trace needs messages on one node and between nodes, to know how long both take; it has them of one \
                 kind only"
                    .into(),
            ));
        }
        Nodes::of_lines(self.tools.trace, &text).map_err(wrong)
    }

    fn each(&self, changes: &mut [RowChanges], mut change: impl FnMut(usize, &mut RowChanges)) {
        changes.iter_mut().enumerate().for_each(|(at, of)| change(at, of));
    }

    /// Multiplies the work of a location in some rows by a factor.
    fn scale(&self, at: usize, path: &str, factor: i64, of: &mut RowChanges) {
        let within = self.within(at, path);
        of.factors.resize(within.len(), ONE);
        for (row, _) in within.iter().enumerate().filter(|(_, within)| **within) {
            of.factors[row] = times(of.factors[row], factor);
        }
        if path.is_empty() {
            of.outside = Some(times(of.outside.unwrap_or(ONE), factor));
        }
    }

    fn of_all(&self, path: &str) -> Vec<Work> {
        (0..self.rows.len()).map(|at| self.work(at, &self.within(at, path), path.is_empty())).collect()
    }

    /// The sum over all locations, and the number of those that come there.
    fn sum(&self, own: &[Work], exchange: &mut dyn Exchange) -> Result<(i128, u64), Error> {
        let ticks: Ticks = own.iter().map(|work| work.ticks).sum();
        let count = own.iter().filter(|work| work.comes).count() as u64;
        let told = share(exchange, vec![ticks.cast_unsigned(), count])?;
        Ok((
            told.iter().map(|words| i128::from(words[0].cast_signed())).sum(),
            told.iter().map(|words| words[1]).sum(),
        ))
    }

    /// The number of threads of the processor in the trace.
    fn threads(&self) -> i128 {
        let locations = &self.tools.trace.locations;
        locations.iter().filter(|location| location.kind == LocationType::CPU_THREAD).count() as i128
    }

    /// Work above the mean of all locations is gone.
    fn level(
        &self,
        place: &Place,
        changes: &mut [RowChanges],
        exchange: &mut dyn Exchange,
    ) -> Result<(), Error> {
        self.is_somewhere(&place.path, place.rank, exchange)?;
        let own = self.of_all(&place.path);
        let (sum, _) = self.sum(&own, exchange)?;
        let mean = Ticks::try_from(sum.div_euclid(self.threads().max(1))).unwrap_or(Ticks::MAX);
        self.each(changes, |at, of| {
            if own[at].ticks > 0 && self.is_at(at, place.rank) {
                self.scale(at, &place.path, share_of(mean, own[at].ticks).min(ONE), of);
            }
        });
        Ok(())
    }

    /// How work in a call path is spread; the most is that of the locations at the place.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn shares(&self, place: &Place, exchange: &mut dyn Exchange) -> Result<Shares, Error> {
        let own = self.of_all(&place.path);
        let (sum, count) = self.sum(&own, exchange)?;
        let here = own.iter().enumerate().filter(|(at, _)| self.is_at(*at, place.rank));
        let most = here.map(|(_, work)| work.ticks).max().unwrap_or(0);
        let told = share(exchange, vec![most.cast_unsigned()])?;
        let most = told.iter().map(|words| words[0].cast_signed()).max().unwrap_or(0);
        let mean = |count: i128| Ticks::try_from(sum.div_euclid(count.max(1))).unwrap_or(Ticks::MAX);
        Ok(Shares { most, mean_of_all: mean(self.threads()), mean_of_some: mean(count.into()) })
    }

    /// The time of all locations in operations of many at call paths with these names in a row.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn time_of_many(&self, path: &str, exchange: &mut dyn Exchange) -> Result<Ticks, Error> {
        let mut own: Ticks = 0;
        for (at, of) in self.graph.locations.iter().enumerate() {
            let within = self.within(at, path);
            let completions = of.marks.completions.iter().filter(|it| it.is_of_many && it.row != Row::NONE);
            for completion in completions.filter(|it| within[it.row.index()]) {
                own += of.marks.list[completion.mark as usize].time - of.marks.enter(&completion);
            }
        }
        let told = share(exchange, vec![own.cast_unsigned()])?;
        Ok(told.iter().map(|words| words[0].cast_signed()).sum())
    }

    /// The call paths and locations with most work of their own above the mean of all locations, the largest excess first; of
    /// equals the first by name, and by rank.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn excesses(&self, most: usize, exchange: &mut dyn Exchange) -> Result<Vec<Excess>, Error> {
        let mut sums = BTreeMap::<&str, Vec<(usize, Ticks)>>::new();
        for at in 0..self.rows.len() {
            for (name, ticks) in self.work_by_name(at) {
                sums.entry(name).or_default().push((at, ticks));
            }
        }
        let sum = |of: &Vec<(usize, Ticks)>| of.iter().map(|&(_, ticks)| ticks).sum::<Ticks>();
        let own = sums.iter().map(|(name, of)| (*name, sum(of)));
        let mut means = by_name(own, exchange)?;
        means.values_mut().for_each(|sum| *sum = sum.div_euclid(self.threads().max(1)));
        let mut mine = Vec::new();
        for (&name, of) in &sums {
            for &(at, ticks) in of {
                let excess = Ticks::try_from(i128::from(ticks) - means[name]).unwrap_or(Ticks::MAX);
                if let (true, (Some(rank), thread)) = (excess > 0, self.rank(at)) {
                    let path = name.trim_matches('/').to_owned();
                    mine.push(Excess { ticks: Reverse(excess), path, rank: (rank, to_u32(thread)) });
                }
            }
        }
        mine.sort();
        mine.truncate(most);
        let mut words = Batch::new();
        for Excess { ticks, path, rank } in &mine {
            (ticks.0, *rank).put(&mut words);
            put_text(&mut words, path);
        }
        let mut all = Vec::new();
        for batch in share(exchange, words)? {
            let mut reader = BatchReader::new(&batch);
            while !reader.is_empty() {
                let (ticks, rank) = Wire::get(&mut reader);
                all.push(Excess { ticks: Reverse(ticks), path: reader.text(), rank });
            }
        }
        all.sort();
        all.truncate(most);
        Ok(all)
    }

    /// The work of a location by the call path that it was done in itself.
    fn work_by_name(&self, at: usize) -> BTreeMap<&str, Ticks> {
        let marks = &self.graph.locations[at].marks;
        let names = &self.names[self.process_of[at]];
        let mut by_row = vec![0; self.rows[at].len()];
        for mark in marks.inside() {
            for piece in marks.pieces_of(mark).filter(|piece| piece.row != Row::NONE) {
                if self.classes[at][piece.row.index()].is_work() {
                    by_row[piece.row.index()] += piece.ticks;
                }
            }
        }
        let mut by_name = BTreeMap::<&str, Ticks>::new();
        for (row, ticks) in by_row.into_iter().enumerate().filter(|&(_, ticks)| ticks != 0) {
            *by_name.entry(&names[self.rows[at][row].index()]).or_default() += ticks;
        }
        by_name
    }

    /// The call paths of `MPI_Barrier` with most time, the longest first.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn barriers(&self, most: usize, exchange: &mut dyn Exchange) -> Result<Vec<String>, Error> {
        let mut own = BTreeMap::<&str, Ticks>::new();
        for (at, of) in self.graph.locations.iter().enumerate() {
            for completion in of.marks.completions.iter().filter(|it| it.is_of_many && it.row != Row::NONE) {
                let name = &self.names[self.process_of[at]][self.rows[at][completion.row.index()].index()];
                if name.ends_with("/MPI_Barrier/") {
                    let ticks = of.marks.list[completion.mark as usize].time - of.marks.enter(&completion);
                    *own.entry(name).or_default() += ticks;
                }
            }
        }
        let mut all: Vec<(Reverse<i128>, String)> =
            by_name(own.into_iter(), exchange)?.into_iter().map(|(name, sum)| (Reverse(sum), name)).collect();
        all.sort();
        all.truncate(most);
        Ok(all.into_iter().map(|(_, name)| name.trim_matches('/').to_owned()).collect())
    }

    /// The work of all main threads with `MPI_Init`, or of all threads where none has it: sum, most, number of threads.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn useful(&self, exchange: &mut dyn Exchange) -> Result<(Ticks, Ticks, u64), Error> {
        let work = |at: usize| {
            let has_begin = self.graph.locations[at].marks.begin.is_some();
            let is_main = self.rank(at).1 == 0;
            (has_begin, is_main, self.work(at, &vec![true; self.rows[at].len()], true).ticks)
        };
        let all: Vec<(bool, bool, Ticks)> = (0..self.rows.len()).map(work).collect();
        let summary = |counts: &dyn Fn(&(bool, bool, Ticks)) -> bool| {
            let counted = || all.iter().filter(|it| counts(it)).map(|it| it.2);
            [
                counted().sum::<Ticks>().cast_unsigned(),
                counted().max().unwrap_or(0).cast_unsigned(),
                counted().count() as u64,
            ]
        };
        let [begun, others] = [summary(&|it| it.0 && it.1), summary(&|it| it.1)];
        let told = share(exchange, [begun, others].concat())?;
        let from = if told.iter().any(|words| words[2] > 0) { 0 } else { 3 };
        let of = |at: usize| told.iter().map(move |words| words[from + at]);
        Ok((of(0).map(u64::cast_signed).sum(), of(1).map(u64::cast_signed).max().unwrap_or(0), of(2).sum()))
    }

    /// Checks that a call path is somewhere, and a location.
    ///
    /// # Errors
    /// If it is nowhere, or a worker failed.
    fn is_somewhere(
        &self,
        path: &str,
        rank: Option<(u32, u32)>,
        exchange: &mut dyn Exchange,
    ) -> Result<(), Error> {
        let is_here = (0..self.rows.len())
            .any(|at| self.is_at(at, rank) && (path.is_empty() || self.within(at, path).contains(&true)));
        let told = share(exchange, vec![u64::from(is_here)])?;
        if told.iter().any(|words| words[0] == 1) {
            return Ok(());
        }
        let at = rank.map_or(String::new(), |(rank, thread)| format!(" on rank {rank}, thread {thread}"));
        Err(Error::new(format!(
            "--what-if: no call path of the trace has the names {path:?} in a row{at}; replay-show tree prints all"
        )))
    }
}

/// Chooses more rows.
fn also(rows: &mut Vec<bool>, more: Vec<bool>) {
    rows.resize(more.len().max(rows.len()), false);
    rows.iter_mut().zip(more).for_each(|(row, more)| *row |= more);
}

/// The product of two factors that are multiplied with [`ONE`].
fn times(one: i64, other: i64) -> i64 {
    i64::try_from(i128::from(one) * i128::from(other) / i128::from(ONE)).unwrap_or(i64::MAX)
}

/// Sums over all workers by name.
fn by_name<'n>(
    own: impl Iterator<Item = (&'n str, Ticks)>,
    exchange: &mut dyn Exchange,
) -> Result<BTreeMap<String, i128>, Error> {
    let mut words = Batch::new();
    for (name, ticks) in own {
        put_text(&mut words, name);
        ticks.put(&mut words);
    }
    let mut sums = BTreeMap::<String, i128>::new();
    for batch in share(exchange, words)? {
        let mut reader = BatchReader::new(&batch);
        while !reader.is_empty() {
            let name = reader.text();
            *sums.entry(name).or_default() += i128::from(Ticks::get(&mut reader));
        }
    }
    Ok(sums)
}

/// A share of ticks as a factor.
fn share_of(mean: Ticks, own: Ticks) -> i64 {
    let factor = i128::from(ONE) * i128::from(mean) / i128::from(own);
    i64::try_from(factor).unwrap_or(i64::MAX)
}

/// Ticks of a number, without what is behind the point.
#[expect(clippy::cast_possible_truncation)]
fn ticks(number: f64) -> Ticks {
    number as Ticks
}
