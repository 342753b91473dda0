//! Golden tests: small traces as readable scripts, with the expected results of the analysis.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use replay::exchange::Solo;
use replay::progress::Progress;
use replay::{Options, Semantics};

use crate::support::parse::{Case, Key};
use crate::support::report::Table;
use crate::support::{SEMANTICS, fresh, golden, name, options, statistics, write};

#[test]
fn every_script_gives_exactly_the_severities_and_findings_it_expects() {
    let mut problems = Vec::new();
    for script in golden() {
        let case = Case::read(&script);
        let directory = fresh();
        write::write(&case.trace, directory.path());
        for semantics in SEMANTICS {
            let found = differences(&case, directory.path(), semantics);
            let (name, semantics) = (name(&script), semantics.name());
            problems.extend(found.into_iter().map(|problem| format!("{name}, {semantics}: {problem}")));
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn every_pattern_and_its_instances_occur_in_a_script() {
    let cases: Vec<Case> = golden().iter().map(|script| Case::read(script)).collect();
    assert!(cases.len() >= 35, "{} scripts", cases.len());
    let occurring: BTreeSet<String> = cases
        .iter()
        .flat_map(|case| case.severities(Semantics::Corrected).into_keys())
        .map(|(metric, ..)| metric)
        .collect();
    for pattern in patterns::PATTERNS {
        let instances = pattern.instances.iter().flatten().map(|metric| metric.id);
        for metric in instances.chain([pattern.metric.id]) {
            assert!(occurring.contains(metric), "no script in tests/golden expects {metric}");
        }
    }
}

/// Differences between the analysis and the expectations of the script.
fn differences(case: &Case, directory: &Path, semantics: Semantics) -> Vec<String> {
    let report = directory.join(format!("{}.cubex", semantics.name()));
    let options = Options {
        clock_correction: case.corrects_clocks,
        focus: case.focus.clone(),
        ..options(directory, &report, semantics)
    };
    if let Err(error) = replay::analyze(&options, &mut Solo, &mut Progress::silent()) {
        return vec![format!("no report: {error}")];
    }
    let table = Table::read(&report);
    let (want, got) = (case.severities(semantics), ticks(case, &table));
    // The reference lacks metrics of which nothing is expected then.
    let is_expected = |metric: &&String| {
        semantics == Semantics::Corrected || want.keys().any(|(expected, ..)| expected == *metric)
    };
    let mut problems: Vec<String> = case
        .metrics
        .iter()
        .filter(is_expected)
        .filter(|metric| table.metric(metric).is_none())
        .map(|metric| format!("{metric}: not a metric of the report"))
        .collect();
    for key in want.keys().chain(got.keys()).collect::<BTreeSet<_>>() {
        let (want, got) = (want.get(key).copied().unwrap_or(0), got.get(key).copied().unwrap_or(0.0));
        if (want as f64 - got).abs() > 1e-3 {
            let (metric, path, location) = key;
            problems.push(format!("{metric} {path} @{location}: expected {want}, found {got}"));
        }
    }
    let (want, got) = (case.statistics(semantics), statistics::lines(&statistics::text(&report)));
    if !want.is_empty() && want != got {
        problems.push(format!("statistics: expected\n{}\nfound\n{}", want.join("\n"), got.join("\n")));
    }
    let (want, got) = (case.findings(semantics), table.findings());
    if let Some(want) = want.filter(|want| *want != got) {
        problems.push(format!("findings: expected {want:?}, found {got:?}"));
    }
    problems
}

/// Severities in the report of the metrics that the script names, times in ticks.
fn ticks(case: &Case, table: &Table) -> BTreeMap<Key, f64> {
    let of_these = table.named().into_iter().filter(|((metric, ..), _)| case.metrics.contains(metric));
    of_these
        .map(|(key, value)| {
            let is_time = table.metric(&key.0).is_some_and(|at| table.metrics[at].1 == "sec");
            (key, if is_time { value * case.trace.resolution as f64 } else { value })
        })
        .collect()
}
