//! When a call path makes others wait: in few long stretches, or more and more (advice 4.1, `noise` and `growing`).

use model::Ticks;

use super::Known;
use super::bounds::Span;
use super::culprits::Culprit;
use super::names::words;
use crate::causes::ComparedWork;
use crate::error::Error;
use crate::exchange::{Batch, Exchange, share};
use crate::ids::ReportPath;
use crate::tools::Tools;
use crate::what_if::RareWork;
use crate::wire::{self, Wire, wire};

/// Culprits that are looked at: those with most costs.
const LOOKED_AT: usize = 16;

/// Parts of the run.
const TENTHS: usize = 10;

/// When a culprit makes others wait. Of those that are not looked at nothing is known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct When {
    /// The share of long stretches in all, and how many ranks have some.
    pub long_share: f64,
    pub long_ranks: u32,
    /// What long stretches are longer than usual ones, of all ranks.
    pub long_excess: Ticks,
    /// How often more is waited for it in a tenth of the run than in the tenth before, and how many times as much in the last as in the
    /// first one.
    pub rises: u32,
    pub growth: f64,
}

impl Default for When {
    fn default() -> When {
        When { long_share: f64::NAN, long_ranks: 0, long_excess: 0, rises: 0, growth: f64::NAN }
    }
}

/// What a worker knows of a culprit.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    stretches: u64,
    long: u64,
    ranks: u64,
    excess: Ticks,
    /// Ticks by tenth of the run.
    tenths: [Ticks; TENTHS],
}

wire!(Told { stretches, long, ranks, excess, tenths });

/// For each culprit.
///
/// # Errors
/// If a worker failed.
#[expect(clippy::cast_precision_loss)]
pub(super) fn find(
    tools: &Tools<'_>,
    (known, span): (Known<'_>, Span),
    culprits: &[Culprit],
    exchange: &mut dyn Exchange,
) -> Result<Vec<When>, Error> {
    let mut chosen: Vec<usize> = (0..culprits.len()).collect();
    chosen.sort_by_key(|&at| (std::cmp::Reverse(culprits[at].sum.cost), culprits[at].path));
    chosen.truncate(LOOKED_AT);
    let mut told = vec![Told::default(); chosen.len()];
    let names: Vec<String> = chosen.iter().map(|&at| words(tools, known.paths, culprits[at].path)).collect();
    for (told, rare) in told.iter_mut().zip(known.timed.rare_work(tools, known.processes, &names)) {
        let RareWork { stretches, long, locations, excess } = rare;
        (told.stretches, told.long, told.ranks, told.excess) = (stretches, long, locations, excess);
    }
    let place = |path: ReportPath| chosen.iter().position(|&at| culprits[at].path == path);
    for stretch in known.stretches {
        let Some([begin, end]) = known.timed.times_of(stretch) else { continue };
        for (path, ticks) in excess_by_path(tools, known, stretch) {
            if let Some(at) = place(path) {
                add_by_tenth(&mut told[at].tenths, span, [begin, end], ticks);
            }
        }
    }
    let mut words = Batch::new();
    told.iter().for_each(|told| told.put(&mut words));
    let mut all = vec![Told::default(); chosen.len()];
    for batch in share(exchange, words)? {
        for (sum, told) in all.iter_mut().zip(wire::all::<Told>(&batch)) {
            sum.add(&told);
        }
    }
    let mut found = vec![When::default(); culprits.len()];
    for (&at, sum) in chosen.iter().zip(&all) {
        let [first, .., last] = sum.tenths;
        found[at] = When {
            long_share: if sum.stretches > 0 { sum.long as f64 / sum.stretches as f64 } else { f64::NAN },
            long_ranks: u32::try_from(sum.ranks).unwrap_or(u32::MAX),
            long_excess: sum.excess,
            rises: crate::int::to_u32(sum.tenths.windows(2).filter(|two| two[1] > two[0]).count()),
            growth: if last > 0 { last as f64 / first.max(1) as f64 } else { f64::NAN },
        };
    }
    Ok(found)
}

impl Told {
    fn add(&mut self, other: &Told) {
        self.stretches += other.stretches;
        self.long += other.long;
        self.ranks += other.ranks;
        self.excess = self.excess.saturating_add(other.excess);
        let tenths = self.tenths.iter_mut().zip(other.tenths);
        tenths.for_each(|(tenth, ticks)| *tenth = tenth.saturating_add(ticks));
    }
}

/// What a stretch has more than that of somebody who waited, by call path of the report.
fn excess_by_path(
    tools: &Tools<'_>,
    known: Known<'_>,
    stretch: &ComparedWork,
) -> impl Iterator<Item = (ReportPath, Ticks)> {
    let first = known.processes.first().map_or(0, |process| process.number);
    let at = tools.process_of(stretch.location).checked_sub(first);
    let found = at.and_then(|at| {
        let first = known.processes.get(at)?.locations.first()?.location;
        let thread = (stretch.location as usize).checked_sub(first)?;
        Some((known.results.get(at)?.severities.get(thread)?.paths(), known.paths.numbers.get(at)?))
    });
    stretch.excess.iter().filter_map(move |&(row, ticks)| {
        let (rows, numbers) = found?;
        let path = *numbers.get(rows.get(row.index())?.index())?;
        (!path.is_none() && ticks > 0).then_some((path, ticks))
    })
}

/// Divides ticks among the tenths of the run in which a stretch lies.
fn add_by_tenth(tenths: &mut [Ticks; TENTHS], span: Span, [begin, end]: [Ticks; 2], ticks: Ticks) {
    let border = |tenth: usize| {
        let ticks = i128::from(span.run) * tenth as i128 / TENTHS as i128;
        span.begin + i64::try_from(ticks).unwrap_or(Ticks::MAX)
    };
    let length = i128::from((end - begin).max(1));
    for (tenth, sum) in tenths.iter_mut().enumerate() {
        let inside = (end.min(border(tenth + 1)) - begin.max(border(tenth))).max(0);
        let part = i128::from(ticks) * i128::from(inside) / length;
        *sum = sum.saturating_add(i64::try_from(part).unwrap_or(Ticks::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_divided_among_the_tenths_that_a_stretch_lies_in() {
        let span = Span { begin: 1000, run: 100, ranks: 2, threads: 2 };
        let mut tenths = [0; TENTHS];
        add_by_tenth(&mut tenths, span, [1005, 1025], 40);
        assert_eq!(tenths, [10, 20, 10, 0, 0, 0, 0, 0, 0, 0]);
    }
}
