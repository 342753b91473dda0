//! Call paths whose work makes others wait, over all ranks (advice 4.1).

use model::Ticks;
use rules::{ABSENT, Type};
use rustc_hash::FxHashMap;

use super::Known;
use super::bounds::Span;
use super::sums::{PathSums, Sum, WorkOfRank};
use super::table::{Field, Of, RowTable, RowsAre};
use super::when::When;
use crate::error::Error;
use crate::exchange::{Exchange, share};
use crate::ids::ReportPath;
use crate::off_cpu::{Time, beyond_others};
use crate::report_paths::ReportPaths;
use crate::severity::amount;
use crate::tools::Tools;
use crate::trace::Crowding;
use crate::walk::COMPARABLE;

/// A call path with what it has caused.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Culprit {
    pub path: ReportPath,
    pub sum: Sum,
    /// How many ranks there are.
    pub of_ranks: u32,
    /// What is saved on the critical path if all ranks take the mean: G_bal (advice 3.1).
    pub balance: Ticks,
    /// Whether its time at ranks can be compared. Samples are random, and what has too few may be time of another function.
    pub is_comparable: bool,
}

impl Culprit {
    /// How many times the mean of all ranks the rank with most has.
    #[expect(clippy::cast_precision_loss)]
    pub(super) fn ratio(&self) -> f64 {
        self.sum.most as f64 * f64::from(self.of_ranks) / self.sum.work.max(1) as f64
    }

    /// The part of its costs, by rank, that sharing it evenly saves: σ (advice 3.1); 1 if it has cost less than that, as what waits at
    /// scans and in files has no costs.
    #[expect(clippy::cast_precision_loss)]
    pub(super) fn static_share(&self) -> f64 {
        let cost = self.sum.cost as f64 / f64::from(self.of_ranks.max(1));
        (self.balance as f64 / cost.max(1.0)).clamp(0.0, 1.0)
    }
}

/// Time off the processor, preempted or blocked, of the rank with most of a call path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct OffExcess {
    /// All of it there.
    pub time: Ticks,
    /// The share of what the rank has above the mean that it explains.
    pub share: f64,
}

impl Culprit {
    /// Of that preempted, 0, or blocked, 1; `None` if no rank has more than the mean. Explained is what goes beyond the share of their
    /// time that the other ranks are off the processor there ([`beyond_others`]).
    #[expect(clippy::cast_precision_loss)]
    fn off_excess(&self, kind: usize) -> Option<OffExcess> {
        let Sum { work, most, off, off_of_most, .. } = self.sum;
        let excess = most as f64 - work as f64 / f64::from(self.of_ranks.max(1));
        let (time, others) = (off_of_most[kind], off[kind].saturating_sub(off_of_most[kind]));
        let others = Time { all: work.saturating_sub(most) as f64, off: others as f64 };
        let explained = beyond_others(Time { all: most as f64, off: time as f64 }, others);
        (excess >= 1.0).then(|| OffExcess { time, share: (explained / excess).clamp(0.0, 1.0) })
    }
}

/// All culprits, in the order of call paths.
///
/// # Errors
/// If a worker failed.
pub(super) fn find(
    known: Known<'_>,
    (work, sums): (&[WorkOfRank], &PathSums),
    span: Span,
    exchange: &mut dyn Exchange,
) -> Result<Vec<Culprit>, Error> {
    // What scans and tests wait for has no costs, and may not be on the path: it stands out among those that come there.
    let stands_out = |sum: &Sum| {
        let even = i128::from(sum.most) * i128::from(sum.ranks) - i128::from(sum.work);
        sum.cost > 0 || sum.on_path > 0 || even >= i128::from(span.run / 100).max(1)
    };
    let chosen: Vec<ReportPath> = known.paths.all().filter(|&path| stands_out(sums.of(path))).collect();
    let mut place = vec![usize::MAX; known.paths.len()];
    chosen.iter().enumerate().for_each(|(at, path)| place[path.index()] = at);
    // Σ cp(p, r) · (1 − x̄(p) / x(p, r)), in ticks.
    let mut saved = vec![0_i64; chosen.len()];
    for it in work.iter().flat_map(|of_rank| &of_rank.work) {
        let at = place[it.path.index()];
        if at == usize::MAX || it.work <= 0 || it.on_path == 0 {
            continue;
        }
        let mean = i128::from(sums.of(it.path).work) / i128::from(span.ranks.max(1));
        let more = i128::from(it.work) - mean;
        let ticks = i128::from(it.on_path) * more / i128::from(it.work);
        saved[at] = saved[at].saturating_add(i64::try_from(ticks).unwrap_or(0));
    }
    let told = share(exchange, saved.iter().map(|ticks| ticks.cast_unsigned()).collect())?;
    let of_ranks = u32::try_from(span.ranks).unwrap_or(u32::MAX);
    let has_samples = known.paths.all().any(|path| sums.of(path).samples_of_most > 0);
    let culprit = |(at, &path): (usize, &ReportPath)| Culprit {
        path,
        sum: *sums.of(path),
        of_ranks,
        balance: told.iter().map(|words| words[at].cast_signed()).sum(),
        is_comparable: !has_samples || sums.of(path).samples_of_most >= amount(COMPARABLE),
    };
    Ok(chosen.iter().enumerate().map(culprit).collect())
}

/// Says why rules that ask whether ranks can be compared are silent about a function that costs a hundredth of all time, `all`, or more:
/// it has too few samples.
pub(super) fn not_compared(
    tools: &Tools<'_>,
    paths: &ReportPaths,
    culprits: &[Culprit],
    all: i128,
) -> Option<String> {
    let matters = |it: &&Culprit| i128::from(it.sum.cost) >= (all / 100).max(1) && !it.is_comparable;
    let culprit = culprits.iter().filter(matters).max_by_key(|it| it.sum.cost)?;
    let region = tools.trace.region_name(paths.region(culprit.path));
    Some(format!(
        "rank {} has {} samples in {region}, and ranks are compared from {COMPARABLE} on; record for longer, or with more samples (--sample)",
        culprit.sum.rank, culprit.sum.samples_of_most
    ))
}

/// The column that says whether ranks can be compared.
pub(super) const COMPARABLE_COLUMN: &str = "comparable";

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct CulpritRow {
    culprit: Culprit,
    region: u32,
    is_master: bool,
    is_serial: bool,
    when: When,
    /// Of time preempted, blocked; `None` if the trace does not tell it.
    off: [Option<OffExcess>; 2],
    /// On the node of the rank with most of it; `None` if the trace does not tell it.
    crowding: Option<Crowding>,
}

impl CulpritRow {
    fn of_crowding(&self, number: fn(&Crowding) -> u64) -> i64 {
        self.crowding.as_ref().map_or(ABSENT, |it| number(it).cast_signed())
    }

    fn off_time(&self, kind: usize) -> i64 {
        self.off[kind].map_or(ABSENT, |off| off.time)
    }

    fn off_share(&self, kind: usize) -> f64 {
        self.off[kind].map_or(f64::NAN, |off| off.share)
    }
}

/// The table.
pub(super) const CULPRITS: RowTable<CulpritRow> = RowTable {
    name: "culprit",
    about: "a call path outside of MPI, over all ranks",
    rows: RowsAre::Groups,
    site: |row| (row.culprit.path, row.region),
    fields: &[
        Field {
            name: "cost",
            kind: Type::Time,
            about: "waiting that it has caused, at all ranks",
            of: Of::Whole(|it| it.culprit.sum.cost),
        },
        Field {
            name: "work",
            kind: Type::Time,
            about: "its time, of all ranks",
            of: Of::Whole(|it| it.culprit.sum.work),
        },
        Field {
            name: "most",
            kind: Type::Time,
            about: "its time at the rank with most of it",
            of: Of::Whole(|it| it.culprit.sum.most),
        },
        Field {
            name: "ranks",
            kind: Type::Count,
            about: "ranks that come there",
            of: Of::Whole(|it| it.culprit.sum.ranks.into()),
        },
        Field {
            name: "ranks.most",
            kind: Type::Rank,
            about: "the rank with most of it",
            of: Of::Whole(|it| it.culprit.sum.rank.into()),
        },
        Field {
            name: "ranks.ratio",
            kind: Type::Number,
            about: "how many times the mean of all ranks that rank has",
            of: Of::Number(|it| it.culprit.ratio()),
        },
        Field {
            name: "one_share",
            kind: Type::Number,
            about: "the share of that rank in its time",
            of: Of::Number(|it| it.culprit.sum.most as f64 / it.culprit.sum.work.max(1) as f64),
        },
        Field {
            name: "balance",
            kind: Type::Time,
            about: "what sharing it evenly saves on the critical path",
            of: Of::Whole(|it| it.culprit.balance),
        },
        Field {
            name: "static_share",
            kind: Type::Number,
            about: "the part of its costs that sharing it evenly would save",
            of: Of::Number(|it| it.culprit.static_share()),
        },
        Field {
            name: "on_path",
            kind: Type::Time,
            about: "its time on the critical path",
            of: Of::Whole(|it| it.culprit.sum.on_path),
        },
        Field {
            name: "is_master",
            kind: Type::Bool,
            about: "whether the rank with most of it hands out work to others",
            of: Of::Flag(|it| it.is_master),
        },
        Field {
            name: "serial",
            kind: Type::Bool,
            about: "whether ranks wait for it one after the other: most of what it has caused is waiting for late messages that go one way, two fifths of it at ranks that wait for others that wait",
            of: Of::Flag(|it| it.is_serial),
        },
        Field {
            name: COMPARABLE_COLUMN,
            kind: Type::Bool,
            about: "whether its time at ranks can be compared: where samples tell functions apart, the rank with most of it has 25 or more",
            of: Of::Flag(|it| it.culprit.is_comparable),
        },
        Field {
            name: "preempted",
            kind: Type::Time,
            about: "time of the rank with most of it in which others had its processor; absent where the trace does not tell it",
            of: Of::Whole(|it| it.off_time(0)),
        },
        Field {
            name: "preempted_share",
            kind: Type::Number,
            about: "the share of what it has above the mean of all that this explains: what goes beyond the share of time in which other ranks are preempted there",
            of: Of::Number(|it| it.off_share(0)),
        },
        Field {
            name: "blocked",
            kind: Type::Time,
            about: "likewise time in which it waited in the system",
            of: Of::Whole(|it| it.off_time(1)),
        },
        Field {
            name: "blocked_share",
            kind: Type::Number,
            about: "the share of what it has above the mean that this explains",
            of: Of::Number(|it| it.off_share(1)),
        },
        Field {
            name: "threads",
            kind: Type::Count,
            about: "threads of the program on the node of the rank with most of it; absent where the trace does not tell its cores",
            of: Of::Whole(|it| it.of_crowding(|it| it.threads)),
        },
        Field {
            name: "cores",
            kind: Type::Count,
            about: "cores on which the system let any of them run",
            of: Of::Whole(|it| it.of_crowding(|it| it.cores)),
        },
        Field {
            name: "long_share",
            kind: Type::Number,
            about: "the share of stretches between calls of MPI with ten times the usual work there",
            of: Of::Number(|it| it.when.long_share),
        },
        Field {
            name: "long_ranks",
            kind: Type::Count,
            about: "ranks with such stretches",
            of: Of::Whole(|it| it.when.long_ranks.into()),
        },
        Field {
            name: "long_excess",
            kind: Type::Time,
            about: "what these are longer than usual, of all ranks",
            of: Of::Whole(|it| it.when.long_excess),
        },
        Field {
            name: "usual",
            kind: Type::Time,
            about: "the usual work there of a stretch between calls of MPI, on average",
            of: Of::Whole(|it| it.when.usual),
        },
        Field {
            name: "rises",
            kind: Type::Count,
            about: "how often, of seven times, the rank with most of it has more above the mean in three tenths of the run than in those that begin one before; 0 if it is in fewer than ten stretches",
            of: Of::Whole(|it| it.when.rises.into()),
        },
        Field {
            name: "growth",
            kind: Type::Number,
            about: "how many times as much that is in the last tenth as in the first",
            of: Of::Number(|it| it.when.growth),
        },
    ],
};

/// The rows of culprits.
pub(super) fn rows(
    tools: &Tools<'_>,
    paths: &ReportPaths,
    (culprits, when, serial): (&[Culprit], &[When], &[bool]),
    masters: &[i64],
) -> Vec<CulpritRow> {
    let tells_off = tools.metrics.off_cpu.is_some();
    let mut crowding: FxHashMap<u32, Option<Crowding>> = FxHashMap::default();
    let row = |((&culprit, &when), &is_serial): ((&Culprit, &When), &bool)| CulpritRow {
        culprit,
        when,
        is_serial,
        region: paths.region(culprit.path),
        is_master: masters.contains(&culprit.sum.rank.into()),
        off: [0, 1].map(|kind| culprit.off_excess(kind).filter(|_| tells_off)),
        crowding: *crowding
            .entry(culprit.sum.rank)
            .or_insert_with(|| tools.trace.crowding_of_rank(culprit.sum.rank)),
    };
    culprits.iter().zip(when).zip(serial).map(row).collect()
}
