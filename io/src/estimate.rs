//! How long the I/O of a run takes on another system, and which system is the fastest (io.md 4.9).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::access::Kind;
use crate::family::Family;
use crate::ior::{Command, commands};
use crate::ior_json::median;
use crate::numbers::{sum, to_f64};
use crate::phase::Phase;
use crate::simple::Flushes;
use crate::systems::{Manners, Measured};

/// Two totals that differ by less are told as equal: the error of the paper.
const CLOSE: f64 = 0.1;

/// How long the I/O of a run takes on a system.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Estimate {
    /// Name of the system.
    pub system: String,
    /// T_CH in seconds of each family, by number of its first phase; `None` if nothing similar was measured.
    pub families: BTreeMap<u64, Option<f64>>,
    /// Sum of those that are known: the least that it takes if some are not.
    pub seconds: f64,
    /// Whether all are known.
    pub is_complete: bool,
}

/// Seconds for operations that move `weights` bytes at `bandwidths` bytes a second: each by its own, or, as the paper has it, all by
/// their mean.
pub fn transfer_time(weights: &[u64], bandwidths: &[f64], by_mean: bool) -> f64 {
    if by_mean && !bandwidths.is_empty() {
        let mean = bandwidths.iter().sum::<f64>() / bandwidths.iter().map(|_| 1.0).sum::<f64>();
        return to_f64(sum(weights.iter().copied())) / mean;
    }
    weights.iter().zip(bandwidths).map(|(weight, bandwidth)| to_f64(*weight) / bandwidth).sum()
}

/// The error of an estimate in per cent of bandwidths, of both times in equal units: 100 · |T_MD − T_CH| / T_CH.
pub fn relative_error(estimated: f64, measured: f64) -> f64 {
    100.0 * (measured - estimated).abs() / estimated
}

/// How long a run takes on each system of a table, in the order of their names. `by_mean` gives the paper's number for patterns of
/// several operations, which is too small whenever their bandwidths differ.
pub fn estimates(
    families: &[Family],
    phases: &[Phase],
    measured: &[Measured],
    by_mean: bool,
) -> Vec<Estimate> {
    let systems: BTreeSet<&str> = measured.iter().map(|it| it.system.as_str()).collect();
    let estimate = |system: &str| {
        let own: Vec<&Measured> = measured.iter().filter(|it| it.system == system).collect();
        let each =
            families.iter().map(|family| (family.first, estimate_family(family, phases, &own, by_mean)));
        let families: BTreeMap<u64, Option<f64>> = each.collect();
        Estimate {
            system: system.to_owned(),
            seconds: families.values().flatten().sum(),
            is_complete: families.values().all(Option::is_some),
            families,
        }
    };
    systems.into_iter().map(estimate).collect()
}

/// The systems on which a run takes least, of those whose total is known: the fastest first, then those that are within 10 % of it.
pub fn fastest(estimates: &[Estimate]) -> Vec<&Estimate> {
    let mut known: Vec<&Estimate> = estimates.iter().filter(|it| it.is_complete).collect();
    known.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    let least = known.first().map_or(0.0, |first| first.seconds);
    known.retain(|it| it.seconds <= least * (1.0 + CLOSE));
    known
}

fn estimate_family(family: &Family, phases: &[Phase], own: &[&Measured], by_mean: bool) -> Option<f64> {
    if family.weight == 0 {
        return Some(0.0);
    }
    let (commands, _) = commands(family.example(phases)?, false);
    let weight = |at: usize| sum(family.phases(phases).filter_map(|it| Some(it.positions.get(at)?.bytes)));
    let positions = family.example(phases)?.positions.len();
    // Residue of several kinds has one sum for all.
    if positions != commands.len() {
        return None;
    }
    let weights: Vec<u64> = (0..positions).map(weight).collect();
    let bandwidths: Option<Vec<f64>> = commands.iter().map(|command| bandwidth(command, own)).collect();
    Some(transfer_time(&weights, &bandwidths?, by_mean))
}

/// Bytes a second for a command: of the same kind of access only, and of the same number of tasks and size of requests, or between
/// two of each; or of a size that is less than twice as far (io.md 4.9).
fn bandwidth(command: &Command, own: &[&Measured]) -> Option<f64> {
    let manners = Manners {
        is_mpi: command.is_mpi,
        kind: command.kind,
        collective: command.collective,
        per_process: command.per_process,
        random: command.random,
        fsync: command.kind == Kind::Write && command.flushes != Flushes::None,
    };
    let mut by_tasks: BTreeMap<u64, BTreeMap<u64, Vec<f64>>> = BTreeMap::new();
    for it in own.iter().filter(|it| it.manners == manners) {
        by_tasks.entry(it.np).or_default().entry(it.transfer).or_default().push(it.bandwidth);
    }
    let of_tasks = |(np, sizes): (u64, BTreeMap<u64, Vec<f64>>)| {
        let sizes = sizes.into_iter().map(|(size, mut runs)| (size, median(&mut runs))).collect();
        let near = |(size, rate): (u64, f64)| {
            let (low, high) =
                (u128::from(size.min(command.transfer)), u128::from(size.max(command.transfer)));
            (high < 2 * low).then_some(rate)
        };
        Some((np, between(&sizes, command.transfer, near)?))
    };
    let rates: BTreeMap<u64, f64> = by_tasks.into_iter().filter_map(of_tasks).collect();
    between(&rates, command.tasks, |_| None)
}

/// The value at a place: of it, or between those of two neighbours, linear in logarithms; or what is made of the only neighbour.
fn between(values: &BTreeMap<u64, f64>, at: u64, beyond: impl Fn((u64, f64)) -> Option<f64>) -> Option<f64> {
    let low = values.range(..=at).next_back().map(|(at, value)| (*at, *value));
    let high = values.range(at..).next().map(|(at, value)| (*at, *value));
    match (low, high) {
        (Some((low, value)), Some((high, _))) if low == high => Some(value),
        (Some((low, value)), Some((high, other))) => {
            let [low, high, at] = [low, high, at].map(|place| to_f64(place).ln());
            let share = (at - low) / (high - low);
            Some((value.ln() * (1.0 - share) + other.ln() * share).exp())
        }
        (Some(only), None) | (None, Some(only)) => beyond(only),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_tables_come_out() {
        // Class D on 64 ranks: weight and times of writing and reading on both configurations.
        let weight = 135_834_624_000_u64;
        let rate = |seconds: f64| to_f64(weight) / seconds / 1e6;
        let rates = [1167.40, 2868.51, 932.36, 844.42].map(|seconds| (rate(seconds) * 10.0).round() / 10.0);
        assert_eq!(rates, [116.4, 47.4, 145.7, 160.9]);
        let error = |estimated, measured| (relative_error(estimated, measured) * 100.0).round() / 100.0;
        assert_eq!((error(1167.40, 1153.05), error(2868.51, 2984.75)), (1.23, 4.05));
        let total = |system: &str, seconds| Estimate {
            system: system.to_owned(),
            families: BTreeMap::new(),
            seconds,
            is_complete: true,
        };
        let both = [total("A", 1167.40 + 2868.51), total("Finisterrae", 932.36 + 844.42)];
        assert_eq!(both.clone().map(|it| (it.seconds * 100.0).round() / 100.0), [4035.91, 1776.78]);
        let names = |list: &[Estimate]| fastest(list).iter().map(|it| it.system.clone()).collect::<Vec<_>>();
        assert_eq!(names(&both), ["Finisterrae"]);
        assert_eq!(names(&[total("A", 109.0), total("B", 100.0), total("C", 111.0)]), ["B", "A"]);
        assert_eq!(names(&[Estimate { is_complete: false, ..total("A", 1.0) }]), [""; 0]);
    }

    #[test]
    fn the_mean_of_bandwidths_is_too_fast() {
        let time = |by_mean| transfer_time(&[1_000_000_000; 2], &[1e8, 2e8], by_mean);
        assert_eq!((time(false), (time(true) * 100.0).round() / 100.0), (15.0, 13.33));
        assert_eq!(transfer_time(&[], &[], true), 0.0);
    }

    #[test]
    fn values_between_are_linear_in_logarithms() {
        let values = BTreeMap::from([(4, 100.0), (16, 400.0)]);
        let at = |place| between(&values, place, |_| None).map(f64::round);
        assert_eq!([2, 4, 8, 16, 17].map(at), [None, Some(100.0), Some(200.0), Some(400.0), None]);
    }

    #[test]
    fn numbers_are_never_of_another_kind_of_access() {
        let manners = Manners {
            is_mpi: true,
            kind: Kind::Write,
            collective: false,
            per_process: false,
            random: false,
            fsync: false,
        };
        let line = |np, transfer, bandwidth| Measured {
            system: "A".to_owned(),
            manners,
            np,
            nodes: None,
            transfer,
            block: None,
            segments: None,
            bandwidth,
            runs: None,
            source: String::new(),
        };
        let command = Command {
            is_mpi: true,
            kind: Kind::Write,
            tasks: 8,
            block: 1000,
            transfer: 1000,
            segments: 1,
            collective: false,
            per_process: false,
            random: false,
            reorder: false,
            flushes: Flushes::None,
            manner: crate::simple::Manner::default(),
        };
        let rate =
            |lines: &[Measured]| bandwidth(&command, &lines.iter().collect::<Vec<_>>()).map(f64::round);
        assert_eq!(rate(&[line(8, 1000, 5.0), line(8, 1000, 7.0), line(8, 1000, 100.0)]), Some(7.0));
        assert_eq!(rate(&[line(8, 501, 5.0)]), Some(5.0));
        assert_eq!(rate(&[line(8, 500, 5.0)]), None);
        assert_eq!(rate(&[line(8, 250, 100.0), line(8, 4000, 400.0)]), Some(200.0));
        assert_eq!(rate(&[line(4, 1000, 100.0), line(16, 1000, 400.0)]), Some(200.0));
        assert_eq!(rate(&[line(16, 1000, 400.0)]), None);
        let other = Measured { manners: Manners { collective: true, ..manners }, ..line(8, 1000, 5.0) };
        assert_eq!(rate(&[other]), None);
    }
}
