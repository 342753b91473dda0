//! Real archives against what the reference analyzer found in them.

use replay::Semantics;

use crate::support::report::{Reference, Table};
use crate::support::{analyze, archives, fresh, name};

/// What the analysis of root causes will add.
const NOT_YET: [&str; 6] =
    ["critical_", "non_critical_", "inter_", "delay_", "mpi_wait_indirect", "mpi_wait_propagating"];

/// The same in the whole tree that viewers show.
const NOT_YET_SHOWN: [&str; 12] = [
    "critical_",
    "non_critical_",
    "inter_",
    "intra_",
    "delay",
    "mpi_wait_d",
    "mpi_wait_indirect",
    "mpi_wait_propagating",
    "mpi_wait_terminal",
    "waitstates_",
    "performance_",
    "imbalance",
];

#[test]
fn archives_give_the_severities_of_the_reference() {
    compare("reference.tsv", &NOT_YET, |_| true);
}

#[test]
fn archives_without_threads_give_the_whole_tree_of_the_reference() {
    // With threads, the reference's report counts idle time of workers as theirs.
    compare("report.tsv", &NOT_YET_SHOWN, |name| !name.starts_with("hybrid."));
}

fn compare(file: &str, skipped: &[&str], is_meant: fn(&str) -> bool) {
    let mut problems = Vec::new();
    for archive in archives().iter().filter(|archive| is_meant(&name(archive))) {
        let directory = fresh();
        let report = directory.path().join("report.cubex");
        analyze(archive, &report, Semantics::Reference).unwrap();
        let differences = Reference::read(&archive.join(file)).differences(&Table::read(&report), skipped);
        problems.extend(differences.into_iter().map(|problem| format!("{}: {problem}", name(archive))));
    }
    assert!(problems.is_empty(), "{} differences:\n{}", problems.len(), problems.join("\n"));
}
