//! Choice of the culprits: functions, each on one location or on several that are alike.
//!
//! With many ranks each of them may cost little and all together much. So the locations of a function are
//! grouped by their costs: those of a group cost less than a half and at least a quarter (an eighth, …) of
//! the costs of the costliest one. Groups of a few locations are split again, as these can be named one by
//! one.

use std::collections::BTreeMap;
use std::ops::Range;

use model::Ticks;
use rustc_hash::FxHashMap;

use super::{Culprit, NAMED};
use crate::causes::delay::DelayClass;
use crate::causes::lines::Lines;
use crate::error::Error;
use crate::exchange::{Batch, Exchange, broadcast, reduce, share};
use crate::fraction::whole;
use crate::functions::Function;
use crate::ids::ReportPath;
use crate::int::to_u32;
use crate::report_paths::ReportPaths;
use crate::tools::Tools;
use crate::wire::{self, Halves, Wire, batch_of, wire};

/// Number of functions whose locations are grouped: those with the largest sums of costs.
const FUNCTIONS: usize = 16;

/// Number of groups of a function: the last one has all locations that cost less than those of the others.
const GROUPS: usize = 16;

/// Divisor of the run: a place with lower costs than this quotient does not stand out.
const STANDS_OUT: i128 = 100;

/// Maximum number of locations of a group that is split.
const FEW: u64 = 4;

/// Costs by class, in ticks as fixed-point numbers.
type ByClass = [i128; DelayClass::COUNT];

/// The locations of the culprits.
#[derive(Clone, Debug, Default)]
pub struct Members {
    /// By location: a bit for each culprit that it belongs to.
    culprits: Vec<u8>,
}

const _: () = assert!(NAMED <= u8::BITS as usize);

impl Members {
    /// Whether a culprit is at a location.
    pub fn has(&self, culprit: usize, location: u32) -> bool {
        self.culprits.get(location as usize).is_some_and(|bits| bits >> culprit & 1 == 1)
    }

    /// Whether any culprit is at a location.
    pub(super) fn has_any(&self, location: u32) -> bool {
        self.culprits.get(location as usize).is_some_and(|&bits| bits != 0)
    }

    /// Returns the locations of a culprit in ascending order.
    pub fn of(&self, culprit: usize) -> impl Iterator<Item = u32> {
        (0..to_u32(self.culprits.len())).filter(move |&location| self.has(culprit, location))
    }
}

/// Delay costs of one location in a function.
#[derive(Clone, Copy)]
struct Account {
    line: usize,
    function: Function,
    costs: ByClass,
}

impl Account {
    fn all(&self) -> i128 {
        total(&self.costs)
    }
}

fn total(costs: &ByClass) -> i128 {
    costs.iter().fold(0, |sum: i128, &costs| sum.saturating_add(costs))
}

/// Returns the class with the largest costs; the first of equals.
fn largest(costs: &ByClass) -> DelayClass {
    let largest = DelayClass::ALL.into_iter().rev().max_by_key(|&class| costs[class as usize]);
    largest.unwrap_or(DelayClass::LateSender)
}

/// Adds costs by class.
fn add(sums: &mut ByClass, costs: &ByClass) {
    sums.iter_mut().zip(costs).for_each(|(sum, &costs)| *sum = sum.saturating_add(costs));
}

/// A group of locations that are alike, on all workers.
#[derive(Clone, Copy, Default)]
struct LocationGroup {
    locations: u64,
    costs: ByClass,
}

wire!(LocationGroup { locations, costs });

/// A location of a small group: the function, by its number among the costliest, the group, and the costs of
/// the location there.
#[derive(Clone, Copy, Debug)]
struct Alone {
    at: usize,
    group: usize,
    location: u32,
    class: DelayClass,
    costs: i128,
}

wire!(Alone { at, group, [location, class], costs });

/// Returns the culprits with the largest costs, in descending order, and their locations. A place stands out
/// if it costs a hundredth of the run of all locations, or more; `run` is that of this worker's. Unexplained
/// time in MPI counts half: often it is waiting for one of the other places. Of equals the first function
/// comes first, then the first location. Start-up and shutdown are excluded, because little can be done about
/// them; so is the work of the recorder.
///
/// # Errors
/// If a worker failed.
pub(super) fn choose(
    tools: &Tools<'_>,
    paths: &ReportPaths,
    lines: &Lines,
    run: Ticks,
    exchange: &mut dyn Exchange,
) -> Result<(Vec<Culprit>, Members), Error> {
    let accounts = accounts(tools, paths, lines);
    let most = costliest_functions(&accounts, exchange)?;
    let place = |account: &Account| {
        let at = most.iter().position(|&(function, _)| function == account.function)?;
        Some((at, (most[at].1 / account.all()).ilog2().min(to_u32(GROUPS) - 1) as usize))
    };
    let groups =
        groups(accounts.iter().filter_map(|account| Some((place(account)?, account.costs))), exchange)?;

    // A group, or one location of a small group: the culprit, the group, and the location if it is only one.
    let mut found: Vec<(Culprit, usize, Option<u32>)> = Vec::new();
    for (&(at, group), sums) in groups.iter().filter(|(_, sums)| sums.locations > FEW) {
        let culprit =
            Culprit { function: most[at].0, costs: total(&sums.costs), class: largest(&sums.costs) };
        found.push((culprit, group, None));
    }
    let is_small = |place: &(usize, usize)| groups.get(place).is_some_and(|group| group.locations <= FEW);
    let alone = accounts.iter().filter_map(|account| {
        let (at, group) = place(account).filter(is_small)?;
        let (location, class) = (lines.location(account.line), largest(&account.costs));
        Some(Alone { at, group, location, class, costs: account.all() })
    });
    let told = share(exchange, batch_of([&(run, alone.collect::<Vec<_>>())]))?;
    let mut runs: Ticks = 0;
    for batch in told {
        let (run, alone): (Ticks, Vec<Alone>) = wire::one(&batch);
        runs = runs.saturating_add(run);
        for Alone { at, group, location, class, costs } in alone {
            found.push((Culprit { function: most[at].0, costs, class }, group, Some(location)));
        }
    }
    let weight = |culprit: &Culprit| match tools.trace.is_mpi(paths.region(culprit.function)) {
        true => culprit.costs / 2,
        false => culprit.costs,
    };
    let least = whole(runs) / STANDS_OUT;
    found.retain(|(culprit, ..)| culprit.costs > 0 && culprit.costs >= least);
    found.sort_by_key(|(culprit, group, location)| (-weight(culprit), culprit.function, *group, *location));
    found.truncate(NAMED);

    let mut own = vec![Vec::new(); found.len()];
    for account in &accounts {
        let location = lines.location(account.line);
        let Some((at, group)) = place(account) else { continue };
        let is_it = |&(culprit, of, only): &(Culprit, usize, Option<u32>)| {
            (culprit.function, of) == (most[at].0, group) && only.is_none_or(|only| only == location)
        };
        if let Some(which) = found.iter().position(is_it) {
            own[which].push(location);
        }
    }
    let members = members(tools.trace.locations.len(), &own, exchange)?;
    Ok((found.into_iter().map(|(culprit, ..)| culprit).collect(), members))
}

/// Returns the costs of this worker's locations by function: locations in ascending order, functions in no
/// order.
fn accounts(tools: &Tools<'_>, paths: &ReportPaths, lines: &Lines) -> Vec<Account> {
    let trace = tools.trace;
    let is_excluded = |path: ReportPath| {
        let region = paths.region(path);
        let kind = trace.kinds.get(region as usize);
        kind.is_some_and(|kind| kind.is_init || kind.is_finalize) || trace.is_of_recorder(region)
    };
    let mut accounts: Vec<Account> = Vec::new();
    let mut places: FxHashMap<Function, usize> = FxHashMap::default();
    for line in 0..lines.len() {
        places.clear();
        let shares = lines.shares(line);
        for row in shares.rows() {
            let costs = DelayClass::ALL.map(|class| {
                let value = |metric| shares.value(metric, row);
                let [short, long] = tools.metrics.delay_costs[class as usize].map(value);
                short.saturating_add(long)
            });
            let path = lines.path(line, row);
            if total(&costs) <= 0 || is_excluded(path) {
                continue;
            }
            let function = paths.functions.of(path);
            let at = *places.entry(function).or_insert_with(|| {
                accounts.push(Account { line, function, costs: ByClass::default() });
                accounts.len() - 1
            });
            add(&mut accounts[at].costs, &costs);
        }
    }
    accounts
}

/// Returns the functions with the largest costs over all locations, each with the maximum costs of one
/// location there.
fn costliest_functions(
    accounts: &[Account],
    exchange: &mut dyn Exchange,
) -> Result<Vec<(Function, i128)>, Error> {
    fn merge(sums: &mut BTreeMap<Function, [i128; 2]>, function: Function, [all, most]: [i128; 2]) {
        let sum = sums.entry(function).or_default();
        *sum = [sum[0].saturating_add(all), sum[1].max(most)];
    }
    let mut sums = BTreeMap::new();
    accounts.iter().for_each(|account| merge(&mut sums, account.function, [account.all(); 2]));
    let sums = reduce(
        exchange,
        sums,
        |sums| batch_of([sums]),
        |sums, words| {
            let others: BTreeMap<Function, [i128; 2]> = wire::one(words);
            others.into_iter().for_each(|(function, numbers)| merge(sums, function, numbers));
        },
    )?;
    let mut all: Vec<(Function, [i128; 2])> = sums.into_iter().collect();
    all.sort_by_key(|&(function, [all, _])| (-all, function));
    all.truncate(FUNCTIONS);
    let all: BTreeMap<Function, [i128; 2]> = all.into_iter().collect();
    let words = broadcast(exchange, batch_of([&all]))?;
    let all: BTreeMap<Function, [i128; 2]> = wire::one(&words);
    Ok(all.into_iter().map(|(function, [_, largest])| (function, largest)).collect())
}

/// Returns the groups of all workers' locations, on every worker.
fn groups(
    own: impl Iterator<Item = ((usize, usize), ByClass)>,
    exchange: &mut dyn Exchange,
) -> Result<BTreeMap<(usize, usize), LocationGroup>, Error> {
    let mut groups: BTreeMap<(usize, usize), LocationGroup> = BTreeMap::new();
    for (place, costs) in own {
        let group = groups.entry(place).or_default();
        group.locations += 1;
        add(&mut group.costs, &costs);
    }
    let merge = |groups: &mut BTreeMap<(usize, usize), LocationGroup>, words: &[u64]| {
        let others: BTreeMap<(usize, usize), LocationGroup> = wire::one(words);
        for (place, other) in others {
            let group = groups.entry(place).or_default();
            group.locations += other.locations;
            add(&mut group.costs, &other.costs);
        }
    };
    let groups = reduce(exchange, groups, |groups| batch_of([groups]), merge)?;
    let words = broadcast(exchange, batch_of([&groups]))?;
    Ok(wire::one(&words))
}

/// Sends the locations of each culprit to all workers; `own` are this worker's, in ascending order.
fn members(locations: usize, own: &[Vec<u32>], exchange: &mut dyn Exchange) -> Result<Members, Error> {
    let mut words = Batch::new();
    for (which, own) in own.iter().enumerate() {
        let ranges = own.chunk_by(|one, next| one + 1 == *next);
        for range in ranges.filter_map(|range| Some(Halves(*range.first()?, *range.last()?))) {
            (which, range).put(&mut words);
        }
    }
    let mut members = Members { culprits: vec![0; locations] };
    for batch in share(exchange, words)? {
        for (which, Halves(first, last)) in wire::all::<(usize, Halves<u32, u32>)>(&batch) {
            let range: Range<usize> = first as usize..last as usize + 1;
            members.culprits[range].iter_mut().for_each(|bits| *bits |= 1 << which);
        }
    }
    Ok(members)
}
