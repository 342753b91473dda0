//! Reports: severities by metric, call path and rank, and source locations of call paths.

use cubex::{CnodeId, LocationId, MetricId, Report, Severities};
use replay::findings::{Finding, FindingClass};
use std::collections::BTreeMap;
use std::path::Path;

/// A report and the names of its call paths.
#[derive(Debug)]
pub(crate) struct NamedReport {
    report: Report,
    /// The names along each call path, without enclosing scopes, template arguments and parameters.
    paths: Vec<String>,
}

/// A source location: file name without folders, and line.
pub(crate) type SourceLine = (String, u32);

impl NamedReport {
    /// Reads the report of an analysis.
    pub(crate) fn read(experiment: &Path) -> NamedReport {
        let report = Report::open(experiment.join("trace.cubex")).unwrap_or_else(|error| panic!("{error}"));
        let cube = report.cube();
        let mut paths: Vec<String> = Vec::new();
        for cnode in &cube.cnodes {
            let parent = cnode.parent.map_or("", |parent| paths[parent.0].as_str());
            paths.push(format!("{parent}/{}", simple(&cube.regions[cnode.region.0].name)));
        }
        NamedReport { report, paths }
    }

    /// Whether it has a metric.
    pub(crate) fn has(&self, metric: &str) -> bool {
        self.report.cube().metrics.iter().any(|definition| definition.unique_name == metric)
    }

    /// Number of locations: one per rank, for programs without threads.
    pub(crate) fn locations(&self) -> usize {
        self.report.cube().locations.len()
    }

    /// The call paths that end with these names, at this source location.
    pub(crate) fn paths(&self, end: &str, place: &SourceLine) -> Vec<CnodeId> {
        let all = (0..self.paths.len()).map(CnodeId);
        all.filter(|&path| is_end(end, &self.paths[path.0]) && self.place(path).as_ref() == Some(place))
            .collect()
    }

    /// The call paths that satisfy a condition.
    pub(crate) fn select(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<CnodeId> {
        (0..self.paths.len()).filter(|&path| is_wanted(&self.paths[path])).map(CnodeId).collect()
    }

    /// The call paths that lead through a region of this name.
    pub(crate) fn within(&self, region: &str) -> Vec<CnodeId> {
        self.select(|path| format!("{path}/").contains(&format!("/{region}/")))
    }

    /// All call paths with the same last function and their source locations, for messages.
    pub(crate) fn alike(&self, end: &str) -> Vec<String> {
        let last = end.rsplit('/').next().unwrap_or(end);
        let all = (0..self.paths.len()).filter(|&path| is_end(last, &self.paths[path]));
        all.map(|path| format!("{} {:?}", self.paths[path], self.place(CnodeId(path)))).collect()
    }

    /// Source location of the call of a call path's last function: a line of its caller.
    fn place(&self, path: CnodeId) -> Option<SourceLine> {
        let cube = self.report.cube();
        let caller = &cube.cnodes[cube.cnodes[path.0].parent?.0];
        Some((caller.module.rsplit('/').next()?.to_owned(), caller.line?))
    }

    /// A metric's exclusive value at these call paths and this location.
    pub(crate) fn value(&self, metric: &str, paths: &[CnodeId], location: usize) -> f64 {
        let severities = self.severities(metric);
        paths.iter().map(|&path| severities.exclusive(path, LocationId(location))).sum()
    }

    /// All non-zero values, by metric, names along the call path, and location: call sites on other lines of
    /// one function are one call path.
    pub(crate) fn by_names(&self) -> BTreeMap<(String, String, usize), f64> {
        let cube = self.report.cube();
        let mut values = BTreeMap::new();
        for (metric, definition) in cube.metrics.iter().enumerate() {
            let severities = self.report.severities(MetricId(metric)).unwrap();
            for (path, names) in self.paths.iter().enumerate() {
                for location in 0..cube.locations.len() {
                    let value = severities.exclusive(CnodeId(path), LocationId(location));
                    if value != 0.0 {
                        let place = (definition.unique_name.clone(), names.clone(), location);
                        *values.entry(place).or_insert(0.0) += value;
                    }
                }
            }
        }
        values
    }

    fn severities(&self, metric: &str) -> Severities {
        let id = self.report.cube().metric_named(metric).unwrap_or_else(|| panic!("no metric {metric}"));
        self.report.severities(id).unwrap()
    }
}

/// A function's name without enclosing scopes, template arguments and parameters.
pub(crate) fn simple(name: &str) -> String {
    let mut plain = String::new();
    let mut depth = 0;
    for letter in name.split('(').next().unwrap_or(name).chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ if depth == 0 => plain.push(letter),
            _ => {}
        }
    }
    plain.rsplit("::").next().unwrap_or_default().to_owned()
}

/// Whether a call path ends with these names; the last may be one of several, `A|B`.
pub(crate) fn is_end(end: &str, path: &str) -> bool {
    let (before, last) = end.rsplit_once('/').map_or((None, end), |(before, last)| (Some(before), last));
    last.split('|').any(|last| {
        let end = before.map_or(last.to_owned(), |before| format!("{before}/{last}"));
        path.strip_suffix(&end).is_some_and(|rest| rest.ends_with('/'))
    })
}

/// Findings of the analysis of a recording: name, class and count.
pub(crate) fn findings(experiment: &Path) -> Vec<(String, FindingClass, u64)> {
    let report = Report::open(experiment.join("trace.cubex")).unwrap_or_else(|error| panic!("{error}"));
    let attributes = report.cube().attributes.iter();
    let found = attributes.filter_map(|attribute| {
        let name = attribute.key.strip_prefix("Replay::Findings::")?;
        let finding = Finding::ALL.iter().find(|finding| finding.name() == name).unwrap();
        Some((name.to_owned(), finding.class(), attribute.value.parse().unwrap()))
    });
    found.collect()
}
