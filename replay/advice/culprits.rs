//! Call paths whose work makes others wait, over all ranks (advice 4.1).

use model::Ticks;
use rules::{Rows, Totals, Values};

use super::Known;
use super::sums::{PathSums, Sum, WorkOfRank};
use super::tables::Tables;
use crate::error::Error;
use crate::exchange::{Exchange, share};
use crate::ids::ReportPath;
use crate::report_paths::ReportPaths;

/// A call path with what it has caused.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Culprit {
    pub path: ReportPath,
    pub sum: Sum,
    /// How many ranks there are.
    pub of_ranks: u32,
    /// What is saved on the critical path if all ranks take the mean: G_bal (advice 3.1).
    pub balance: Ticks,
}

impl Culprit {
    /// How many times the mean of all ranks the rank with most has.
    #[expect(clippy::cast_precision_loss)]
    fn ratio(&self) -> f64 {
        self.sum.most as f64 * f64::from(self.of_ranks) / self.sum.work.max(1) as f64
    }

    /// The part of its costs, by rank, that sharing it evenly saves: σ (advice 3.1); 1 if it has cost less than that, as what waits at
    /// scans and in files has no costs.
    #[expect(clippy::cast_precision_loss)]
    fn static_share(&self) -> f64 {
        let cost = self.sum.cost as f64 / f64::from(self.of_ranks.max(1));
        (self.balance as f64 / cost.max(1.0)).clamp(0.0, 1.0)
    }
}

/// All culprits, in the order of call paths.
///
/// # Errors
/// If a worker failed.
pub(super) fn find(
    known: Known<'_>,
    (work, sums): (&[WorkOfRank], &PathSums),
    ranks: u64,
    exchange: &mut dyn Exchange,
) -> Result<Vec<Culprit>, Error> {
    let chosen: Vec<ReportPath> =
        known.paths.all().filter(|&path| sums.of(path).cost > 0 || sums.of(path).on_path > 0).collect();
    let mut place = vec![usize::MAX; known.paths.len()];
    chosen.iter().enumerate().for_each(|(at, path)| place[path.index()] = at);
    // Σ cp(p, r) · (1 − x̄(p) / x(p, r)), in ticks.
    let mut saved = vec![0_i64; chosen.len()];
    for it in work.iter().flat_map(|of_rank| &of_rank.work) {
        let at = place[it.path.index()];
        if at == usize::MAX || it.work <= 0 || it.on_path == 0 {
            continue;
        }
        let mean = i128::from(sums.of(it.path).work) / i128::from(ranks.max(1));
        let more = i128::from(it.work) - mean;
        let ticks = i128::from(it.on_path) * more / i128::from(it.work);
        saved[at] = saved[at].saturating_add(i64::try_from(ticks).unwrap_or(0));
    }
    let told = share(exchange, saved.iter().map(|ticks| ticks.cast_unsigned()).collect())?;
    let of_ranks = u32::try_from(ranks).unwrap_or(u32::MAX);
    let culprit = |(at, &path): (usize, &ReportPath)| Culprit {
        path,
        sum: *sums.of(path),
        of_ranks,
        balance: told.iter().map(|words| words[at].cast_signed()).sum(),
    };
    Ok(chosen.iter().enumerate().map(culprit).collect())
}

/// Adds the rows of culprits.
pub(super) fn scan(
    paths: &ReportPaths,
    (culprits, masters): (&[Culprit], &[i64]),
    tables: Tables<'_>,
    totals: &mut Totals,
) {
    let whole = |of: &dyn Fn(&Culprit) -> i64| culprits.iter().map(of).collect::<Vec<i64>>();
    let numbers = |of: &dyn Fn(&Culprit) -> f64| culprits.iter().map(of).collect::<Vec<f64>>();
    let of_paths = whole(&|it| it.path.index() as i64);
    let regions = whole(&|it| paths.region(it.path).into());
    let cost = whole(&|it| it.sum.cost);
    let work = whole(&|it| it.sum.work);
    let most = whole(&|it| it.sum.most);
    let on_path = whole(&|it| it.sum.on_path);
    let count = whole(&|it| it.sum.ranks.into());
    let rank = whole(&|it| it.sum.rank.into());
    let ratio = numbers(&Culprit::ratio);
    let one_share = numbers(&|it| it.sum.most as f64 / it.sum.work.max(1) as f64);
    let balance = whole(&|it| it.balance);
    let static_share = numbers(&Culprit::static_share);
    let is_master: Vec<u8> = rank.iter().map(|rank| u8::from(masters.contains(rank))).collect();
    let columns = [
        Values::Whole(&of_paths),
        Values::Whole(&regions),
        // The line is that of the path.
        Values::Whole(&of_paths),
        Values::Whole(&cost),
        Values::Whole(&work),
        Values::Whole(&most),
        Values::Whole(&count),
        Values::Whole(&rank),
        Values::Numbers(&ratio),
        Values::Numbers(&one_share),
        Values::Whole(&balance),
        Values::Numbers(&static_share),
        Values::Whole(&on_path),
        Values::Flags(&is_master),
    ];
    tables.add("culprit", Rows { count: culprits.len(), columns: &columns }, totals);
}
