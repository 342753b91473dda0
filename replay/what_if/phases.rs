//! Efficiencies of all threads, in the run and in phases: visits of a call path, of which the k-th ones of all ranks are a window
//! (what-if 5.2).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use model::Ticks;

use super::efficiency::Efficiency;
use super::forward::{Forward, Lanes};
use super::graph::Graph;
use super::lanes::{Lane, RowChanges};
use super::levels::{Levels, SameThreads};
use super::predict::TimedGraph;
use super::usage::{Edge, ProcessUsage, Usage};
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange, broadcast, reduce, share};
use crate::findings::Findings;
use crate::int::to_u32;
use crate::relay;
use crate::tools::Tools;
use crate::walk::WalkedProcess;
use crate::wire::{self, Wire, wire};

/// Efficiencies of the visits of a call path.
#[derive(Clone, PartialEq, Debug)]
pub struct Phase {
    /// Names of the call path in a row, with slashes between them.
    pub path: String,
    /// The fewest and the most visits of a rank, and the first ranks with so many.
    pub visits: [RankVisits; 2],
    /// What is known if all ranks have equally many visits.
    pub windows: Option<PhaseWindows>,
}

/// How often a rank comes to a phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RankVisits {
    /// The number of its outermost visits between `MPI_Init` and `MPI_Finalize`.
    pub count: u64,
    /// The rank.
    pub rank: u32,
}

/// The windows of a phase.
#[derive(Clone, PartialEq, Debug)]
pub struct PhaseWindows {
    /// Efficiencies of main threads; times are those of all windows together.
    pub efficiency: Efficiency,
    /// Of all threads, with the same times.
    pub levels: Levels,
    /// The part of the windows that lies in the window before, in ticks: ranks leave a visit after others have begun the next one.
    pub overlap: Ticks,
    /// Whether visits begin or end in parallel regions: what other threads than the main one did in them is not known.
    pub is_split: bool,
}

/// What is known of all threads.
pub(super) struct OfThreads {
    pub levels: Levels,
    pub phases: Vec<Phase>,
}

/// The rank of a process and its sums, as far as it counts.
struct Ranks<'a> {
    counted: Vec<(usize, u32, &'a ProcessUsage)>,
}

/// Checks that somebody comes to each phase.
///
/// # Errors
/// If nobody does, or a worker failed.
pub(super) fn check(
    tools: &Tools<'_>,
    usage: &[ProcessUsage],
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    let paths = &tools.trace.phase_paths;
    if paths.is_empty() {
        return Ok(());
    }
    let comes = |phase: usize| u64::from(usage.iter().any(|process| !process.visits[phase].is_empty()));
    let told = share(exchange, (0..paths.len()).map(comes).collect())?;
    match (0..paths.len()).find(|&phase| told.iter().all(|words| words[phase] == 0)) {
        None => Ok(()),
        Some(phase) => Err(Error::new(format!(
            "--phase: between MPI_Init and MPI_Finalize no main thread comes to a call path whose last names are {:?}; \
             replay-show tree prints all",
            paths[phase]
        ))),
    }
}

/// Efficiencies of all threads, in a run of so many ticks that takes so many on an ideal network, and in phases.
///
/// # Errors
/// If a worker failed.
pub(super) fn measure(
    tools: &Tools<'_>,
    timed: &TimedGraph,
    processes: &[WalkedProcess],
    (run, ideal): (Ticks, Ticks),
    exchange: &mut dyn Exchange,
) -> Result<OfThreads, Error> {
    let TimedGraph { graph, usage, .. } = timed;
    let ranks = Ranks::new(tools, (graph, processes), usage, exchange)?;
    let levels = ranks.levels(0, (run, ideal), exchange)?.1;
    let paths = &tools.trace.phase_paths;
    if paths.is_empty() {
        return Ok(OfThreads { levels, phases: Vec::new() });
    }
    // Where edges of visits are: at the first location of each process.
    let mut watched = vec![Vec::new(); graph.locations.len()];
    let first_of = |at: usize| processes[at].range().start - graph.first as usize;
    for (at, _, process) in &ranks.counted {
        let marks = &mut watched[first_of(*at)];
        for edge in process.visits.iter().flatten().flatten() {
            marks.push(edge.mark);
            marks.extend(edge.is_cut.then_some(edge.mark + 1));
        }
        marks.sort_unstable();
        marks.dedup();
    }
    let times = replay_ideal(tools, timed, &watched, exchange);
    let replayed = |at: usize, edge: &Edge| {
        let at = first_of(at);
        let time_of =
            |mark: u32| watched[at].binary_search(&mark).ok().and_then(|of| times[at].get(of).copied());
        let time = time_of(edge.mark).unwrap_or(edge.time).saturating_add(edge.since);
        let most = if edge.is_cut { time_of(edge.mark + 1) } else { None };
        most.map_or(time, |most| time.min(most))
    };
    let mut phases = Vec::with_capacity(paths.len());
    for (phase, path) in paths.iter().enumerate() {
        let visits = ranks.visits(phase, exchange)?;
        let mut found = Phase { path: path.clone(), visits, windows: None };
        if visits[0].count == visits[1].count {
            let [run, ideal, overlap] = ranks.windows(phase, visits[0].count, &replayed, exchange)?;
            let (efficiency, levels) = ranks.levels(phase + 1, (run, ideal), exchange)?;
            let is_split = u64::from(ranks.counted.iter().any(|(_, _, process)| process.is_split[phase]));
            let is_split = share(exchange, vec![is_split])?.iter().any(|words| words[0] == 1);
            found.windows = Some(PhaseWindows { efficiency, levels, overlap, is_split });
        }
        phases.push(found);
    }
    Ok(OfThreads { levels, phases })
}

/// Replays the run on an ideal network; returns the times of some marks of each location.
fn replay_ideal(
    tools: &Tools<'_>,
    timed: &TimedGraph,
    marks: &[Vec<u32>],
    exchange: &mut dyn Exchange,
) -> Vec<Vec<Ticks>> {
    let lane = Lane { is_ideal: true, ..Lane::default() };
    let changes = vec![[RowChanges::default()]; marks.len()];
    let lanes = Lanes::<1> { lanes: [lane], changes };
    let me = exchange.worker();
    // What is odd was said when the run was replayed for its time.
    let mut unreported = Findings::default();
    let mut forward = Forward::new(tools, timed, &lanes, me, &mut unreported);
    forward.watch(marks);
    relay::run(&mut forward, exchange);
    let [times, _] = forward.seen();
    times.into_iter().map(|of| of.into_iter().map(|[time]| time).collect()).collect()
}

impl<'a> Ranks<'a> {
    /// The ranks with `MPI_Init`, or all where none has it.
    fn new(
        tools: &Tools<'_>,
        (graph, processes): (&Graph, &[WalkedProcess]),
        usage: &'a [ProcessUsage],
        exchange: &mut dyn Exchange,
    ) -> Result<Ranks<'a>, Error> {
        let begins = |process: &WalkedProcess| {
            let at = process.range().start - graph.first as usize;
            graph.locations.get(at).is_some_and(|of| of.marks.begin.is_some())
        };
        let has_begun = u64::from(processes.iter().any(begins));
        let has_begun = share(exchange, vec![has_begun])?.iter().any(|words| words[0] == 1);
        let all = processes.iter().zip(usage).enumerate();
        let counted = all.filter(|(_, (process, _))| !has_begun || begins(process));
        let rank = |process: &WalkedProcess| {
            tools.trace.processes[process.number].rank.unwrap_or(to_u32(process.number))
        };
        let counted = counted.map(|(at, (process, usage))| (at, rank(process), usage)).collect();
        Ok(Ranks { counted })
    }

    /// The fewest and the most visits of a rank.
    fn visits(&self, phase: usize, exchange: &mut dyn Exchange) -> Result<[RankVisits; 2], Error> {
        // Of equals the first rank.
        fn extremes(of: &[(u64, u32)]) -> [Option<(u64, u32)>; 2] {
            [of.iter().min(), of.iter().max_by_key(|&&(count, rank)| (count, Reverse(rank)))]
                .map(Option::<&_>::copied)
        }
        let own: Vec<(u64, u32)> =
            self.counted.iter().map(|(_, rank, usage)| (usage.visits[phase].len() as u64, *rank)).collect();
        let mut words = Batch::new();
        extremes(&own).into_iter().flatten().for_each(|it| it.put(&mut words));
        let mut all: Vec<(u64, u32)> = Vec::new();
        for batch in share(exchange, words)? {
            let mut reader = BatchReader::new(&batch);
            while !reader.is_empty() {
                all.push(Wire::get(&mut reader));
            }
        }
        let visits = extremes(&all).map(Option::unwrap_or_default);
        Ok(visits.map(|(count, rank)| RankVisits { count, rank }))
    }

    /// The sums of all windows of a phase: as measured, on an ideal network, and what of the measured ones lies in the one before.
    fn windows(
        &self,
        phase: usize,
        count: u64,
        replayed: &dyn Fn(usize, &Edge) -> Ticks,
        exchange: &mut dyn Exchange,
    ) -> Result<[Ticks; 3], Error> {
        /// Begin and end, as measured and replayed.
        type Window = [Ticks; 4];
        fn join(of: &mut Window, other: Window) {
            *of = [of[0].min(other[0]), of[1].max(other[1]), of[2].min(other[2]), of[3].max(other[3])];
        }
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let nothing: Window = [Ticks::MAX, Ticks::MIN, Ticks::MAX, Ticks::MIN];
        let mut windows = vec![nothing; count];
        for (at, _, process) in &self.counted {
            for (window, [begin, end]) in windows.iter_mut().zip(&process.visits[phase]) {
                join(window, [begin.time, end.time, replayed(*at, begin), replayed(*at, end)]);
            }
        }
        let encode =
            |windows: &Vec<Window>| windows.iter().flatten().map(|time| time.cast_unsigned()).collect();
        let combine = |windows: &mut Vec<Window>, words: &[u64]| {
            for (window, words) in windows.iter_mut().zip(words.chunks_exact(4)) {
                join(window, std::array::from_fn(|at| words[at].cast_signed()));
            }
        };
        let windows = reduce(exchange, windows, encode, combine)?;
        let (mut sums, mut end) = ([0; 3], Ticks::MIN);
        if exchange.worker() == 0 {
            for window in windows {
                sums[0] = Ticks::saturating_add(sums[0], window[1].saturating_sub(window[0]));
                sums[1] = Ticks::saturating_add(sums[1], window[3].saturating_sub(window[2]));
                // Windows begin and end in the order of their numbers.
                sums[2] += end.min(window[1]).saturating_sub(window[0]).max(0);
                end = end.max(window[1]);
            }
        }
        let words = broadcast(exchange, sums.map(Ticks::cast_unsigned).to_vec())?;
        Ok(std::array::from_fn(|at| words[at].cast_signed()))
    }

    /// Efficiencies in a scope: the run, or a phase behind it.
    fn levels(
        &self,
        scope: usize,
        (run, ideal): (Ticks, Ticks),
        exchange: &mut dyn Exchange,
    ) -> Result<(Efficiency, Levels), Error> {
        let mut own = Sums::default();
        for (_, _, process) in &self.counted {
            own.add(process.threads, &process.scopes[scope]);
        }
        let mut words = Batch::new();
        own.put(&mut words);
        let mut all = Sums::default();
        for batch in share(exchange, words)? {
            all.join(wire::one(&batch));
        }
        let Sums { ranks, work, most_work, parallel, most, by_threads } = all;
        let efficiency = Efficiency {
            work: Ticks::try_from(work).unwrap_or(Ticks::MAX),
            most: most_work,
            ranks,
            run,
            ideal,
        };
        let by_threads = by_threads.into_values().collect();
        Ok((efficiency, Levels { ranks, run, ideal: ideal.max(most), parallel, most, by_threads }))
    }
}

/// Sums over ranks.
#[derive(Clone, Default)]
struct Sums {
    ranks: u64,
    work: i128,
    most_work: Ticks,
    parallel: i128,
    most: Ticks,
    by_threads: BTreeMap<u32, SameThreads>,
}

impl Sums {
    fn add(&mut self, threads: u32, usage: &Usage) {
        self.ranks += 1;
        self.work += i128::from(usage.work);
        self.most_work = self.most_work.max(usage.work);
        self.parallel += i128::from(usage.parallel);
        self.most = self.most.max(usage.parallel.saturating_add(usage.serial));
        let same =
            self.by_threads.entry(threads).or_insert(SameThreads { threads, ..SameThreads::default() });
        same.ranks += 1;
        same.worked += i128::from(usage.worked);
        same.waited += i128::from(usage.waited);
        same.serial += i128::from(usage.serial);
    }

    fn join(&mut self, other: Sums) {
        self.ranks += other.ranks;
        self.work += other.work;
        self.most_work = self.most_work.max(other.most_work);
        self.parallel += other.parallel;
        self.most = self.most.max(other.most);
        for (threads, of) in other.by_threads {
            let same =
                self.by_threads.entry(threads).or_insert(SameThreads { threads, ..SameThreads::default() });
            same.ranks += of.ranks;
            same.worked += of.worked;
            same.waited += of.waited;
            same.serial += of.serial;
        }
    }
}

wire!(SameThreads { threads, ranks, worked, waited, serial });

impl Wire for Sums {
    fn put(&self, batch: &mut Batch) {
        (self.ranks, self.most_work).put(batch);
        (self.work, self.parallel).put(batch);
        self.most.put(batch);
        self.by_threads.values().for_each(|of| of.put(batch));
    }

    fn get(reader: &mut BatchReader<'_>) -> Sums {
        let (ranks, most_work) = Wire::get(reader);
        let (work, parallel) = Wire::get(reader);
        let mut sums = Sums { ranks, work, most_work, parallel, most: Wire::get(reader), ..Sums::default() };
        while !reader.is_empty() {
            let of: SameThreads = Wire::get(reader);
            sums.by_threads.insert(of.threads, of);
        }
        sums
    }
}
