//! Common numbers: the same iteration has the same number at all locations, where their loops allow that (structure 2.10).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use model::Ticks;
use structure::{Iteration, LoopId};

use super::groups::Groups;
use super::local::{Borders, Local};
use super::meetings::{CallAt, at_collectives, at_messages};
use crate::error::Error;
use crate::exchange::batch::{halves, pair};
use crate::exchange::{Batch, Exchange, share};
use crate::int::{to_u32, to_u64};
use crate::matching::Matches;
use crate::tools::Tools;
use crate::walk::Walked;
use crate::wire::{self, Wire};

/// Numbers of iterations that may be those of one loop, of which some locations have left out or added some.
const NEARLY: u64 = 2;

/// How the iterations of a location get common numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Numbering {
    /// It has as many as all have.
    Own,
    /// As many as all have are in another loop than its main one.
    OtherLoop,
    /// Several of its own are one, beginning with a phase: the number of its iterations ahead of the first one that is whole.
    Several {
        /// How many are one.
        each: u64,
        /// The phase, less than that.
        phase: u64,
    },
    /// It has some more or less: its first one has this number, less 1.
    Shifted(i64),
    /// Its iterations are not those of the others.
    NotComparable,
}

/// The iterations of a location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocationIterations {
    /// Position of the location in the report.
    pub location: u32,
    /// How they get common numbers.
    pub numbering: Numbering,
    /// Its own iterations, by steps.
    pub own: Vec<Iteration>,
    /// The word of each of these.
    pub(super) words: Vec<u32>,
    /// The time at which each of its steps was entered.
    enters: Vec<Ticks>,
}

/// Iterations with common numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Agreed {
    /// How many there are.
    pub iterations: u64,
    /// Those of this worker's locations with steps.
    pub locations: Vec<LocationIterations>,
    /// How many locations of all have steps.
    pub locations_of_all: u64,
    /// How they correspond.
    pub correspondence: Correspondence,
}

/// How iterations of different locations correspond, over all locations.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Correspondence {
    /// Messages whose ends are in iterations of one number.
    pub within: u64,
    /// Messages with no end in an iteration.
    pub outside: u64,
    /// Messages whose ends have different numbers, or only one of which has a number.
    pub crossing: u64,
    /// Collective operations whose members have different numbers.
    pub disagreeing: u64,
}

impl Agreed {
    /// The common number of the iteration with a call of a location of this worker, which was entered at this time.
    pub(super) fn number_at(&self, location: u32, enter: Ticks) -> Option<usize> {
        let at = self.locations.binary_search_by_key(&location, |line| line.location).ok()?;
        let line = &self.locations[at];
        let number = usize::try_from(line.number(line.place(enter)?)?).ok()?;
        (number > 0 && to_u64(number) <= self.iterations).then_some(number)
    }
}

impl LocationIterations {
    /// The time at which a step was entered.
    pub(super) fn enter(&self, step: usize) -> Ticks {
        self.enters[step]
    }

    /// The place of the iteration with a call among the location's own, if it is in one.
    pub(super) fn place(&self, enter: Ticks) -> Option<usize> {
        let step = to_u32(self.enters.partition_point(|&time| time <= enter).checked_sub(1)?);
        let behind = self.own.partition_point(|iteration| iteration.first <= step);
        let place = behind.checked_sub(1)?;
        (step < self.own[place].end).then_some(place)
    }

    /// The common number of one of its own iterations, by its place; it may be outside of those that all have.
    pub fn number(&self, place: usize) -> Option<i64> {
        let place = i64::try_from(place).ok()?;
        match self.numbering {
            Numbering::Own | Numbering::OtherLoop => Some(place + 1),
            Numbering::Several { each, phase } => {
                Some((place - phase.cast_signed()).div_euclid(each.cast_signed()) + 1)
            }
            Numbering::Shifted(by) => Some(place + 1 + by),
            Numbering::NotComparable => None,
        }
    }
}

/// Gives the iterations of all locations common numbers; `None` if hardly any time is in a loop.
///
/// # Errors
/// If a worker failed.
pub(super) fn agree(
    tools: &Tools<'_>,
    processes: &[Walked],
    matches: &[Matches],
    Groups { locals, main }: Groups,
    exchange: &mut dyn Exchange,
) -> Result<Option<Agreed>, Error> {
    let located = processes.iter().flat_map(|walked| walked.steps.iter().zip(&walked.process.locations));
    let mut lines = Vec::new();
    let mut weights: BTreeMap<u64, i128> = BTreeMap::new();
    for ((local, main), (steps, location)) in locals.iter().zip(main).zip(located) {
        if steps.is_empty() {
            continue;
        }
        let (own, words) = main.map(|id| local.iterations(id)).unwrap_or_default();
        let borders = Borders::new(steps);
        let ticks = own.iter().map(|&iteration| i128::from(borders.ticks(iteration))).sum::<i128>();
        *weights.entry(to_u64(own.len())).or_default() += ticks;
        let numbering = Numbering::NotComparable;
        let (location, enters) = (to_u32(location.location), borders.into_enters());
        lines.push((local, LocationIterations { location, numbering, own, words, enters }));
    }
    let [locations_of_all] = super::summed([to_u64(lines.len())], exchange)?;
    let candidates = candidates(&weights, exchange)?;
    let mut best: Option<Agreed> = None;
    for count in candidates {
        let mut agreed = with_count(tools, (processes, matches), &lines, count, exchange)?;
        agreed.locations_of_all = locations_of_all;
        let apart = |it: &Agreed| it.correspondence.crossing + it.correspondence.disagreeing;
        if best.as_ref().is_none_or(|best| apart(&agreed) < apart(best)) {
            best = Some(agreed);
        }
    }
    Ok(best.filter(|best| best.iterations > 0))
}

/// The numbers of iterations that all may have, that with most time first.
fn candidates(weights: &BTreeMap<u64, i128>, exchange: &mut dyn Exchange) -> Result<Vec<u64>, Error> {
    let mut batch = Batch::new();
    weights.iter().for_each(|(count, ticks)| (*count, *ticks).put(&mut batch));
    let mut all: BTreeMap<u64, i128> = BTreeMap::new();
    for batch in share(exchange, batch)? {
        wire::all::<(u64, i128)>(&batch).for_each(|(count, ticks)| *all.entry(count).or_default() += ticks);
    }
    let by_weight = |&(&count, &ticks): &(&u64, &i128)| (Reverse(ticks), count);
    let Some((&most, &weight)) = all.iter().min_by_key(by_weight) else { return Ok(Vec::new()) };
    let is_near = |&(&count, &ticks): &(&u64, &i128)| count.abs_diff(most) <= NEARLY && 4 * ticks >= weight;
    let mut near: Vec<(&u64, &i128)> = all.iter().filter(is_near).collect();
    near.sort_by_key(by_weight);
    Ok(near.into_iter().map(|(&count, _)| count).collect())
}

/// Numbers the iterations of all locations if they are as many as this.
fn with_count(
    tools: &Tools<'_>,
    meetings: (&[Walked], &[Matches]),
    lines: &[(&Local, LocationIterations)],
    count: u64,
    exchange: &mut dyn Exchange,
) -> Result<Agreed, Error> {
    let raw: Vec<&LocationIterations> = lines.iter().map(|(_, line)| line).collect();
    let all_alike = raw.iter().all(|line| to_u64(line.own.len()) == count);
    let are_alike = share(exchange, vec![u64::from(all_alike)])?.iter().all(|batch| batch[..] == [1]);
    let differences = match are_alike || count == 0 {
        true => BTreeMap::new(),
        false => differences(tools, meetings, &raw, count, exchange)?,
    };
    let mut locations = Vec::with_capacity(lines.len());
    for (local, line) in lines {
        let mut line = line.clone();
        let own = to_u64(line.own.len());
        let known = differences.get(&line.location);
        line.numbering = if own == count && count > 0 {
            Numbering::Own
        } else if count == 0 {
            Numbering::NotComparable
        } else if let Some(id) = other_loop(local, count) {
            (line.own, line.words) = local.iterations(id);
            Numbering::OtherLoop
        } else if own > count && own.is_multiple_of(count) {
            let each = own / count;
            Numbering::Several { each, phase: best_phase(known, each) }
        } else if own.abs_diff(count) <= NEARLY {
            let most = known.and_then(|known| {
                known.iter().max_by_key(|&(&by, &times)| (times, Reverse(by.abs()), Reverse(by)))
            });
            Numbering::Shifted(most.map_or(0, |(&by, _)| by))
        } else {
            Numbering::NotComparable
        };
        locations.push(line);
    }
    let correspondence = correspondence(tools, meetings, &locations, count, exchange)?;
    Ok(Agreed { iterations: count, locations, locations_of_all: 0, correspondence })
}

/// The loop of a location with so many iterations, and of several the one with most steps.
fn other_loop(local: &Local, count: u64) -> Option<LoopId> {
    let ids = local.forest.ids().filter(|id| local.totals[id.index()].iterations == count);
    let steps = |id: &LoopId| {
        let (iterations, _) = local.iterations(*id);
        let ends = iterations.iter().map(|it| u64::from(it.end - it.first)).sum::<u64>();
        (ends, local.forest.name(*id))
    };
    ids.max_by_key(steps)
}

/// The phase for which most meetings join equal numbers; `differences` are those between the place of an iteration and the first
/// place that the number of the other side would have with phase 0.
fn best_phase(differences: Option<&BTreeMap<i64, u64>>, each: u64) -> u64 {
    let good = |phase: u64| {
        let is_joined =
            |difference: i64| (0..each.cast_signed()).contains(&(difference - phase.cast_signed()));
        let known = differences.into_iter().flatten();
        known.filter(|&(&difference, _)| is_joined(difference)).map(|(_, &times)| times).sum::<u64>()
    };
    (0..each).max_by_key(|&phase| (good(phase), Reverse(phase))).unwrap_or(0)
}

/// For each location of this worker that has not so many iterations: how its iterations differ from those of locations that
/// have, at messages and collective operations, and how often.
fn differences(
    tools: &Tools<'_>,
    (processes, matches): (&[Walked], &[Matches]),
    lines: &[&LocationIterations],
    count: u64,
    exchange: &mut dyn Exchange,
) -> Result<BTreeMap<u32, BTreeMap<i64, u64>>, Error> {
    // Place of the iteration from 1, 0 for none, and how many the location has.
    let of_call = |CallAt { location, enter }: CallAt| {
        let Some(line) = find(lines, location) else { return 0 };
        let place = line.place(enter).map_or(0, |place| to_u32(place + 1));
        pair(place, to_u32(line.own.len()))
    };
    let mut found: BTreeMap<(u32, i64), u64> = BTreeMap::new();
    let mut compare = |(location, word): (u32, u64), (_, other): (u32, u64)| {
        let ((place, own), (number, others)) = (halves(word), halves(other));
        if place == 0 || number == 0 || u64::from(own) == count || u64::from(others) != count {
            return;
        }
        let (place, number) = (i64::from(place), i64::from(number));
        let each = i64::from(own) / count.cast_signed();
        let difference = match u64::from(own) > count && u64::from(own).is_multiple_of(count) {
            true => place - 1 - (number - 1) * each,
            false => number - place,
        };
        *found.entry((location, difference)).or_default() += 1;
    };
    at_messages(tools, (processes, matches), of_call, exchange, |[receiver, sender]| {
        compare(receiver, sender);
        compare(sender, receiver);
    })?;
    at_collectives(tools, processes, of_call, exchange, |members| {
        for &member in &members[1..] {
            compare(member, members[0]);
            compare(members[0], member);
        }
    })?;
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    for ((location, difference), times) in found {
        ((location, difference), times).put(&mut outgoing[tools.owner_of(location)]);
    }
    let mut sums: BTreeMap<u32, BTreeMap<i64, u64>> = BTreeMap::new();
    for batch in exchange.exchange(outgoing)? {
        for ((location, difference), times) in wire::all::<((u32, i64), u64)>(&batch) {
            *sums.entry(location).or_default().entry(difference).or_default() += times;
        }
    }
    Ok(sums)
}

/// Counts at messages and collective operations whether numbers are equal.
fn correspondence(
    tools: &Tools<'_>,
    (processes, matches): (&[Walked], &[Matches]),
    locations: &[LocationIterations],
    count: u64,
    exchange: &mut dyn Exchange,
) -> Result<Correspondence, Error> {
    let lines: Vec<&LocationIterations> = locations.iter().collect();
    let of_call = |CallAt { location, enter }: CallAt| {
        let number = find(&lines, location).and_then(|line| line.number(line.place(enter)?));
        number.and_then(|number| u64::try_from(number).ok()).filter(|&number| number <= count).unwrap_or(0)
    };
    let mut own = Correspondence::default();
    at_messages(tools, (processes, matches), of_call, exchange, |[(_, one), (_, other)]| {
        let sum = match (one, other) {
            (0, 0) => &mut own.outside,
            (one, other) if one == other => &mut own.within,
            _ => &mut own.crossing,
        };
        *sum += 1;
    })?;
    at_collectives(tools, processes, of_call, exchange, |members| {
        own.disagreeing += u64::from(members.iter().any(|&(_, number)| number != members[0].1));
    })?;
    let Correspondence { within, outside, crossing, disagreeing } = own;
    let [within, outside, crossing, disagreeing] =
        super::summed([within, outside, crossing, disagreeing], exchange)?;
    Ok(Correspondence { within, outside, crossing, disagreeing })
}

/// The iterations of a location, if it has steps.
fn find<'l>(lines: &[&'l LocationIterations], location: u32) -> Option<&'l LocationIterations> {
    lines.binary_search_by_key(&location, |line| line.location).ok().map(|at| lines[at])
}
