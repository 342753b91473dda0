//! What is beside the main loop: other loops, and the stretches between loops (structure 3.5).
//!
//! A loop that is in no other one is one stretch of a sequence: behind its end it never begins again. So the run of a location is
//! loops in a row, and stretches before, between and behind them. Other loops are told apart if all locations have
//! the same ones, with as many iterations each; else they are part of the stretches.

use model::Ticks;

use super::agree::{Agreed, LocationIterations, Numbering};
use super::groups::Groups;
use super::local::{Local, OwnIteration};
use super::series::{IterationTotals, totals};
use super::{ITERATIONS, locations_with_steps};
use crate::error::Error;
use crate::exchange::{Batch, Exchange, share};
use crate::int::{to_u64, to_usize};
use crate::walk::{Steps, TimedStep, Walked};
use crate::wire::{self, Wire};

/// Loops and stretches beside the main loop; of all locations on worker 0.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Beside {
    /// The iterations of each other loop, in the order of time.
    pub loops: Vec<Vec<IterationTotals>>,
    /// The stretches between loops, in the order of time; the last one is all between instances of the main loop.
    pub stretches: Vec<IterationTotals>,
}

/// A loop that is in no other one, and is not around the main loop.
#[derive(Clone, Debug)]
struct RootLoop {
    own: Vec<OwnIteration>,
    words: Vec<u32>,
}

/// Those of this worker's locations with steps.
#[derive(Clone, Debug)]
pub(super) struct RootLoops(Vec<Vec<RootLoop>>);

impl RootLoops {
    /// Finds them before the structures of single locations are forgotten. Where the main loop is none of these, they are all that do
    /// not overlap it.
    pub(super) fn find(groups: &Groups, processes: &[Walked], is_main_a_loop: bool) -> RootLoops {
        let locals = groups.locals.iter().zip(&groups.main);
        let located = processes.iter().flat_map(|walked| &walked.steps);
        let with_steps = locals.zip(located).filter(|(_, steps)| !steps.is_empty());
        let of_location = |((local, main), steps): ((&Local, &Option<_>), &Steps)| {
            let is_beside = |&id: &_| {
                local.iterations[::structure::LoopId::index(id)].len() >= ITERATIONS
                    && main.is_none_or(|main| !is_main_a_loop || !local.forest.is_within(main, id))
            };
            let roots = local.forest.children(None).filter(is_beside);
            let root = |id| {
                let (own, words) = local.timed(steps, id);
                RootLoop { own, words }
            };
            roots.map(root).collect()
        };
        RootLoops(with_steps.map(of_location).collect())
    }
}

/// A loop of a location, from its first iteration to its last one.
struct Segment<'l> {
    begin: Ticks,
    end: Ticks,
    /// `None` stands for the main loop.
    of: Option<&'l RootLoop>,
}

impl<'l> Segment<'l> {
    fn new(own: &[OwnIteration], of: Option<&'l RootLoop>) -> Option<Segment<'l>> {
        Some(Segment { begin: own.first()?.begin, end: own.last()?.end, of })
    }

    /// What all locations must have in common: the number of iterations, 0 of the main loop.
    fn iterations(&self) -> u64 {
        self.of.map_or(0, |of| to_u64(of.own.len()))
    }
}

/// Adds up what is beside the main loop.
///
/// # Errors
/// If a worker failed.
pub(super) fn find(
    processes: &[Walked],
    agreed: &Agreed,
    RootLoops(roots): &RootLoops,
    exchange: &mut dyn Exchange,
) -> Result<Beside, Error> {
    let is_numbered = |line: &LocationIterations| line.numbering != Numbering::NotComparable;
    let lines = || agreed.locations.iter().zip(roots).zip(locations_with_steps(processes));
    let segments: Vec<Vec<Segment<'_>>> = lines()
        .map(|((line, roots), _)| if is_numbered(line) { segments(line, roots) } else { Vec::new() })
        .collect();
    let shapes = segments.iter().filter(|segments| !segments.is_empty());
    let shape =
        agree_on(shapes.map(|segments| segments.iter().map(Segment::iterations).collect()), exchange)?;
    let shape = shape.unwrap_or_else(|| vec![0]);
    let mut loops: Vec<Vec<LocationIterations>> = vec![Vec::new(); shape.len()];
    let mut stretches = Vec::new();
    for (((line, _), steps), segments) in lines().zip(&segments) {
        let has_others = segments.len() == shape.len();
        let kept = || segments.iter().filter(|segment| has_others || segment.of.is_none());
        if segments.is_empty() {
            continue;
        }
        for (segment, loops) in kept().zip(&mut loops) {
            if let Some(RootLoop { own, words }) = segment.of {
                loops.push(numbered(line, own.clone(), words.clone()));
            }
        }
        let own = gaps(steps, line, kept());
        let words = vec![0; own.len()];
        stretches.push(numbered(line, own, words));
    }
    let others = shape.iter().zip(&loops).filter(|(iterations, _)| **iterations > 0);
    let mut all: Vec<(&[LocationIterations], usize)> =
        others.map(|(&iterations, lines)| (&lines[..], to_usize(iterations))).collect();
    all.push((&stretches, shape.len() + 2));
    let mut loops = totals(&all, exchange)?;
    let stretches = loops.pop().unwrap_or_default();
    Ok(Beside { loops, stretches })
}

/// The loops of a location one after the other. Others lie before the main loop or behind it.
fn segments<'l>(line: &LocationIterations, roots: &'l [RootLoop]) -> Vec<Segment<'l>> {
    let Some(main) = Segment::new(&line.own, None) else { return Vec::new() };
    let is_beside = |other: &Segment<'_>| other.end <= main.begin || main.end <= other.begin;
    let others = roots.iter().filter_map(|root| Segment::new(&root.own, Some(root))).filter(is_beside);
    let mut all: Vec<Segment<'_>> = others.collect();
    all.push(main);
    all.sort_by_key(|segment| segment.begin);
    all
}

/// The shape that all locations have; `None` if they have different ones.
fn agree_on(
    mut shapes: impl Iterator<Item = Vec<u64>>,
    exchange: &mut dyn Exchange,
) -> Result<Option<Vec<u64>>, Error> {
    let first = shapes.next();
    let mut told = Batch::new();
    if let Some(first) = first {
        let is_common = shapes.all(|shape| shape == first);
        (is_common, first).put(&mut told);
    }
    let all = share(exchange, told)?;
    let mut shapes =
        all.iter().filter(|batch| !batch.is_empty()).map(|batch| wire::one::<(bool, Vec<u64>)>(batch));
    let Some((mut is_common, first)) = shapes.next() else { return Ok(None) };
    is_common &= shapes.all(|(is_common, shape)| is_common && shape == first);
    Ok(is_common.then_some(first))
}

/// Iterations of a location that count from 1.
fn numbered(line: &LocationIterations, own: Vec<OwnIteration>, words: Vec<u32>) -> LocationIterations {
    let (own, words) = (own.into(), words.into());
    LocationIterations { numbering: Numbering::Own, own, words, ..*line }
}

/// The stretches before, between and behind loops, and last all that is between instances of the main loop.
fn gaps<'s>(
    steps: &Steps,
    line: &LocationIterations,
    segments: impl Iterator<Item = &'s Segment<'s>>,
) -> Vec<OwnIteration> {
    let mut bounds: Vec<[Ticks; 2]> = Vec::new();
    let mut since = steps.begin;
    for segment in segments {
        bounds.push([since, segment.begin]);
        since = segment.end;
    }
    let end = steps.iter().last().map_or(since, |step| step.leave);
    bounds.push([since, end.max(since)]);
    // From here on intervals lie inside the main loop.
    let inside = line.own.windows(2).map(|pair| [pair[0].end, pair[1].begin]).filter(|[from, to]| from < to);
    let mut between: Vec<[Ticks; 2]> = inside.collect();
    let mut found: Vec<OwnIteration> = bounds.iter().map(|&bounds| empty(bounds)).collect();
    let ticks: Ticks = between.iter().map(|[from, to]| to - from).sum();
    let begin = line.own.first().map_or(0, |own| own.begin);
    found.push(empty([begin, begin + ticks]));
    let last = found.len() - 1;
    let mut all: Vec<([Ticks; 2], usize)> = bounds.into_iter().zip(0..).collect();
    all.extend(between.drain(..).map(|bounds| (bounds, last)));
    all.sort_unstable();
    add_steps(steps, &all, &mut found);
    found
}

fn empty([begin, end]: [Ticks; 2]) -> OwnIteration {
    let (first, behind, last_enter) = (0, 0, begin);
    OwnIteration { first, behind, is_border: false, begin, last_enter, end, in_mpi: 0, has_gap: false }
}

/// Adds the time in MPI in intervals, which are disjoint and in order, to the stretches that these belong to.
fn add_steps(steps: &Steps, intervals: &[([Ticks; 2], usize)], found: &mut [OwnIteration]) {
    // Times come in order, but for polls before a step that begins where the one before does.
    let mut behind = 0;
    let mut at = |time: Ticks| {
        let begins_until = |place: usize| intervals.get(place).is_some_and(|([begin, _], _)| *begin <= time);
        while begins_until(behind) {
            behind += 1;
        }
        while behind > 0 && !begins_until(behind - 1) {
            behind -= 1;
        }
        let (bounds, of) = intervals.get(behind.checked_sub(1)?)?;
        (time < bounds[1]).then_some(*of)
    };
    let mut polls = steps.polls.iter().peekable();
    for (number, TimedStep { key, enter, leave }) in (0..).zip(steps.iter()) {
        let polled = polls.next_if(|(before, _)| *before == number).map_or(0, |(_, polls)| polls.ticks);
        // Those before a loop are outside of it.
        if polled > 0
            && let Some(of) = at(enter - 1)
        {
            found[of].in_mpi += polled;
        }
        let Some(of) = at(enter) else { continue };
        match steps.keys[key as usize].is_gap {
            // What was done while recording was off is not known.
            true => found[of].has_gap = true,
            false => found[of].in_mpi += leave - enter,
        }
    }
}
