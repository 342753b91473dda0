//! Reports of other sizes of the program: what of them is compared.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cubex::{CnodeId, Report};

use super::{RunFacts, ScalingKind};
use crate::error::Error;
use crate::int::to_u64;
use crate::options::Options;

/// What the value of the attribute `Creator` of our reports begins with.
const CREATOR: &str = "Replay ";

/// The metric whose values by call path are compared.
const TIME: &str = "time";

/// A run of some size.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// Its report.
    pub report: PathBuf,
    /// Its facts.
    pub facts: RunFacts,
    /// Seconds by call path, exclusive, of all ranks: names from the root, with slashes between them.
    pub times: BTreeMap<String, f64>,
}

/// Runs that this one is compared with.
#[derive(Clone, PartialEq, Debug)]
pub struct OtherRuns {
    /// The runs, at the process of worker 0.
    pub runs: Vec<Run>,
    /// What stays the same from size to size, if the user says so.
    pub kind: Option<ScalingKind>,
}

impl OtherRuns {
    /// Those that the options name, for a trace with so many processes whose report goes to `target`; `None` without. One process
    /// reads them for all.
    ///
    /// # Errors
    /// If a report cannot be read, is not one of this program, has no facts, or two runs are of the same size; and if this run has no
    /// efficiencies.
    pub fn open(
        options: &Options,
        target: &Path,
        processes: usize,
        reads: bool,
    ) -> Result<Option<OtherRuns>, Error> {
        if options.references.is_empty() {
            return Ok(None);
        }
        if !options.semantics.replays_all_of_mpi() {
            return Err(Error::new("--reference needs efficiencies: leave out --semantics reference"));
        }
        let is_target = |path: &Path| are_same(target, path);
        if let Some(path) = options.references.iter().find(|path| is_target(path)) {
            return Err(Error::new(format!(
                "--reference: {} is where the report of this run goes",
                path.display()
            )));
        }
        let runs = if reads { read(&options.references, to_u64(processes))? } else { Vec::new() };
        Ok(Some(OtherRuns { runs, kind: options.scaling }))
    }
}

/// Whether two paths are those of one file that is there.
fn are_same(one: &Path, other: &Path) -> bool {
    one == other || one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// Reads the reports; `ranks` is the number of processes of the trace.
fn read(reports: &[PathBuf], ranks: u64) -> Result<Vec<Run>, Error> {
    let mut runs: Vec<Run> = Vec::with_capacity(reports.len());
    for report in reports {
        let run = read_one(report)?;
        let count = run.facts.ranks;
        let same = runs.iter().find(|other| other.facts.ranks == count).map(|other| &other.report);
        let is_own = count == ranks;
        if same.is_some() || is_own {
            let other = same.map_or("the trace".into(), |path| path.display().to_string());
            let report = report.display();
            return Err(Error::new(format!(
                "--reference: {report} and {other} are both of {count} ranks; expected one run of each size"
            )));
        }
        runs.push(run);
    }
    Ok(runs)
}

fn read_one(path: &Path) -> Result<Run, Error> {
    let refuse = |what: &str| Error::new(format!("--reference: {}: {what}", path.display()));
    let report = Report::open(path).map_err(|error| Error::new(format!("--reference: {error}")))?;
    let attributes = &report.cube().attributes;
    let creator = attributes.iter().find(|attribute| attribute.key == "Creator");
    let creator = creator.map_or("of an unknown program", |creator| creator.value.as_str());
    if !creator.starts_with(CREATOR) {
        return Err(refuse(&format!("is a report by {creator}, expected one of replay-analyze")));
    }
    if let Some(scenario) = attributes.iter().find(|attribute| attribute.key == "Replay::Scenario") {
        return Err(refuse(&format!("is predicted for {}, expected a measured run", scenario.value)));
    }
    let facts = RunFacts::of_attributes(attributes).ok_or_else(|| {
        refuse(
            "has no facts for efficiencies: it was written by an earlier version or with --focus, or parts of that run were not \
             recorded; analyse its trace again",
        )
    })?;
    let times = times(&report).map_err(|error| Error::new(format!("--reference: {error}")))?;
    Ok(Run { report: path.to_owned(), facts, times })
}

/// Seconds by call path, of all locations.
fn times(report: &Report) -> Result<BTreeMap<String, f64>, cubex::Error> {
    let cube = report.cube();
    let mut names: Vec<String> = Vec::with_capacity(cube.cnodes.len());
    for cnode in &cube.cnodes {
        let name = cube.regions.get(cnode.region.0).map_or("", |region| region.name.as_str());
        let above = cnode.parent.and_then(|CnodeId(parent)| names.get(parent));
        names.push(above.map_or_else(|| name.to_owned(), |above| format!("{above}/{name}")));
    }
    let mut times = BTreeMap::new();
    let Some(metric) = cube.metric_named(TIME) else { return Ok(times) };
    let mut rows = report.rows(metric)?;
    while let Some((cnode, values)) = rows.next()? {
        let sum: f64 = values.to_f64().unwrap_or_default().iter().sum();
        if let Some(name) = names.get(cnode.0).filter(|_| sum > 0.0) {
            *times.entry(name.clone()).or_default() += sum;
        }
    }
    Ok(times)
}
