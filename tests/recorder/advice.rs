//! Advice for programs with one defect, and for the same without it (advice 8.1): what comes first, and what it saves.

use details::advice::{ADVICE, AdviceFile};
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::{DetailsPlace, Options, WhatIf};

use crate::support::project;
use crate::support::record::{Invocation, Subject};

/// Scenarios of the table whose causes are known to the rules of the program.
const KNOWN: [&str; 12] = [
    "static",
    "turns",
    "late",
    "chain",
    "pipe",
    "order",
    "order-idle",
    "blocked",
    "ssend",
    "needless",
    "root-reads",
    "root-gathers",
];

/// Error of a gain, as a share of the run with the defect, and how often it is tried: other tests run beside.
const ERROR: f64 = 0.05;
const ATTEMPTS: usize = 5;

/// A line of `expectations.tsv`.
struct Scenario {
    name: String,
    program: String,
    ranks: u32,
    bad: Vec<String>,
    fixed: Vec<String>,
    first: Vec<String>,
    forbidden: Vec<String>,
}

/// The smallest size of each known scenario.
fn scenarios() -> Vec<Scenario> {
    let text = std::fs::read_to_string(project("tests/programs/advice/expectations.tsv")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let mut found: Vec<Scenario> = Vec::new();
    for line in lines {
        let mut columns = line.split('\t').map(str::to_owned);
        let mut next = || columns.next().unwrap_or_default();
        let (name, program, ranks) = (next(), next(), next());
        if !KNOWN.contains(&name.as_str()) || found.iter().any(|it| it.name == name) {
            continue;
        }
        let mut words = |separator: char| -> Vec<String> {
            next().split(separator).filter(|word| !word.is_empty()).map(str::to_owned).collect()
        };
        let (bad, fixed, first, forbidden) = (words(' '), words(' '), words('|'), words('|'));
        let ranks = ranks.parse().unwrap();
        found.push(Scenario { name, program, ranks, bad, fixed, first, forbidden });
    }
    assert_eq!(found.len(), KNOWN.len());
    found
}

/// The advice for a version of a program; `None` if it cannot be recorded here.
fn advice(scenario: &Scenario, version: &str, arguments: &[String]) -> Option<AdviceFile> {
    let program = format!("advice/{}", scenario.program);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let test = format!("advice-{}-{version}", scenario.name);
    let subject = Subject::new(&test, &program, scenario.ranks, &arguments)?
        .with("OMPI_MCA_hwloc_base_binding_policy", "none")
        .with("OMPI_MCA_mpi_yield_when_idle", "1");
    subject.run_recorded(Invocation::InFront).expect_success();
    let report = subject.folder.join("advice.cubex");
    let options = Options {
        what_if: Some(WhatIf::parse("").unwrap()),
        details: Some(DetailsPlace::Nowhere),
        report: Some(report.clone()),
        structure: false,
        force: true,
        ..Options::new(&subject.experiment)
    };
    replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap();
    let bytes = cubex::Report::open(&report).unwrap().member(ADVICE).unwrap().unwrap();
    Some(AdviceFile::parse(&bytes).unwrap())
}

/// What is wrong with the advice for a program and its mended version; `None` if it cannot be recorded here.
fn wrong(scenario: &Scenario) -> Option<Vec<String>> {
    let (bad, fixed) = (advice(scenario, "bad", &scenario.bad)?, advice(scenario, "fixed", &scenario.fixed)?);
    let name = &scenario.name;
    let mut wrong = Vec::new();
    let Some(first) = bad.advice.first() else { return Some(vec![format!("{name}: no advice")]) };
    if !scenario.first.contains(&first.rule) {
        wrong.push(format!("{name}: {} instead of {:?}", first.rule, scenario.first));
    }
    let named: Vec<&String> = bad.advice.iter().take(1).map(|it| &it.rule).collect();
    if named.iter().any(|rule| scenario.forbidden.contains(rule)) {
        wrong.push(format!("{name}: {named:?}"));
    }
    let saved = bad.run.seconds - fixed.run.seconds;
    let expected = first.gain.expected.unwrap_or(0.0);
    println!(
        "{name}: {} saves {expected:.3} s of {:.3} s, {saved:.3} s measured",
        first.rule, bad.run.seconds
    );
    if (expected - saved).abs() > ERROR * bad.run.seconds {
        wrong.push(format!("{name}: {expected} s, {saved} s measured, of {} s", bad.run.seconds));
    }
    // Of a pipeline in four parts more parts save more, but less.
    if let Some(left) = fixed.advice.iter().find(|it| it.rule == first.rule && it.gain.most > expected / 2.0)
    {
        wrong.push(format!("{name}: {} is advised still: {:?}", left.rule, left.gain));
    }
    Some(wrong)
}

#[test]
fn first_advice_for_programs_is_their_defect_and_saves_what_it_says() {
    let mut all = Vec::new();
    for scenario in scenarios() {
        let mut last = Vec::new();
        for _ in 0..ATTEMPTS {
            let Some(found) = wrong(&scenario) else { return };
            last = found;
            if last.is_empty() {
                break;
            }
        }
        all.extend(last);
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}
