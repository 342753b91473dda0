//! Phases that the program names: visits of a region are the iterations (structure 2.12).

use std::cmp::Reverse;

use model::{Region, Ticks};
use rustc_hash::FxHashMap;
use structure::Node;

use super::agree::{Agreed, LocationIterations, Numbering};
use super::groups::Groups;
use super::local::OwnIteration;
use super::{ITERATIONS, LoopChoice};
use crate::error::Error;
use crate::exchange::{Batch, Exchange, share};
use crate::focus::Window;
use crate::int::{to_u32, to_u64};
use crate::trace::Trace;
use crate::walk::{Steps, TimedStep, Visit, Walked, WalkedProcess};
use crate::wire::{self, Wire};

/// Bits of a region that the program names as a phase: OTF2's flags for dynamic regions and for phases.
const NAMED: u32 = 1 | 2;

/// Phases of which one may lie in another, at most: those with most time.
const COMPARED: usize = 64;

/// A phase whose visits are the iterations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Phase {
    /// Its region, and of several of one name the first.
    pub(super) region: u32,
    number: u16,
}

/// A phase that has what it needs.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    phase: Phase,
    /// Ticks of main threads in it.
    ticks: i128,
}

/// Whether the program names visits of a region as phases.
pub fn is_phase(region: &Region) -> bool {
    region.flags & NAMED != 0
}

/// Finds the phase that is asked for, or of those that the program names the one whose visits are the iterations.
///
/// # Errors
/// If no main thread visits the one that is asked for, or a worker failed.
pub(super) fn find(
    trace: &Trace,
    processes: &[Walked],
    choice: Option<&LoopChoice>,
    exchange: &mut dyn Exchange,
) -> Result<Option<Phase>, Error> {
    let Some(choice) = choice else { return named(trace, processes, exchange) };
    let Some(name) = choice.phase() else { return Ok(None) };
    if !trace.has_visits(name) {
        return Err(Error::new(format!(
            "--loop {choice}: the trace knows where the program is at calls of MPI and at samples only, so visits of {name} \
             cannot be numbered"
        )));
    }
    let phase = phases(trace, |region| crate::trace::is_named(region, name)).next();
    let is_visited = |walked: &Walked| phase.is_some_and(|phase| of_phase(walked, phase).next().is_some());
    let is_visited = processes.iter().any(is_visited);
    let all = share(exchange, vec![u64::from(is_visited)])?;
    match phase.filter(|_| all.iter().any(|batch| batch[..] == [1])) {
        Some(phase) => Ok(Some(phase)),
        None => Err(Error::new(format!(
            "--loop {choice}: no main thread enters a region named {name}{}",
            trace.some_regions()
        ))),
    }
}

/// Phases by their first regions, of which this holds.
fn phases(trace: &Trace, is_wanted: impl Fn(&Region) -> bool) -> impl Iterator<Item = Phase> {
    let regions = (0..).zip(trace.definitions.regions.iter().zip(&trace.kinds));
    let wanted = regions.filter(move |(_, (region, _))| is_wanted(region));
    wanted.filter_map(|(region, (_, kind))| Some(Phase { region, number: kind.phase? }))
}

/// The visits of a phase by the main thread of a process, in the order of time.
fn of_phase(walked: &Walked, phase: Phase) -> impl Iterator<Item = &Visit> {
    walked.visits.iter().filter(move |visit| visit.phase == phase.number)
}

/// Of the phases that the program names, visited often enough on every main thread and with half of the time, the outermost one, and
/// of several the longest.
fn named(trace: &Trace, processes: &[Walked], exchange: &mut dyn Exchange) -> Result<Option<Phase>, Error> {
    let is_known = |region: &Region| is_phase(region) && trace.has_visits(&region.name);
    let mut all: Vec<Phase> = phases(trace, is_known).collect();
    all.sort_by_key(|phase| (phase.number, phase.region));
    all.dedup_by_key(|phase| phase.number);
    if all.is_empty() {
        return Ok(None);
    }
    let mut candidates = candidates(trace, all, processes, exchange)?;
    candidates.sort_by_key(|candidate| (Reverse(candidate.ticks), candidate.phase.region));
    candidates.truncate(COMPARED);
    let pairs =
        || candidates.iter().flat_map(|one| candidates.iter().map(move |other| [one.phase, other.phase]));
    let is_inside = pairs().map(|[one, other]| processes.iter().all(|walked| lies_in(walked, one, other)));
    let told: Batch = is_inside.map(u64::from).collect();
    let told = share(exchange, told)?;
    let is_inside =
        |one: usize, other: usize| told.iter().all(|batch| batch[one * candidates.len() + other] == 1);
    let places = || 0..candidates.len();
    let is_outermost = |&one: &usize| !places().any(|other| is_inside(one, other) && !is_inside(other, one));
    Ok(places().find(is_outermost).map(|at| candidates[at].phase))
}

/// Those that are visited often enough, with half of the time.
fn candidates(
    trace: &Trace,
    all: Vec<Phase>,
    processes: &[Walked],
    exchange: &mut dyn Exchange,
) -> Result<Vec<Candidate>, Error> {
    let run: i128 = processes.iter().map(|walked| main_run(&walked.process)).sum();
    let numbers = all.iter().map(|phase| usize::from(phase.number) + 1).max().unwrap_or(0);
    // By number of the phase: visits of the process that has fewest, and ticks of all.
    let mut sums = vec![(u64::MAX, 0_i128); numbers];
    for walked in processes {
        let (run, mut visits) = (run_of(trace, walked), vec![0_u64; numbers]);
        for Visit { phase, window, .. } in &walked.visits {
            if let Some(visits) = visits.get_mut(usize::from(*phase)) {
                *visits += 1;
                sums[usize::from(*phase)].1 += i128::from(window.overlap(run));
            }
        }
        sums.iter_mut().zip(visits).for_each(|((least, _), visits)| *least = visits.min(*least));
    }
    let mut told = Batch::new();
    (run, sums).put(&mut told);
    let mut whole = 0;
    let mut sums = vec![(u64::MAX, 0_i128); numbers];
    for batch in share(exchange, told)? {
        let (run, own) = wire::one::<(i128, Vec<(u64, i128)>)>(&batch);
        whole += run;
        for ((least, sum), (visits, ticks)) in sums.iter_mut().zip(own) {
            (*least, *sum) = (visits.min(*least), *sum + ticks);
        }
    }
    let candidate = |phase: Phase| Candidate { phase, ticks: sums[usize::from(phase.number)].1 };
    let is_wanted =
        |it: &Candidate| sums[usize::from(it.phase.number)].0 >= to_u64(ITERATIONS) && 2 * it.ticks >= whole;
    Ok(all.into_iter().map(candidate).filter(is_wanted).collect())
}

/// Ticks of the main thread between MPI_Init and MPI_Finalize.
fn main_run(process: &WalkedProcess) -> i128 {
    process.locations.first().map_or(0, |location| location.run.into())
}

/// Whether all visits of a phase lie in visits of another one.
fn lies_in(walked: &Walked, one: Phase, other: Phase) -> bool {
    let mut outer = of_phase(walked, other).peekable();
    of_phase(walked, one).all(|&Visit { window, .. }| {
        while outer.next_if(|visit| visit.window.end < window.end).is_some() {}
        outer.peek().is_some_and(|visit| visit.window.begin <= window.begin)
    })
}

/// When a process runs, by the calls of its main thread: from the end of MPI_Init to the start of MPI_Finalize.
fn run_of(trace: &Trace, walked: &Walked) -> Window {
    let mut run = Window { begin: Ticks::MIN, end: Ticks::MAX };
    let Some(steps) = walked.steps.first() else { return run };
    let kind = |key: u32| {
        trace.kinds.get(walked.process.paths[steps.keys[key as usize].path.index()].region as usize)
    };
    let of_key = |key: u32| kind(key).map_or([false, false], |kind| [kind.is_init, kind.is_finalize]);
    let of_keys: Vec<[bool; 2]> = (0..to_u32(steps.keys.len())).map(of_key).collect();
    let call = |which: usize| steps.iter().find(|step| of_keys[step.key as usize][which]);
    run.begin = call(0).map_or(run.begin, |step| step.leave);
    run.end = call(1).map_or(run.end, |step| step.enter);
    run
}

/// The visits of a phase as iterations of all locations with steps, whose processes have them.
pub(super) fn lines(phase: Phase, groups: &Groups, processes: &[Walked]) -> Vec<LocationIterations> {
    let mut locals = groups.locals.iter();
    let mut lines = Vec::new();
    for walked in processes {
        let visits: Vec<&Visit> = of_phase(walked, phase).collect();
        for (thread, (steps, local)) in walked.steps.iter().zip(&mut locals).enumerate() {
            if steps.is_empty() {
                continue;
            }
            let own = timed(&visits, steps, thread == 0);
            let words = words(&own, &local.base);
            let location = to_u32(walked.process.locations[thread].location);
            lines.push(LocationIterations {
                location,
                numbering: Numbering::NotComparable,
                is_irregular: local.is_irregular,
                own: own.into(),
                words: words.into(),
            });
        }
    }
    lines
}

/// The visits with the steps of a location in them. What is between steps is known of the main thread.
fn timed(visits: &[&Visit], steps: &Steps, is_main: bool) -> Vec<OwnIteration> {
    let iteration = |&&Visit { window: Window { begin, end }, between, .. }: &&Visit| OwnIteration {
        first: 0,
        behind: 0,
        is_border: false,
        begin,
        last_enter: end - 1,
        end,
        in_mpi: if is_main { between.polls } else { 0 },
        has_gap: is_main && between.off > 0,
    };
    let mut all: Vec<OwnIteration> = visits.iter().map(iteration).collect();
    let is_gap: Vec<bool> = steps.keys.iter().map(|key| key.is_gap).collect();
    let (mut polls, mut cuts) = (steps.polls.iter().peekable(), steps.cuts.iter().peekable());
    // The first visit that has not ended, and when the step before was left.
    let (mut open, mut left) = (0, steps.begin);
    for (number, TimedStep { key, enter, leave }) in (0..).zip(steps.iter()) {
        if let Some((_, [begin, end])) = cuts.next_if(|(before, _)| *before == number) {
            let cut = Window { begin: *begin, end: *end };
            for own in all[open..].iter_mut().take_while(|own| own.begin < cut.end) {
                own.has_gap |= !is_main && own.window().overlap(cut) > 0;
            }
        }
        while all.get(open).is_some_and(|own| own.end <= enter) {
            open += 1;
        }
        let polled = polls.next_if(|(before, _)| *before == number).map_or(0, |(_, polls)| polls.ticks);
        // Those of other threads count where no border may lie between them.
        if let Some(own) = all.get_mut(open).filter(|own| !is_main && own.begin <= left) {
            own.in_mpi += polled;
        }
        let step = Window { begin: enter, end: leave };
        for own in all[open..].iter_mut().take_while(|own| own.begin <= enter || own.begin < leave) {
            let ticks = own.window().overlap(step);
            match is_gap[key as usize] {
                true => own.has_gap |= ticks > 0,
                // What was done while recording was off is not known.
                false => own.in_mpi += ticks,
            }
            if own.begin <= enter {
                own.first = if own.first == own.behind { number } else { own.first };
                own.behind = number + 1;
            }
        }
        left = leave;
    }
    all
}

/// By iteration: the number of its word, which are its nodes in the order of their first visits in it.
fn words(own: &[OwnIteration], base: &[Node]) -> Vec<u32> {
    let mut known: FxHashMap<Vec<Node>, u32> = FxHashMap::default();
    let nodes = base.iter().map(|node| node.index() + 1).max().unwrap_or(0);
    // By node: the last iteration that has it, from 1.
    let mut latest = vec![0; nodes];
    let word = |(number, own): (usize, &OwnIteration)| {
        let steps = &base[own.first as usize..own.behind as usize];
        let is_new = |node: &&Node| std::mem::replace(&mut latest[node.index()], number) != number;
        let word: Vec<Node> = steps.iter().filter(is_new).copied().collect();
        let next = to_u32(known.len());
        *known.entry(word).or_insert(next)
    };
    (1..).zip(own).map(word).collect()
}

/// Ticks in the numbered iterations of these processes, as far as they lie between MPI_Init and MPI_Finalize.
pub(super) fn ticks_in_run(trace: &Trace, agreed: &Agreed, processes: &[Walked]) -> i128 {
    let mut lines = agreed.locations.iter().peekable();
    let mut ticks = 0;
    for walked in processes {
        let run = run_of(trace, walked);
        let end = walked.process.range().end;
        while let Some(line) = lines.next_if(|line| (line.location as usize) < end) {
            let numbered = line.own.iter().enumerate();
            let numbered =
                numbered.filter(|(place, _)| line.number_of_all(Some(*place), agreed.iterations) > 0);
            let inside = numbered.map(|(_, own)| own.window().overlap(run));
            ticks += inside.map(i128::from).sum::<i128>();
        }
    }
    ticks
}
