//! Tables of the main loop: `series`, `series_values`, `series_details`, `series_map` (structure 4).
//!
//! `series` has a row for each iteration, or for blocks of so many neighbours if there are very many. The others refer to these
//! by number, and to metrics by their place in the manifest's list of the loop.

use std::cmp::Reverse;

use details::manifest::{self, Complete, Kind, MainLoop};
use details::{Column, Table, Unit, Values};

use ::structure::Cluster;
use rustc_hash::FxHashMap;

use super::rows::encode;
use crate::fraction::{FRACTION, ONE};
use crate::int::{to_u32, to_u64, to_usize, words};
use crate::metrics::Metrics;
use crate::severity::MetricId;
use crate::structure::{
    Detail, IterationCause, IterationTotals, MetricSeries, Phase, PhaseOf, Prediction, Series, SeriesMap,
    Signature, Spread, Structure,
};
use crate::trace::Trace;
use crate::wire::Half;

/// Metrics of the map, at most: those with most ticks.
const MAPPED: usize = 16;

/// Rows of `series_details`, at most.
const DETAILS: usize = 1 << 20;

/// Stands for no kind of iterations.
const NO_KIND: u32 = u32::MAX;

/// Flags of a row of `series`: the loop is entered or left there; recording was off in it; unlike those around; stands for others.
const BORDER: u8 = 1;
const GAP: u8 = 2;
const UNLIKE: u8 = 4;
const REPRESENTATIVE: u8 = 8;

/// Makes the tables, and what the manifest says of them, at worker 0.
pub(super) fn tables(
    trace: &Trace,
    metrics: &Metrics,
    structure: &Structure,
    series: &Series,
) -> (Vec<(Table, Complete)>, MainLoop) {
    let signature = structure.signature.clone().unwrap_or_default();
    let values = &series.metrics;
    // Metrics by their place in the report.
    let place = |metric: MetricId| to_u32(values.keys().take_while(|&&known| known < metric).count());
    let (map, mapped) = map(metrics, &series.map, place);
    let tables = vec![
        (iterations(structure, series, &signature), Complete::Is(true)),
        (of_metrics(series), Complete::Is(true)),
        details(series, place),
        (map, mapped),
    ];
    let kind = |cluster: &Cluster| Kind {
        iterations: to_u64(cluster.members.len()),
        representative: to_u64(cluster.representative) + 1,
    };
    let cause = |cause: &IterationCause| manifest::IterationCause {
        iteration: cause.iteration.into(),
        location: cause.location,
        cnode: cause.path.to_half(),
        ticks: cause.costs as f64 / ONE,
        ticks_of_run: cause.costs_of_run as f64 / ONE,
    };
    let shape = series.map.shape;
    let corresponds = structure.correspondence.holds();
    let is_chosen = structure.choice.is_some() || structure.phase.is_some();
    let main_loop = MainLoop {
        of: is_chosen.then(|| structure.subject(trace)),
        iterations: to_u64(structure.iterations.len()),
        block: series.blocks.size(),
        locations: structure.locations,
        run: u64::try_from(structure.run.max(0)).unwrap_or(u64::MAX),
        crossing: if corresponds { 0 } else { structure.correspondence.crossing },
        disagreeing: structure.correspondence.disagreeing,
        metrics: values.keys().map(|&metric| metrics.list[metric].id.into()).collect(),
        kinds: signature.clusters.iter().map(kind).collect(),
        signature: signed(metrics, structure, &signature),
        trend: signature.trend,
        causes: series.causes.iter().map(cause).collect(),
        map_span: shape.span.into(),
        map_block: shape.blocks.size(),
    };
    (tables, main_loop)
}

/// What stands for the run.
fn signed(metrics: &Metrics, structure: &Structure, signature: &Signature) -> manifest::Signature {
    let name = |metric: MetricId| String::from(metrics.list[metric].id);
    if structure.signature.is_none() {
        return manifest::Signature::default();
    }
    let prediction = |of: String, it: Prediction| {
        let Prediction { measured, predicted, by_first } = it;
        manifest::Prediction { of, measured, predicted, by_first }
    };
    let times = |predictions: [Prediction; 3]| -> Vec<manifest::Prediction> {
        let names = ["elapsed".into(), name(metrics.time), name(metrics.mpi)];
        names.into_iter().zip(predictions).map(|(of, it)| prediction(of, it)).collect()
    };
    let phase = |phase: &Phase| {
        let (of, number) = match phase.of {
            PhaseOf::MainLoop => ("main loop", 0),
            PhaseOf::OtherLoop(number) => ("other loop", number),
            PhaseOf::Stretch(number) => ("stretch", number),
            PhaseOf::BetweenInstances => ("between instances", 0),
        };
        manifest::Phase {
            of: of.into(),
            number: to_u64(number) + 1,
            representative: phase.representative,
            weight: phase.weight,
            elapsed: phase.elapsed,
            time: phase.time as f64,
            mpi: phase.mpi as f64,
            share: phase.share,
            is_relevant: phase.is_relevant(),
        }
    };
    let weights = structure.signature_weights();
    let mut of_run = times(structure.run_times(&weights));
    let of_metrics = structure.run_metrics(&weights).into_iter();
    of_run.extend(of_metrics.map(|(metric, it)| prediction(name(metric), it)));
    manifest::Signature {
        phases: structure.phases(&weights).iter().map(phase).collect(),
        of_loop: times(signature.predictions),
        of_run,
    }
}

/// Table `series`.
fn iterations(structure: &Structure, series: &Series, signature: &Signature) -> Table {
    let all = &structure.iterations;
    let mut kinds = vec![NO_KIND; all.len()];
    let mut flags: Vec<u8> =
        all.iter().map(|one| (u8::from(one.is_border) * BORDER) | (u8::from(one.has_gap) * GAP)).collect();
    for (kind, cluster) in (0..).zip(&signature.clusters) {
        cluster.members.iter().for_each(|&member| kinds[member] = kind);
        flags[cluster.representative] |= REPRESENTATIVE;
    }
    signature.outliers.iter().for_each(|outlier| flags[outlier.place] |= UNLIKE);
    let mut numbers: FxHashMap<u64, u64> = FxHashMap::default();
    let word_numbers: Vec<u64> = all
        .iter()
        .map(|one| {
            let next = to_u64(numbers.len());
            *numbers.entry(one.words).or_insert(next)
        })
        .collect();
    let size = to_usize(series.blocks.size());
    let ticks = |of: &dyn Fn(&[IterationTotals]) -> i64| Values::I64(all.chunks(size).map(of).collect());
    let firsts = |numbers: &[u64]| numbers.chunks(size).map(|block| block[0]).collect::<Vec<u64>>();
    let number = |name: &str, numbers: Vec<u64>| Column::of_numbers(name, None, numbers.iter().copied());
    let begins = ticks(&|block| block.iter().map(|one| one.begin).min().unwrap_or(0));
    let ends = ticks(&|block| block.iter().map(|one| one.end).max().unwrap_or(0));
    let elapsed = ticks(&|block| block.iter().map(IterationTotals::elapsed).sum());
    let most = ticks(&|block| block.iter().map(|one| one.computation.most).max().unwrap_or(0));
    let most_at = all.chunks(size).map(|block| {
        let most = block.iter().reduce(|a, b| if b.computation.most > a.computation.most { b } else { a });
        most.map_or(u32::MAX, |one| one.computation.most_at)
    });
    let locations = all.chunks(size).map(|block| block.iter().map(|one| one.locations).max().unwrap_or(0));
    let flags = flags.chunks(size).map(|block| block.iter().fold(0, |all, flags| all | flags));
    let kinds: Vec<u64> = kinds.into_iter().map(u64::from).collect();
    Table {
        name: "series".into(),
        columns: vec![
            number("iteration", firsts(&(1..=to_u64(all.len())).collect::<Vec<u64>>())).delta(),
            Column::new("begin", Some(Unit::Tick), begins).delta(),
            Column::new("end", Some(Unit::Tick), ends).delta(),
            Column::new("elapsed", Some(Unit::Tick), elapsed),
            number("locations", locations.collect()),
            Column::new("most_computation", Some(Unit::Tick), most),
            Column::new("most_computation_location", Some(Unit::Location), Values::U32(most_at.collect())),
            number("word", firsts(&word_numbers)),
            number("kind", firsts(&kinds)),
            Column::new("flags", None, Values::U8(flags.collect())),
        ],
    }
}

/// A row of `series_values`.
struct ValueRow<'s> {
    /// The metric, by its place among those with series.
    metric: u32,
    /// Its place in the series.
    row: u32,
    spread: &'s Spread,
    has_shares: bool,
}

impl ValueRow<'_> {
    /// Whole ticks, rounded down; the nearest ones that fit.
    fn sum(&self) -> i64 {
        let ticks = if self.has_shares { self.spread.sum >> FRACTION } else { self.spread.sum };
        i64::try_from(ticks).unwrap_or(if ticks < 0 { i64::MIN } else { i64::MAX })
    }

    /// What is left of the sum.
    fn fraction(&self) -> u64 {
        let mask = (1_i128 << FRACTION) - 1;
        if self.has_shares { words((self.spread.sum & mask).cast_unsigned())[1] } else { 0 }
    }
}

/// Table `series_values`: by metric, what is outside, and each row of `series`.
fn of_metrics(series: &Series) -> Table {
    let mut rows: Vec<ValueRow<'_>> = Vec::new();
    for (metric, MetricSeries { values, has_shares, .. }) in (0..).zip(series.metrics.values()) {
        let known = (0..).zip(values).filter(|(_, spread)| spread.most_at != u32::MAX);
        rows.extend(known.map(|(row, spread)| ValueRow { metric, row, spread, has_shares: *has_shares }));
    }
    let number = |row: u32| if row == 0 { 0 } else { series.blocks.first(row as usize) };
    let values = |name: &str, of: &dyn Fn(&ValueRow<'_>) -> i64| {
        Column::new(name, None, Values::I64(rows.iter().map(of).collect()))
    };
    let locations = Values::U32(rows.iter().map(|it| it.spread.most_at).collect());
    Table {
        name: "series_values".into(),
        columns: vec![
            Column::of_numbers("metric", None, rows.iter().map(|it| it.metric.into())),
            Column::of_numbers("iteration", None, rows.iter().map(|it| number(it.row))).delta(),
            values("sum", &|it| it.sum()),
            Column::new("fraction", None, Values::U64(rows.iter().map(|it| it.fraction()).collect())),
            values("least", &|it| it.spread.least),
            values("most", &|it| it.spread.most),
            Column::new("location", Some(Unit::Location), locations),
        ],
    }
}

/// Table `series_details`: values of each location in iterations that stand for others or are unlike them.
fn details(series: &Series, place: impl Fn(MetricId) -> u32) -> (Table, Complete) {
    let all = &series.details[..];
    let kept = &all[..all.len().min(DETAILS)];
    let numbers = |name: &str, of: &dyn Fn(&Detail) -> u32| {
        let numbers: Vec<u64> = kept.iter().map(|row| of(row).into()).collect();
        Column::of_numbers(name, None, numbers.iter().copied())
    };
    let locations = Values::U32(kept.iter().map(|row| row.location).collect());
    let columns = vec![
        numbers("iteration", &|row| row.iteration),
        numbers("metric", &|row| place(row.metric)),
        Column::new("location", Some(Unit::Location), locations).delta(),
        Column::new("value", None, Values::I64(kept.iter().map(|row| row.value).collect())),
    ];
    let complete = match all.len() - kept.len() {
        0 => Complete::Is(true),
        _ => Complete::No(format!("{} of {} values: the first ones", kept.len(), all.len())),
    };
    (Table { name: "series_details".into(), columns }, complete)
}

/// Table `series_map`: ticks of groups of locations in blocks of iterations, of the metrics with most.
fn map(
    metrics: &Metrics,
    SeriesMap { shape, cells }: &SeriesMap,
    place: impl Fn(MetricId) -> u32,
) -> (Table, Complete) {
    let is_time = |metric: &&MetricId| metrics.list[**metric].unit == patterns::Unit::Seconds;
    let mut kept: Vec<(MetricId, i128)> = cells
        .keys()
        .filter(is_time)
        .map(|&metric| (metric, cells[&metric].iter().map(|&ticks| i128::from(ticks)).sum()))
        .collect();
    let all = kept.len();
    kept.sort_by_key(|&(metric, ticks)| (Reverse(ticks), metric));
    kept.truncate(MAPPED);
    kept.sort_unstable_by_key(|&(metric, _)| metric);
    let columns = shape.columns.max(1) as usize;
    type Row<'r> = (MetricId, u32, &'r [i64]);
    let rows: Vec<Row<'_>> = kept
        .iter()
        .flat_map(|&(metric, _)| {
            let of_group = cells[&metric].chunks_exact(columns);
            (0..).zip(of_group).map(move |(group, row)| (metric, group, row))
        })
        .filter(|(.., row)| row.iter().any(|&ticks| ticks != 0))
        .collect();
    let encoded = |&(.., row): &Row<'_>| {
        let mut bytes = Vec::new();
        encode(row, &mut bytes);
        bytes
    };
    let numbers = |name: &str, of: &dyn Fn(&Row<'_>) -> u32| {
        let numbers: Vec<u64> = rows.iter().map(|row| of(row).into()).collect();
        Column::of_numbers(name, None, numbers.iter().copied())
    };
    let columns = vec![
        numbers("metric", &|row| place(row.0)),
        numbers("group", &|row| row.1),
        Column::new("values", Some(Unit::Tick), Values::Bytes(rows.iter().map(encoded).collect())),
    ];
    let complete = match all - kept.len() {
        0 => Complete::Is(true),
        _ => Complete::No(format!("{} of {all} metrics: those with most ticks", kept.len())),
    };
    (Table { name: "series_map".into(), columns }, complete)
}
