//! Series: times of each iteration over all locations (structure 3.1).

use model::Ticks;
use structure::{Cluster, Features, Outlier};

use super::agree::{Agreed, LocationIterations};
use super::prediction::{self, Prediction};
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Exchange, reduce};
use crate::fraction::whole_part;
use crate::int::to_usize;
use crate::wire::{Wire, batch_of, wire};

/// Most clusters of iterations.
const CLUSTERS: usize = 10;

/// A quantity of an iteration, over all locations that have it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spread {
    /// Over all.
    pub sum: i128,
    /// At the location that has least.
    pub least: i64,
    /// At the location that has most, and which that is: the first of equals.
    pub most: i64,
    /// That location.
    pub most_at: u32,
}

wire!(Spread { sum, least, most, most_at });

impl Spread {
    /// Nothing yet: of no location.
    pub const NONE: Spread = Spread { sum: 0, least: i64::MAX, most: i64::MIN, most_at: u32::MAX };

    pub(super) fn add(&mut self, location: u32, value: i64) {
        self.merge(&Spread { sum: value.into(), least: value, most: value, most_at: location });
    }

    /// Adds a share of ticks: only the sum keeps fractions.
    pub(super) fn add_share(&mut self, location: u32, share: i128) {
        let ticks = whole_part(share);
        self.merge(&Spread { sum: share, least: ticks, most: ticks, most_at: location });
    }

    /// Adds that of later locations.
    pub(super) fn merge(&mut self, other: &Spread) {
        self.sum += other.sum;
        self.least = self.least.min(other.least);
        if other.most > self.most {
            (self.most, self.most_at) = (other.most, other.most_at);
        }
    }
}

/// An iteration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IterationTotals {
    /// When the first location began it.
    pub begin: Ticks,
    /// When the last one did.
    pub last_begin: Ticks,
    /// When the last one ended it.
    pub end: Ticks,
    /// Locations with it.
    pub locations: u64,
    /// Ticks in it.
    pub time: Spread,
    /// Ticks in MPI.
    pub mpi: Spread,
    /// Ticks outside of MPI.
    pub computation: Spread,
    /// Hash of its words at all locations.
    pub words: u64,
    /// Whether an instance of the loop begins or ends with it at a location.
    pub is_border: bool,
    /// Whether recording was off in between at a location.
    pub has_gap: bool,
}

wire!(IterationTotals {
    begin,
    last_begin,
    end,
    locations,
    time,
    mpi,
    computation,
    words,
    is_border,
    has_gap
});

impl IterationTotals {
    const NONE: IterationTotals = IterationTotals {
        begin: Ticks::MAX,
        last_begin: Ticks::MIN,
        end: Ticks::MIN,
        locations: 0,
        time: Spread::NONE,
        mpi: Spread::NONE,
        computation: Spread::NONE,
        words: 0,
        is_border: false,
        has_gap: false,
    };

    /// How much later the last location is through: ticks from the last begin to the last end; 0 if no location has it. Those of
    /// an instance add up to its own.
    pub fn elapsed(&self) -> Ticks {
        if self.locations == 0 { 0 } else { self.end - self.last_begin }
    }

    /// Adds that of later locations.
    fn merge(&mut self, other: &IterationTotals) {
        self.begin = self.begin.min(other.begin);
        self.last_begin = self.last_begin.max(other.last_begin);
        self.end = self.end.max(other.end);
        self.locations += other.locations;
        self.time.merge(&other.time);
        self.mpi.merge(&other.mpi);
        self.computation.merge(&other.computation);
        self.words = self.words.wrapping_add(other.words);
        self.is_border |= other.is_border;
        self.has_gap |= other.has_gap;
    }
}

/// All iterations, from number 1 on; of all locations on worker 0.
///
/// # Errors
/// If a worker failed.
pub(super) fn series(agreed: &Agreed, exchange: &mut dyn Exchange) -> Result<Vec<IterationTotals>, Error> {
    let mut all = totals(&[(&agreed.locations, to_usize(agreed.iterations))], exchange)?;
    Ok(all.pop().unwrap_or_default())
}

/// Of several loops so many iterations of locations, from number 1 on; of all locations on worker 0.
///
/// # Errors
/// If a worker failed.
pub(super) fn totals(
    loops: &[(&[LocationIterations], usize)],
    exchange: &mut dyn Exchange,
) -> Result<Vec<Vec<IterationTotals>>, Error> {
    let of_loop = |&(lines, iterations): &(&[LocationIterations], usize)| {
        let mut all = vec![IterationTotals::NONE; iterations];
        lines.iter().for_each(|line| add(line, &mut all));
        all
    };
    let all: Vec<Vec<IterationTotals>> = loops.iter().map(of_loop).collect();
    let encode = |all: &Vec<Vec<IterationTotals>>| batch_of(all.iter().flatten());
    reduce(exchange, all, encode, |all, batch| {
        let mut reader = BatchReader::new(batch);
        all.iter_mut().flatten().for_each(|one| one.merge(&IterationTotals::get(&mut reader)));
    })
}

/// Adds the iterations of a location.
fn add(line: &LocationIterations, all: &mut [IterationTotals]) {
    let mut open: Option<(usize, IterationTotals)> = None;
    let mut put = |open: Option<(usize, IterationTotals)>| {
        if let Some((number, one)) = open
            && let Some(place) = number.checked_sub(1)
            && let Some(all) = all.get_mut(place)
        {
            all.merge(&one);
        }
    };
    for (place, (own, &word)) in line.own.iter().zip(line.words.iter()).enumerate() {
        let Some(number) = line.number(place).and_then(|number| usize::try_from(number).ok()) else {
            continue;
        };
        let mut one = IterationTotals {
            begin: own.begin,
            last_begin: own.begin,
            end: own.end,
            locations: 1,
            words: mixed(u64::from(line.location) << 32 | u64::from(word)),
            is_border: own.is_border,
            has_gap: own.has_gap,
            ..IterationTotals::NONE
        };
        let (mut time, mut in_mpi) = (own.end - own.begin, own.in_mpi);
        // Several of its own may be one.
        match open.take() {
            Some((before, part)) if before == number => {
                (one.begin, one.last_begin) = (part.begin, part.begin);
                one.words = one.words.wrapping_add(part.words.rotate_left(1));
                one.is_border |= part.is_border;
                one.has_gap |= part.has_gap;
                (time, in_mpi) = (time + part.time.most, in_mpi + part.mpi.most);
            }
            before => put(before),
        }
        one.time.add(line.location, time);
        one.mpi.add(line.location, in_mpi);
        one.computation.add(line.location, time - in_mpi);
        open = Some((number, one));
    }
    put(open);
}

fn mixed(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb)
}

/// Iterations that stand for others, and those unlike the others (structure 3.3, 3.5).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Signature {
    /// Iterations that are alike; members and representatives are numbers less 1.
    pub clusters: Vec<Cluster>,
    /// How far from each other members may be.
    pub distance: f64,
    /// By place: number less 1.
    pub outliers: Vec<Outlier>,
    /// Relative change of the elapsed time over the run.
    pub trend: Option<f64>,
    /// Elapsed time, time and time in MPI of all iterations, in this order: measured, and as predicted from representatives.
    pub predictions: [Prediction; 3],
}

/// Sorts iterations into at most so many kinds; returns how far from each other members may be, and the kinds.
pub(super) fn kinds(all: &[IterationTotals], most: usize) -> (f64, Vec<Cluster>) {
    let columns: Vec<[f64; 3]> =
        all.iter().map(|one| [one.elapsed() as f64, one.time.sum as f64, one.mpi.sum as f64]).collect();
    let locations = all.iter().map(|one| one.locations).max().unwrap_or(0) as f64;
    let mean = columns.iter().map(|column| column[1]).sum::<f64>() / all.len() as f64;
    let feature = |&[elapsed, time, mpi]: &[f64; 3]| [time / mean, mpi / mean, elapsed * locations / mean];
    let features: Vec<Features> = columns.iter().map(feature).collect();
    let mut known = std::collections::BTreeMap::new();
    let mut class = |words: u64| {
        let next = known.len();
        crate::int::to_u32(*known.entry(words).or_insert(next))
    };
    let classes: Vec<u32> = all.iter().map(|one| class(one.words)).collect();
    structure::clusters(&features, &classes, most)
}

/// Finds iterations that stand for others; `None` of fewer than three. `error` is the error of the clocks in ticks.
pub fn signature(all: &[IterationTotals], error: Ticks) -> Option<Signature> {
    if all.len() < 3 || all.iter().any(|one| one.locations == 0) {
        return None;
    }
    let (distance, clusters) = kinds(all, CLUSTERS);
    let predictions = prediction::of_iterations(all, &prediction::weights(&clusters));
    let inner: Vec<usize> = (0..all.len()).filter(|&at| !all[at].is_border).collect();
    let elapsed: Vec<Ticks> = inner.iter().map(|&at| all[at].elapsed()).collect();
    let outliers = structure::outliers(&elapsed, error);
    let outliers =
        outliers.into_iter().map(|outlier| Outlier { place: inner[outlier.place], ..outlier }).collect();
    Some(Signature { predictions, clusters, distance, outliers, trend: structure::trend(&elapsed) })
}
