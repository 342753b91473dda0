//! Reports as tables: severities by metric, call path and location.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cubex::{CnodeId, LocationId, MetricId, Report};

/// The content of a report.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// All metrics: name, unit, position of the parent.
    pub(crate) metrics: Vec<(String, String, Option<usize>)>,
    /// The names along each call path.
    pub(crate) paths: Vec<String>,
    pub(crate) locations: usize,
    /// Non-zero values by metric, call path and location; exclusive along the call tree.
    pub(crate) values: BTreeMap<(usize, usize, usize), f64>,
    /// Attributes of the report.
    pub(crate) attributes: BTreeMap<String, String>,
}

/// Severities by the names of metric and call path, and location; call paths of one name are summed.
pub(crate) type Named = BTreeMap<(String, String, usize), f64>;

impl Table {
    /// Reads a report.
    pub(crate) fn read(path: &Path) -> Table {
        let report = Report::open(path).unwrap_or_else(|error| panic!("{error}"));
        let cube = report.cube();
        let mut table = Table { locations: cube.locations.len(), ..Table::default() };
        for cnode in &cube.cnodes {
            let name = &cube.regions[cnode.region.0].name;
            table.paths.push(match cnode.parent {
                Some(parent) => format!("{}/{name}", table.paths[parent.0]),
                None => name.clone(),
            });
        }
        for attribute in &cube.attributes {
            table.attributes.insert(attribute.key.clone(), attribute.value.clone());
        }
        for (at, metric) in cube.metrics.iter().enumerate() {
            let parent = metric.parent.map(|parent| parent.0);
            table.metrics.push((metric.unique_name.clone(), metric.unit.clone(), parent));
            // These have no rows.
            if metric.kind.is_derived() {
                continue;
            }
            let severities = report.severities(MetricId(at)).unwrap();
            for path in 0..cube.cnodes.len() {
                for location in 0..cube.locations.len() {
                    let value = severities.exclusive(CnodeId(path), LocationId(location));
                    // Without a value there is the neutral one.
                    if value != cube.metrics[at].data_type.neutral() {
                        table.values.insert((at, path, location), value);
                    }
                }
            }
        }
        table
    }

    /// Position of a metric.
    pub(crate) fn metric(&self, name: &str) -> Option<usize> {
        self.metrics.iter().position(|metric| metric.0 == name)
    }

    /// The value of a metric at a call path and location, zero included.
    pub(crate) fn value(&self, metric: &str, path: usize, location: usize) -> f64 {
        let metric = self.metric(metric).unwrap_or_else(|| panic!("no metric {metric}"));
        self.values.get(&(metric, path, location)).copied().unwrap_or(0.0)
    }

    /// The sum of a metric over all call paths, at a location.
    pub(crate) fn sum(&self, metric: &str, location: usize) -> f64 {
        (0..self.paths.len()).map(|path| self.value(metric, path, location)).sum()
    }

    /// Subtracts the values of a metric from those of another one.
    pub(crate) fn subtract(&mut self, from: &str, metric: &str) {
        let (Some(from), Some(metric)) = (self.metric(from), self.metric(metric)) else { return };
        let of_metric = self.values.range((metric, 0, 0)..(metric + 1, 0, 0));
        let taken: Vec<_> = of_metric.map(|(&(_, path, location), &value)| (path, location, value)).collect();
        for (path, location, value) in taken {
            *self.values.entry((from, path, location)).or_default() -= value;
        }
    }

    /// All severities by name.
    pub(crate) fn named(&self) -> Named {
        let mut named = Named::new();
        for (&(metric, path, location), value) in &self.values {
            let key = (self.metrics[metric].0.clone(), self.paths[path].clone(), location);
            *named.entry(key).or_default() += value;
        }
        named
    }

    /// The findings with their counts.
    pub(crate) fn findings(&self) -> BTreeMap<String, u64> {
        let of_findings = self.attributes.iter().filter_map(|(key, value)| {
            Some((key.strip_prefix("Replay::Findings::")?.to_owned(), value.parse().unwrap()))
        });
        of_findings.collect()
    }

    /// The findings about what was recorded: not that loops of ranks differ, as they may in random programs.
    pub(crate) fn oddities(&self) -> BTreeMap<String, u64> {
        let mut findings = self.findings();
        findings.remove("iterations do not correspond");
        findings
    }

    /// Whether a metric is one of time.
    pub(crate) fn is_time(&self, metric: &str) -> bool {
        self.metric(metric).is_some_and(|at| self.metrics[at].1 == "sec")
    }
}

/// Reference values: lines of metric, call path, location, value, separated by tabs; `#` and a metric for
/// each that is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reference {
    metrics: BTreeSet<String>,
    values: Named,
}

impl Reference {
    /// Reads a file of such lines.
    pub(crate) fn read(path: &Path) -> Reference {
        let text =
            std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut reference = Reference::default();
        for line in text.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            match fields[..] {
                ["#", metric] => {
                    reference.metrics.insert(metric.into());
                }
                [metric, path, location, value] => {
                    let key = (metric.into(), path.into(), location.parse().unwrap());
                    *reference.values.entry(key).or_default() += value.parse::<f64>().unwrap();
                }
                _ => panic!("{}: strange line {line:?}", path.display()),
            }
        }
        assert!(!reference.metrics.is_empty(), "{}: no metric", path.display());
        reference
    }

    /// Differences from `report`. Counts and bytes must be equal; seconds may differ by 2 ns and a millionth.
    pub(crate) fn differences(&self, report: &Table) -> Vec<String> {
        let ours = report.named();
        let mut differences = Vec::new();
        for metric in &self.metrics {
            let of_metric = |named: &Named| -> BTreeSet<(String, usize)> {
                let keys = named.keys().filter(|key| key.0 == *metric);
                keys.map(|key| (key.1.clone(), key.2)).collect()
            };
            let wanted = of_metric(&self.values);
            if report.metric(metric).is_none() {
                if !wanted.is_empty() {
                    differences.push(format!("{metric}: not a metric of the report"));
                }
                continue;
            }
            let keys: BTreeSet<_> = wanted.union(&of_metric(&ours)).cloned().collect();
            for (path, location) in keys {
                let key = (metric.clone(), path, location);
                let value = |named: &Named| named.get(&key).copied().unwrap_or(0.0);
                let (want, got) = (value(&self.values), value(&ours));
                let allowed = if report.is_time(metric) { 2e-9 + 1e-6 * want.abs() } else { 1e-6 };
                if (want - got).abs() > allowed {
                    differences.push(format!("{metric} {} @{location}: expected {want}, found {got}", key.1));
                }
            }
        }
        differences
    }
}
