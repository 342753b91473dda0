//! Comparison of real archives with the results of the reference analyzer.

use replay::Semantics;

use crate::support::report::{Reference, Table};
use crate::support::{analyze, archives, fresh, name, statistics};

#[test]
fn archives_give_the_severities_of_the_reference() {
    // The reference attributes idle time to worker threads only in its report for viewers.
    compare("reference.tsv", |table| table.subtract("time", "omp_idle_threads"));
}

#[test]
fn archives_give_the_whole_tree_of_the_reference() {
    compare("report.tsv", |_| {});
}

#[test]
fn archives_give_the_statistics_of_the_reference_to_the_printed_digits() {
    let mut problems = Vec::new();
    for archive in archives() {
        let directory = fresh();
        let report = directory.path().join("report.cubex");
        analyze(&archive, &report, Semantics::Reference).unwrap();
        let reference = std::fs::read_to_string(archive.join("reference.stat"));
        // Missing where the reference was run with other options.
        let Ok(reference) = reference else {
            assert_eq!(name(&archive), "skewed.4");
            continue;
        };
        let (want, got) = (comparable(&reference), comparable(&statistics::text(&report)));
        if want != got {
            problems.push(format!("{}: expected\n{want}\nfound\n{got}", name(&archive)));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Statistics without what may differ: ids of call paths, and causes of instances.
fn comparable(statistics: &str) -> String {
    let (titles, patterns) = statistics.split_once('\n').unwrap();
    let mut text = format!("{titles}\n");
    for block in patterns.split_terminator("\n\n") {
        for line in block.lines() {
            let line = line.split(" causing_location:").next().unwrap();
            text += &match line.strip_prefix("- cnode ").and_then(|rest| rest.split_once(' ')) {
                Some((_, rest)) => format!("- cnode {rest}\n"),
                None => format!("{line}\n"),
            };
        }
        text.push('\n');
    }
    text
}

fn compare(file: &str, prepare: fn(&mut Table)) {
    let mut problems = Vec::new();
    for archive in archives().iter() {
        let directory = fresh();
        let report = directory.path().join("report.cubex");
        analyze(archive, &report, Semantics::Reference).unwrap();
        let mut table = Table::read(&report);
        prepare(&mut table);
        let differences = Reference::read(&archive.join(file)).differences(&table);
        problems.extend(differences.into_iter().map(|problem| format!("{}: {problem}", name(archive))));
    }
    assert!(problems.is_empty(), "{} differences:\n{}", problems.len(), problems.join("\n"));
}
