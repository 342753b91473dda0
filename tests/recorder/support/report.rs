//! Reports: severities by metric, call path and rank, and where call paths are in the sources.

use cubex::{CnodeId, LocationId, MetricId, Report, Severities};
use replay::findings::{Class, Finding};
use std::collections::BTreeMap;
use std::path::Path;

/// A report and the names of its call paths.
#[derive(Debug)]
pub(crate) struct Findings {
    report: Report,
    /// The names along each call path, without what they are members of, template arguments and parameters.
    paths: Vec<String>,
}

/// A place in a source file: its name without folders, and the line.
pub(crate) type Place = (String, u32);

impl Findings {
    /// Reads the report of an analysis.
    pub(crate) fn read(experiment: &Path) -> Findings {
        let report = Report::open(experiment.join("trace.cubex")).unwrap_or_else(|error| panic!("{error}"));
        let cube = report.cube();
        let mut paths: Vec<String> = Vec::new();
        for cnode in &cube.cnodes {
            let parent = cnode.parent.map_or("", |parent| paths[parent.0].as_str());
            paths.push(format!("{parent}/{}", simple(&cube.regions[cnode.region.0].name)));
        }
        Findings { report, paths }
    }

    /// How many locations there are: one a rank, for programs without threads.
    pub(crate) fn locations(&self) -> usize {
        self.report.cube().locations.len()
    }

    /// The call paths that end like this, at this line if it is given.
    pub(crate) fn paths(&self, end: &str, place: &Place) -> Vec<CnodeId> {
        let all = (0..self.paths.len()).map(CnodeId);
        all.filter(|&path| is_end(end, &self.paths[path.0]) && self.place(path).as_ref() == Some(place))
            .collect()
    }

    /// The call paths of which this holds.
    pub(crate) fn select(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<CnodeId> {
        (0..self.paths.len()).filter(|&path| is_wanted(&self.paths[path])).map(CnodeId).collect()
    }

    /// The call paths that lead through a region of this name.
    pub(crate) fn within(&self, region: &str) -> Vec<CnodeId> {
        self.select(|path| format!("{path}/").contains(&format!("/{region}/")))
    }

    /// All call paths with the last function of this one and where they are, for messages.
    pub(crate) fn alike(&self, end: &str) -> Vec<String> {
        let last = end.rsplit('/').next().unwrap_or(end);
        let all = (0..self.paths.len()).filter(|&path| is_end(last, &self.paths[path]));
        all.map(|path| format!("{} {:?}", self.paths[path], self.place(CnodeId(path)))).collect()
    }

    /// From where a call path's last function is called: a line of its caller.
    fn place(&self, path: CnodeId) -> Option<Place> {
        let cube = self.report.cube();
        let caller = &cube.cnodes[cube.cnodes[path.0].parent?.0];
        Some((caller.module.rsplit('/').next()?.to_owned(), caller.line?))
    }

    /// A metric's value at these call paths and this location, without what is called from there.
    pub(crate) fn value(&self, metric: &str, paths: &[CnodeId], location: usize) -> f64 {
        let severities = self.severities(metric);
        paths.iter().map(|&path| severities.exclusive(path, LocationId(location))).sum()
    }

    /// All values other than 0, by metric, names along the call path, and location: call sites in other lines of one function
    /// are one call path.
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

/// A function's name without what it is a member of, template arguments and parameters.
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

/// What the analysis of a recording has found odd, how much it matters, and how often it is there.
pub(crate) fn findings(experiment: &Path) -> Vec<(String, Class, u64)> {
    let report = Report::open(experiment.join("trace.cubex")).unwrap_or_else(|error| panic!("{error}"));
    let attributes = report.cube().attributes.iter();
    let found = attributes.filter_map(|attribute| {
        let name = attribute.key.strip_prefix("Replay::Findings::")?;
        let finding = Finding::ALL.iter().find(|finding| finding.name() == name).unwrap();
        Some((name.to_owned(), finding.class(), attribute.value.parse().unwrap()))
    });
    found.collect()
}
