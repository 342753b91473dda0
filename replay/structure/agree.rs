//! Common numbers: the same iteration has the same number at all locations, where their loops allow that (structure 2.10).

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use model::Ticks;
use rustc_hash::FxHashMap;
use structure::LoopId;

use super::groups::Groups;
use super::local::{Local, OwnIteration};
use super::meetings::{CallAt, Meetings, Side};
use crate::error::Error;
use crate::exchange::batch::{halves, pair};
use crate::exchange::{Batch, Exchange, share};
use crate::int::{to_u32, to_u64};
use crate::tools::Tools;
use crate::walk::{Steps, Walked, WalkedLocation};
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
    /// Whether it has too many different calls to tell them all apart, or loops too deep to find them all.
    pub is_irregular: bool,
    /// Its own iterations, in the order of time.
    pub own: Arc<[OwnIteration]>,
    /// The word of each of these.
    pub(super) words: Arc<[u32]>,
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
    /// How many of these have too many different calls to tell them all apart, or loops too deep to find them all.
    pub irregular: u64,
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
    /// Collective operations whose members all have one number.
    pub agreeing: u64,
    /// How many iterations there are.
    pub iterations: u64,
}

/// Share of the messages that must join iterations of one number.
const CORRESPONDING: f64 = 0.99;

impl Correspondence {
    /// Whether iterations of one number are the same at all locations, as far as messages and collective operations show.
    pub fn holds(&self) -> bool {
        let Correspondence { within, outside, crossing, disagreeing, agreeing, iterations } = *self;
        let messages = within + outside + crossing;
        let is_rare = crossing as f64 <= (1.0 - CORRESPONDING) * messages as f64;
        // Messages may be sent an iteration ahead. Where a collective operation confirms each number, that is what they are.
        let is_confirmed = iterations > 0 && agreeing >= iterations;
        disagreeing == 0 && (is_rare || is_confirmed)
    }
}

impl Agreed {
    /// The place in the list of the iterations of a location: its own, or if it has no steps, those of the first location of its
    /// process that has.
    pub(crate) fn place_of(&self, location: usize, process: &Range<usize>) -> Option<usize> {
        let place =
            |location: usize| self.locations.partition_point(|line| (line.location as usize) < location);
        let has = |place: usize, locations: Range<usize>| {
            self.locations.get(place).is_some_and(|line| locations.contains(&(line.location as usize)))
        };
        let own = place(location);
        if has(own, location..location + 1) {
            return Some(own);
        }
        let first = place(process.start);
        has(first, process.clone()).then_some(first)
    }
}

impl LocationIterations {
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

    /// Its number among the `count` iterations that all have; 0 if it is none of these, or there is no place.
    pub(crate) fn number_of_all(&self, place: Option<usize>, count: u64) -> u64 {
        let number = place.and_then(|place| u64::try_from(self.number(place)?).ok());
        number.filter(|&number| number <= count).unwrap_or(0)
    }
}

/// The iterations of main loops, of all locations with steps.
pub(super) fn lines(groups: &Groups, processes: &[Walked]) -> Vec<LocationIterations> {
    let located = processes.iter().flat_map(|walked| walked.steps.iter().zip(&walked.process.locations));
    let all = groups.locals.iter().zip(&groups.main).zip(located);
    let line =
        |((local, main), (steps, location)): ((&Local, &Option<LoopId>), (&Steps, &WalkedLocation))| {
            let (own, words) = main.map(|id| local.timed(steps, id)).unwrap_or_default();
            let (location, numbering) = (to_u32(location.location), Numbering::NotComparable);
            let is_irregular = local.is_irregular;
            let (own, words) = (own.into(), words.into());
            LocationIterations { location, numbering, is_irregular, own, words }
        };
    all.filter(|(_, (steps, _))| !steps.is_empty()).map(line).collect()
}

/// Gives the iterations of all locations common numbers; `None` if hardly any time is in a loop. Of `loops`, by location with steps,
/// another one may have as many iterations; there are none where visits of a phase are the iterations.
///
/// # Errors
/// If a worker failed.
pub(super) fn agree(
    tools: &Tools<'_>,
    meetings: &Meetings<'_>,
    lines: &[LocationIterations],
    loops: &[(&Local, &Steps)],
    exchange: &mut dyn Exchange,
) -> Result<Option<Agreed>, Error> {
    let mut weights: BTreeMap<u64, i128> = BTreeMap::new();
    for line in lines {
        let ticks = line.own.iter().map(|it| i128::from(it.end - it.begin)).sum::<i128>();
        *weights.entry(to_u64(line.own.len())).or_default() += ticks;
    }
    let irregular = lines.iter().filter(|line| line.is_irregular).count();
    let [locations_of_all, irregular] = super::summed([lines.len(), irregular].map(to_u64), exchange)?;
    let candidates = candidates(&weights, exchange)?;
    let differences = differences(tools, meetings, lines, &candidates, exchange)?;
    let numbered = |(which, &count): (usize, &u64)| -> Vec<LocationIterations> {
        let known = |line: &LocationIterations| differences.get(&(line.location, to_u32(which)));
        let all = lines.iter().enumerate();
        all.map(|(at, line)| with_numbers(line, loops.get(at).copied(), known(line), count)).collect()
    };
    let numbered: Vec<Vec<LocationIterations>> = candidates.iter().enumerate().map(numbered).collect();
    let correspondence =
        |(lines, &count): (&Vec<LocationIterations>, &u64)| correspondence(meetings, lines, count, exchange);
    let correspondences: Vec<Correspondence> =
        numbered.iter().zip(&candidates).map(correspondence).collect::<Result<_, _>>()?;
    let apart = |it: &Correspondence| it.crossing + it.disagreeing;
    let all = candidates.into_iter().zip(numbered).zip(correspondences);
    let best = all.min_by_key(|(_, correspondence)| apart(correspondence));
    let agreed = best.map(|((iterations, locations), correspondence)| Agreed {
        iterations,
        locations,
        locations_of_all,
        irregular,
        correspondence,
    });
    Ok(agreed.filter(|agreed| agreed.iterations > 0))
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

/// Numbers the iterations of a location if all have so many. `loops` are all of its own, `known` its differences from others that
/// have so many.
fn with_numbers(
    line: &LocationIterations,
    loops: Option<(&Local, &Steps)>,
    known: Option<&Differences>,
    count: u64,
) -> LocationIterations {
    let mut line = line.clone();
    let own = to_u64(line.own.len());
    line.numbering = if own == count && count > 0 {
        Numbering::Own
    } else if count == 0 {
        Numbering::NotComparable
    } else if let Some((local, steps, id)) =
        loops.and_then(|(local, steps)| Some((local, steps, other_loop(local, count)?)))
    {
        let (own, words) = local.timed(steps, id);
        (line.own, line.words) = (own.into(), words.into());
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
    line
}

/// The loop of a location with so many iterations, and of several the one with most steps.
fn other_loop(local: &Local, count: u64) -> Option<LoopId> {
    let ids = local.forest.ids().filter(|id| local.totals[id.index()].iterations == count);
    let steps = |id: &LoopId| {
        let iterations = &local.iterations[id.index()];
        (iterations.iter().map(|it| u64::from(it.end - it.first)).sum::<u64>(), local.forest.name(*id))
    };
    ids.max_by_key(steps)
}

/// The phase for which most meetings join equal numbers; `differences` are those between the place of an iteration and the first
/// place that the number of the other side would have with phase 0.
fn best_phase(differences: Option<&Differences>, each: u64) -> u64 {
    let good = |phase: u64| {
        let is_joined =
            |difference: i64| (0..each.cast_signed()).contains(&(difference - phase.cast_signed()));
        let known = differences.into_iter().flatten();
        known.filter(|&(&difference, _)| is_joined(difference)).map(|(_, &times)| times).sum::<u64>()
    };
    (0..each).max_by_key(|&phase| (good(phase), Reverse(phase))).unwrap_or(0)
}

/// How often each difference was found.
type Differences = BTreeMap<i64, u64>;

/// For each location of this worker that has not as many iterations as a candidate, by the candidate's place: how its iterations
/// differ from those of locations that have, at messages and collective operations, and how often.
fn differences(
    tools: &Tools<'_>,
    meetings: &Meetings<'_>,
    lines: &[LocationIterations],
    candidates: &[u64],
    exchange: &mut dyn Exchange,
) -> Result<BTreeMap<(u32, u32), Differences>, Error> {
    let is_alike = |count: &u64| *count == 0 || lines.iter().all(|line| to_u64(line.own.len()) == *count);
    let are_alike = candidates.iter().all(is_alike);
    if share(exchange, vec![u64::from(are_alike)])?.iter().all(|batch| batch[..] == [1]) {
        return Ok(BTreeMap::new());
    }
    let mut cursor = Cursor::new(lines);
    // Place of the iteration from 1, 0 for none, and how many the location has.
    let mut of_call = |CallAt { location, enter }: CallAt| {
        let found = cursor.place(lines, location, enter);
        let own = found.map_or(0, |(line, _)| to_u32(line.own.len()));
        [pair(found.and_then(|(_, place)| place).map_or(0, |place| to_u32(place + 1)), own)]
    };
    let mut found: FxHashMap<(u32, u32, i64), u64> = FxHashMap::default();
    let mut compare = |Side { location, words }: Side<1>, other: Side<1>| {
        let ((place, own), (number, others)) = (halves(words[0]), halves(other.words[0]));
        if place == 0 || number == 0 || own == others {
            return;
        }
        let Some(which) = candidates.iter().position(|&count| u64::from(others) == count) else { return };
        let (place, number) = (i64::from(place), i64::from(number));
        let difference = match own > others && own.is_multiple_of(others) {
            true => place - 1 - (number - 1) * i64::from(own / others),
            false => number - place,
        };
        *found.entry((location, to_u32(which), difference)).or_default() += 1;
    };
    meetings.at_messages(&mut of_call, exchange, |[receiver, sender]| {
        compare(receiver, sender);
        compare(sender, receiver);
    })?;
    meetings.at_collectives(of_call, exchange, |members| {
        for &member in &members[1..] {
            compare(member, members[0]);
            compare(members[0], member);
        }
    })?;
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    for ((location, which, difference), times) in found {
        (pair(location, which), (difference, times)).put(&mut outgoing[tools.owner_of(location)]);
    }
    let mut sums: BTreeMap<(u32, u32), Differences> = BTreeMap::new();
    for batch in exchange.exchange(outgoing)? {
        for (key, (difference, times)) in wire::all::<(u64, (i64, u64))>(&batch) {
            *sums.entry(halves(key)).or_default().entry(difference).or_default() += times;
        }
    }
    Ok(sums)
}

/// Counts at messages and collective operations whether numbers are equal, if all have so many iterations.
fn correspondence(
    meetings: &Meetings<'_>,
    lines: &[LocationIterations],
    iterations: u64,
    exchange: &mut dyn Exchange,
) -> Result<Correspondence, Error> {
    let mut cursor = Cursor::new(lines);
    let mut of_call = |CallAt { location, enter }: CallAt| {
        let found = cursor.place(lines, location, enter);
        [found.map_or(0, |(line, place)| line.number_of_all(place, iterations))]
    };
    let [mut within, mut outside, mut crossing, mut disagreeing, mut agreeing] = [0; 5];
    meetings.at_messages(&mut of_call, exchange, |[one, other]| match (one.words, other.words) {
        ([0], [0]) => outside += 1,
        (one, other) if one == other => within += 1,
        _ => crossing += 1,
    })?;
    meetings.at_collectives(of_call, exchange, |members| {
        let disagrees = members.iter().any(|member| member.words != members[0].words);
        disagreeing += u64::from(disagrees);
        agreeing += u64::from(!disagrees && members[0].words != [0]);
    })?;
    let [within, outside, crossing, disagreeing, agreeing] =
        super::summed([within, outside, crossing, disagreeing, agreeing], exchange)?;
    Ok(Correspondence { within, outside, crossing, disagreeing, agreeing, iterations })
}

/// Finds iterations of calls, which mostly come in the order of time at each location.
#[derive(Clone, Debug)]
pub(super) struct Cursor {
    /// The first location.
    first: u32,
    /// By location from there: its line, or [`NO_LINE`].
    lines: Vec<u32>,
    /// By line: the iteration that was found last.
    latest: Vec<usize>,
}

/// Stands for a location that has no steps.
const NO_LINE: u32 = u32::MAX;

impl Cursor {
    pub(super) fn new(lines: &[LocationIterations]) -> Cursor {
        let first = lines.first().map_or(0, |line| line.location);
        let mut cursor = Cursor { first, lines: Vec::new(), latest: vec![0; lines.len()] };
        for (number, line) in (0..).zip(lines) {
            cursor.lines.resize((line.location - first) as usize, NO_LINE);
            cursor.lines.push(number);
        }
        cursor
    }

    /// The line of a location with steps, and the place of the iteration with a call among the location's own, if it is in one.
    pub(super) fn place<'l>(
        &mut self,
        lines: &'l [LocationIterations],
        location: u32,
        enter: Ticks,
    ) -> Option<(&'l LocationIterations, Option<usize>)> {
        let number = *self.lines.get(location.checked_sub(self.first)? as usize)? as usize;
        let line = lines.get(number)?;
        let latest = &mut self.latest[number];
        let begins_before = |place: usize| line.own.get(place).is_some_and(|own| own.begin <= enter);
        let place = if !begins_before(*latest) || begins_before(*latest + 1) && begins_before(*latest + 2) {
            match line.own.partition_point(|own| own.begin <= enter).checked_sub(1) {
                Some(place) => place,
                None => return Some((line, None)),
            }
        } else {
            *latest + usize::from(begins_before(*latest + 1))
        };
        *latest = place;
        Some((line, (enter <= line.own[place].last_enter).then_some(place)))
    }
}
