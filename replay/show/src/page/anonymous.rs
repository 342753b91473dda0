//! Reports without names: programs, functions, files and hosts become numbers, so that a page can be given to others.
//!
//! Names of MPI and of other programming models stay, as they say nothing of the program; so do ranks.

use std::collections::BTreeMap;
use std::path::PathBuf;

use cubex::{Cube, LocationGroupKind, LocationKind, Parameter};
use details::manifest::Manifest;

use crate::opened::Opened;

/// Programming models whose functions everybody knows. Those of accelerators have the names of kernels, too.
const KNOWN: [&str; 2] = ["pthread", "io"];

/// Words of OpenMP's constructs. Others are names, such as that of a critical section.
const OPENMP: [&str; 26] = [
    "!$omp",
    "atomic",
    "barrier",
    "create",
    "critical",
    "do",
    "flush",
    "for",
    "ibarrier",
    "implicit",
    "loop",
    "master",
    "masked",
    "ordered",
    "parallel",
    "sblock",
    "section",
    "sections",
    "simd",
    "single",
    "target",
    "task",
    "taskloop",
    "taskwait",
    "teams",
    "workshare",
];

/// The name of reports without one.
const FILE: &str = "report.cubex";

/// Replaces all names of an open report. Errors about its details will not say where it lies, either. Returns what is left out.
pub(crate) fn anonymous(opened: &mut Opened) -> Option<&'static str> {
    opened.report.describe(describe);
    if let Some(manifest) = &mut opened.manifest {
        hide(manifest);
    }
    opened.path = PathBuf::from(FILE);
    // Its texts, and the rules of users, are full of names.
    opened.advice.take().map(|_| "not in the page: advice, whose texts have names of the program")
}

/// Numbers of files, in the order in which they are met.
#[derive(Default)]
struct Files(BTreeMap<String, usize>);

impl Files {
    fn name(&mut self, file: &str) -> String {
        if file.is_empty() {
            return String::new();
        }
        let next = self.0.len() + 1;
        format!("file {}", self.0.entry(file.to_owned()).or_insert(next))
    }
}

fn describe(cube: &mut Cube) {
    let mut files = Files::default();
    let mut is_root = vec![false; cube.regions.len()];
    for cnode in cube.cnodes.iter().filter(|cnode| cnode.parent.is_none()) {
        if let Some(is_root) = is_root.get_mut(cnode.region.0) {
            *is_root = true;
        }
    }
    cube.attributes.clear();
    cube.mirrors.clear();
    for (at, region) in cube.regions.iter_mut().enumerate() {
        region.name = match region.paradigm.as_str() {
            _ if is_root[at] => "program".into(),
            "mpi" if region.name.get(..4).is_some_and(|begin| begin.eq_ignore_ascii_case("mpi_")) => {
                region.name.clone()
            }
            paradigm if KNOWN.contains(&paradigm) => region.name.clone(),
            "openmp" => format!("{} {at}", construct(&region.name)),
            _ => format!("function {at}"),
        };
        region.mangled_name.clone_from(&region.name);
        region.module = files.name(&region.module);
        (region.url, region.description) = (String::new(), String::new());
        region.attributes.clear();
    }
    for cnode in &mut cube.cnodes {
        cnode.module = files.name(&cnode.module);
        cnode.attributes.clear();
        for parameter in &mut cnode.parameters {
            *parameter = Parameter::Text { key: "parameter".into(), value: String::new() };
        }
    }
    for (at, node) in cube.system_tree_nodes.iter_mut().enumerate() {
        node.name = if node.parent.is_none() { format!("machine {at}") } else { format!("node {at}") };
        node.class.clear();
        node.description.clear();
        node.attributes.clear();
    }
    for (at, group) in cube.location_groups.iter_mut().enumerate() {
        group.name = match group.kind {
            LocationGroupKind::Process => format!("MPI Rank {}", group.rank),
            _ => format!("group {at}"),
        };
        group.attributes.clear();
    }
    for location in &mut cube.locations {
        location.name = match location.kind {
            LocationKind::Thread => format!("thread {}", location.rank),
            LocationKind::AcceleratorStream => format!("stream {}", location.rank),
            LocationKind::Metric => format!("metrics {}", location.rank),
        };
        location.attributes.clear();
    }
    for (at, topology) in cube.topologies.iter_mut().enumerate() {
        topology.name = format!("topology {at}");
        topology.dimensions.iter_mut().for_each(|dimension| dimension.name.clear());
    }
}

/// The construct in names such as `!$omp critical lock @solver.c:10`.
fn construct(name: &str) -> String {
    let words = name.split_whitespace().take_while(|word| !word.starts_with('@'));
    let known: Vec<&str> = words.filter(|word| OPENMP.contains(word)).collect();
    if known.is_empty() { "OpenMP".into() } else { known.join(" ") }
}

fn hide(manifest: &mut Manifest) {
    manifest.program = "program".into();
    manifest.recorder.clear();
    for communicator in manifest.communicators.iter_mut().filter(|it| !it.name.starts_with("MPI_COMM_")) {
        communicator.name.clear();
    }
    let summary = &mut manifest.summary;
    for culprit in &mut summary.culprits {
        if !is_of_ranks(&culprit.place) {
            culprit.place = "some ranks".into();
        }
        culprit.call_path.clear();
        // Words of the analysis have names in them.
        (culprit.site, culprit.between, culprit.victims, culprit.samples) = (None, None, None, None);
    }
    summary.wait_states.clear();
    summary.ranks.clear();
    summary.findings.iter_mut().for_each(|finding| finding.example.clear());
}

/// Whether a place is told by numbers of ranks and threads only.
fn is_of_ranks(place: &str) -> bool {
    let known = ["rank", "ranks", "thread", "threads", "process", "processes", "of"];
    let mut words = place.split(|letter: char| !letter.is_alphabetic()).filter(|word| !word.is_empty());
    words.all(|word| known.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_ranks_have_no_names() {
        for place in ["rank 3", "ranks 1, 5–7", "threads 0–1 of rank 0", "ranks 8, 12 … (328 ranks)"] {
            assert!(is_of_ranks(place), "{place}");
        }
        assert!(!is_of_ranks("rank 0, secret worker"));
    }

    #[test]
    fn constructs_have_no_names_of_the_program() {
        assert_eq!(construct("!$omp critical lock @solver.c:10"), "!$omp critical");
        assert_eq!(construct("!$omp implicit barrier @solver.c:10"), "!$omp implicit barrier");
        assert_eq!(construct("solver"), "OpenMP");
    }

    #[test]
    fn files_are_numbered_as_they_are_met() {
        let mut files = Files::default();
        let names: Vec<String> = ["b", "a", "b", ""].iter().map(|file| files.name(file)).collect();
        assert_eq!(names, ["file 1", "file 2", "file 1", ""]);
    }
}
