//! Rows of one call path: the severities of all metrics, at some neighbouring locations of a worker.
//!
//! Measured severities are fetched from each location; then come the derived metrics, each behind those that
//! it is computed from. Nothing larger is ever stored: there may be very many call paths and locations.

use std::ops::Range;

use super::locations::{Locations, ReportLocation, RunRows};
use super::numbers::Numbers;
use crate::formulas::Formula;
use crate::ids::ReportPath;
use crate::imbalance::{ImbalancePart, Own};
use crate::metrics::Metrics;
use crate::severity::MetricId;

/// Maximum number of locations at a time: their data of the next call paths stays in a cache meanwhile.
pub(super) const WIDTH: usize = 128;

/// The rows of a call path at some locations.
#[derive(Debug)]
pub(super) struct Rows<'r> {
    all: &'r Locations<'r>,
    /// Positions among the worker's locations.
    pub(super) locations: Range<usize>,
    /// A call path of the report.
    pub(super) path: ReportPath,
    /// By metric.
    numbers: Vec<Numbers>,
    /// The metrics of which numbers may not be zero, in any order.
    metrics: Vec<MetricId>,
    /// Numbers of states, by location; `None` where there is no value.
    states: Vec<(MetricId, Vec<Option<f64>>)>,
}

/// Splits a range into chunks of a length; the last one may be shorter.
pub(super) fn chunks(range: Range<usize>, length: usize) -> impl Iterator<Item = Range<usize>> {
    range.clone().step_by(length).map(move |first| first..range.end.min(first + length))
}

impl Locations<'_> {
    /// Calls `with` for the rows of some call paths at some locations: at each location in ascending order of
    /// call paths.
    pub(super) fn each_row(
        &self,
        paths: &Range<ReportPath>,
        among: Range<usize>,
        mut with: impl FnMut(&Rows<'_>),
    ) {
        for locations in chunks(among, WIDTH) {
            let mut runs = self.runs(paths.start, &locations);
            let numbers = vec![Numbers::Zero; self.metrics.list.len()];
            let (path, metrics, states) = (paths.start, Vec::new(), Vec::new());
            let mut rows = Rows { all: self, locations, path, numbers, metrics, states };
            for path in paths.start.until(paths.end) {
                rows.path = path;
                rows.metrics.drain(..).for_each(|metric| rows.numbers[metric] = Numbers::Zero);
                rows.states.clear();
                rows.fetch(&mut runs);
                rows.follow();
                rows.add_idle_time();
                rows.compare();
                with(&rows);
            }
        }
    }
}

impl<'r> Rows<'r> {
    /// Returns the rows that are not zero, each with its metric.
    pub(super) fn list(&self) -> impl Iterator<Item = (MetricId, &Numbers)> {
        let rows = self.metrics.iter().map(|&metric| (metric, &self.numbers[metric]));
        rows.filter(|(_, numbers)| !numbers.are_zero())
    }

    /// Returns the numbers of states by location, each with its metric; `None` where there is no value.
    pub(super) fn states(&self) -> impl Iterator<Item = (MetricId, &[Option<f64>])> {
        self.states.iter().map(|(metric, numbers)| (*metric, numbers.as_slice()))
    }

    /// Calls `with` for the computation of each location that is compared with others, and whether it has
    /// visits there; with its position among the numbers.
    pub(super) fn each_work(&self, mut with: impl FnMut(usize, Own)) {
        let is_parallel = self.all.is_parallel[self.path.index()];
        let Metrics { computation, visits, .. } = *self.all.metrics;
        let [computation, visits] = [computation, visits].map(|metric| self.numbers[metric].whole());
        let work = computation.iter().zip(visits).map(|(&computation, &visits)| Own {
            path: self.path,
            is_parallel,
            computation,
            comes: visits != 0,
        });
        for (at, (own, location)) in work.zip(self.locations()).enumerate() {
            if location.participates[usize::from(is_parallel)] {
                with(at, own);
            }
        }
    }

    fn locations(&self) -> &'r [ReportLocation<'r>] {
        &self.all.list[self.locations.clone()]
    }

    /// Sets the numbers of a metric that has none.
    fn set(&mut self, metric: MetricId, numbers: Numbers) {
        if !matches!(numbers, Numbers::Zero) {
            self.metrics.push(metric);
            self.numbers[metric] = numbers;
        }
    }

    /// Returns the numbers of a metric, of which some will not be zero.
    #[inline]
    fn some(&mut self, metric: MetricId) -> &mut Numbers {
        if matches!(self.numbers[metric], Numbers::Zero) {
            self.metrics.push(metric);
        }
        &mut self.numbers[metric]
    }

    /// Fetches the severities that are stored for locations.
    fn fetch(&mut self, runs: &mut [RunRows<'_>]) {
        let width = self.locations.len();
        for run in runs {
            let Some(row) = run.next_row(self.path) else { continue };
            let first = run.locations.start - self.locations.start;
            for (metric, columns) in &run.columns {
                let column = |column: &&[i64]| column.get(row.index()).copied().unwrap_or(0);
                self.some(*metric).put_all(first, width, columns.iter().map(column));
            }
            for (at, location) in (first..).zip(run.list) {
                let (whole, shares) = location.severities.records();
                whole.each(row, |metric, number| {
                    if number != 0 {
                        self.some(metric).put(at, width, number);
                    }
                });
                shares.each(row, |metric, share| {
                    if share != 0 {
                        self.some(metric).put_share(at, width, share);
                    }
                });
                location.severities.states().each(row, |metric, number| {
                    if number.is_some() {
                        self.put_state(metric, at, number);
                    }
                });
            }
        }
    }

    /// Sets the number of a state at a place.
    fn put_state(&mut self, metric: MetricId, place: usize, number: Option<f64>) {
        let at = self.states.iter().position(|(known, _)| *known == metric).unwrap_or_else(|| {
            self.states.push((metric, vec![None; self.locations.len()]));
            self.states.len() - 1
        });
        self.states[at].1[place] = number;
    }

    /// Computes the derived metrics: those of which a part is not zero.
    fn follow(&mut self) {
        let formulas = self.all.formulas;
        let (paths, path) = (self.all.paths, self.path);
        let on_path =
            || std::iter::successors(Some(path), |&path| paths.parent(path)).map(|path| paths.region(path));
        let mut next = self.metrics.iter().fold(0, |next, &metric| next | formulas.followers(metric));
        while next != 0 {
            let metric = formulas.order()[next.trailing_zeros() as usize];
            next &= next - 1;
            let are_shares = formulas.has_fractions(metric);
            let (mut sum, parts, is_without) = match formulas.of(metric) {
                Formula::Selected(of, regions) => match formulas.counted_for(*of, on_path()) {
                    Some(region) if regions.holds(region) => (self.numbers[*of].clone(), &[][..], false),
                    _ => continue,
                },
                Formula::Sum(parts) => (Numbers::Zero, &parts[..], false),
                Formula::Rest(all, without) => (self.numbers[*all].clone(), &without[..], true),
                Formula::Measured | Formula::Shares => continue,
            };
            parts.iter().for_each(|&part| sum.add(&self.numbers[part], is_without, are_shares));
            if !matches!(sum, Numbers::Zero) {
                next |= formulas.followers(metric);
            }
            self.set(metric, sum);
        }
    }

    /// Adds the idle time of threads, on top of the measured time. No other metric is derived from it.
    fn add_idle_time(&mut self) {
        if !self.all.has_idle {
            return;
        }
        let (mut all, mut limited) = (Numbers::Zero, Numbers::Zero);
        let width = self.locations.len();
        for (at, location) in self.locations().iter().enumerate() {
            let Some(idle) = &location.idle else { continue };
            let [outside, inside] = [&idle.outside[..], &idle.limited].map(|times| {
                times.binary_search_by_key(&self.path, |time| time.0).map_or(0, |found| times[found].1)
            });
            all.put(at, width, outside + inside);
            limited.put(at, width, inside);
        }
        let Metrics { time, idle_threads, limited_parallelism, .. } = *self.all.metrics;
        if !all.are_zero() {
            self.some(time).add(&all, false, false);
        }
        self.set(idle_threads, all);
        self.set(limited_parallelism, limited);
    }

    /// Computes the deviation of locations from the mean of all, at all call paths where they are compared.
    fn compare(&mut self) {
        let Some(computed) = self.all.computed else { return };
        let width = self.locations.len();
        let mut parts = ImbalancePart::ALL.map(|_| Numbers::Zero);
        self.each_work(|at, own| {
            let value = computed.value(own);
            computed.parts(own).for_each(|part| parts[part as usize].put_share(at, width, value));
        });
        for (metric, numbers) in self.all.metrics.imbalance.into_iter().zip(parts) {
            self.set(metric, numbers);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call_tree::NO_SITE;
    use crate::formulas::Formulas;
    use crate::functions::Functions;
    use crate::ids::{PathId, Row};
    use crate::imbalance::{ComputationTotal, Totals};
    use crate::options::Semantics;
    use crate::report::locations::IdleTime;
    use crate::report_paths::{Node, ReportPaths};
    use crate::severity::Severities;
    use crate::trace::{Trace, tests::world};

    /// Returns the rows of two call paths at two locations, as text. The first location has time 5 and 3
    /// there, and idle time; the second one visits only the second call path, has time 7 there, and sends 9
    /// bytes.
    fn rows(metrics: &[&str], computed: Option<&Totals>) -> Vec<String> {
        let trace = Trace::new(world(&[0]), Semantics::Corrected).unwrap();
        let all = Metrics::new(true, Semantics::Corrected);
        let formulas = Formulas::new(&trace, &all);
        let [first, second, end] = [0, 1, 2].map(ReportPath::new);
        let nodes =
            [ReportPath::NONE, first].map(|parent| Node { parent, region: 0, site: NO_SITE }).to_vec();
        let functions = Functions::new(&trace, &nodes);
        let paths = ReportPaths { nodes, numbers: Vec::new(), functions };
        let mut severities = [Severities::default(), Severities::default()];
        severities.iter_mut().zip([vec![5, 3], vec![7]]).for_each(|(severities, times)| {
            (2 - times.len()..2).for_each(|path| _ = severities.row(PathId::new(path)));
            severities.set_column(all.visits, vec![1; times.len()]);
            severities.set_column(all.time, times);
        });
        severities[1].add(all.bytes_sent, Row::default(), 9);
        let idle = IdleTime { outside: [(second, 10)].into(), limited: vec![(first, 2)] };
        let numbers = [first, second];
        let location = |severities, idle| {
            let idle: Option<IdleTime> = idle;
            ReportLocation {
                severities,
                numbers: &numbers,
                idle: idle.map(Box::new),
                participates: [true, true],
            }
        };
        let list = vec![location(&severities[0], Some(idle)), location(&severities[1], None)];
        let mut locations = Locations::of(list, &all, &formulas, &paths);
        locations.computed = computed;
        let mut texts = vec![String::new(); metrics.len()];
        locations.each_row(&(first..end), 0..2, |rows| {
            for (text, name) in texts.iter_mut().zip(metrics) {
                let found = rows.list().find(|(metric, _)| all.list[*metric].id == *name);
                let numbers = found.map(|(_, numbers)| numbers.long(false).into_owned());
                *text += &format!("{:?}:{:?} ", rows.path, numbers.unwrap_or_default());
            }
        });
        texts
    }

    #[test]
    fn rows_have_the_numbers_of_all_locations_and_what_follows_from_them() {
        assert_eq!(rows(&["visits"], None), ["0:[1, 0] 1:[1, 1] "]);
        let sums = ["0:[] 1:[0, 9] "; 3];
        assert_eq!(rows(&["bytes_sent", "bytes_p2p", "bytes"], None), sums);
        assert_eq!(rows(&["omp_time", "bytes_rcvd"], None), ["0:[] 1:[] "; 2]);
    }

    #[test]
    fn idle_time_is_on_top_of_time_and_of_nothing_else() {
        let times = ["0:[7, 0] 1:[13, 7] ", "0:[2, 0] 1:[10, 0] ", "0:[2, 0] 1:[] "];
        assert_eq!(rows(&["time", "omp_idle_threads", "omp_limited_parallelism"], None), times);
        assert_eq!(rows(&["execution"], None), ["0:[5, 0] 1:[3, 7] "]);
    }

    #[test]
    fn who_does_not_come_is_below_the_mean() {
        let mut paths = vec![ComputationTotal::default(); 2];
        paths[0].add(4, 1);
        paths[1].add(0, 2);
        let computed = Totals { paths, participants: [2, 2] };
        let half = |number: i128| number << crate::fraction::FRACTION;
        let texts = rows(&["imbalance_below", "imbalance_below_bypass"], Some(&computed));
        assert!(texts.iter().all(|text| text.starts_with(&format!("0:[0, {}] ", half(2)))), "{texts:?}");
    }
}
