//! A first look at all that the locations of a worker have, one location after the other: what they computed, and where they
//! have anything at all.

use super::rows::Signs;
use super::source::{Source, Sources};
use crate::imbalance::{Spread, Totals};

/// What a first look tells.
#[derive(Debug)]
pub(super) struct Survey {
    /// What the locations computed together.
    pub(super) totals: Totals,
    /// By call path of the report, the least and the most that any of them computed.
    pub(super) spreads: Vec<Spread>,
    /// What they have by themselves.
    pub(super) signs: Signs,
}

impl Survey {
    pub(super) fn new(sources: &Sources<'_>) -> Survey {
        let (metrics, paths) = (sources.metrics.list.len(), sources.paths.len());
        let mut survey = Survey {
            totals: Totals { paths: vec![Default::default(); paths], participants: sources.participants() },
            spreads: vec![Spread::default(); paths],
            signs: Signs::new(metrics, paths),
        };
        for run in &sources.alike {
            let paths: Vec<u32> = sources.list[run.start].paths().collect();
            // By metric that most rows have: the bits of all values, which tell zero and the sign.
            let mut bits = vec![Vec::new(); metrics];
            for source in &sources.list[run.clone()] {
                survey.add_work(sources, source, &paths);
                for (metric, column) in source.severities.dense_columns() {
                    add_bits(&mut bits[metric], column);
                }
                let (whole, shares) = source.severities.records();
                let signs = &mut survey.signs;
                whole.each(|row, metric, value| signs.add(metric, paths[row as usize], value.into()));
                shares.each(|row, metric, value| signs.add(metric, paths[row as usize], value));
            }
            for (metric, bits) in bits.iter().enumerate() {
                paths.iter().zip(bits).for_each(|(&path, &bits)| survey.signs.add(metric, path, bits.into()));
            }
        }
        survey
    }

    /// Adds what a location computed, and whether it came; `paths` are those of its rows.
    fn add_work(&mut self, sources: &Sources<'_>, source: &Source<'_>, paths: &[u32]) {
        let metrics = sources.metrics;
        let [times, visits] = [metrics.time, metrics.visits].map(|metric| source.severities.dense(metric));
        let of_row = |column: &[i64], row: usize| column.get(row).copied().unwrap_or(0);
        let weighed = |(row, &path): (usize, &u32)| {
            of_row(times, row).saturating_mul(sources.weights[path as usize].into())
        };
        let mut work: Vec<i64> = paths.iter().enumerate().map(weighed).collect();
        for &(metric, weight) in &sources.recorded_work {
            for (row, value) in source.severities.records().0.of_metric(metric) {
                let work = &mut work[row as usize];
                *work = work.saturating_add(weight.saturating_mul(value));
            }
        }
        for (row, (&path, ticks)) in paths.iter().zip(work).enumerate() {
            let path = path as usize;
            if source.participates[usize::from(sources.is_parallel[path])] {
                self.totals.paths[path].add(ticks.into(), (of_row(visits, row) != 0).into());
                self.spreads[path].add(ticks);
            }
        }
    }
}

/// Adds the bits of a column to those of others.
fn add_bits(all: &mut Vec<i64>, column: &[i64]) {
    if all.len() < column.len() {
        all.resize(column.len(), 0);
    }
    all.iter_mut().zip(column).for_each(|(all, &value)| *all |= value);
}
