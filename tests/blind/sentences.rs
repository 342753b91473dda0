//! Statements of summaries about programs with a known late rank, compared with
//! `tests/programs/culprits/sentences.txt`.

use std::path::Path;

use super::summary::Summary;
use crate::support::build;
use crate::support::project;
use crate::support::record::{Invocation, Subject, analyze};
use crate::support::report::NamedReport;

/// Tolerance of delay costs, relative to the largest ones of the program.
const TOLERANCE: f64 = 0.1;

/// Number of attempts to record a program with the right statement: other programs on the machine can delay a
/// rank by more than the program does, or by more than the tolerance of costs, but not every time. Fewer
/// attempts where a rank is named that waits itself: a rank without a processor for as long as the program's
/// delays did make the others wait.
const ATTEMPTS: usize = 8;
const ATTEMPTS_WITHOUT_NUMBERS: usize = 3;

/// A line of the table.
#[derive(Debug)]
struct Row<'a> {
    program: &'a str,
    flags: String,
    ranks: u32,
    arguments: Vec<&'a str>,
    sentence: Sentence<'a>,
}

/// Expected statement of the summary.
#[derive(Debug)]
enum Sentence<'a> {
    /// The first culprit is this rank in these functions between these calls.
    First { rank: u32, path: &'a str, between: [&'a str; 2] },
    /// The first culprit is this rank, or waiting is reported as unexplained.
    Late { rank: u32 },
    /// These ranks have these delay costs of a class, in seconds.
    Costs { class: &'a str, seconds: Vec<(usize, f64)> },
    /// This rank has the delay costs of a class that the program prints.
    Measured { class: &'a str, rank: usize },
    /// There are no findings.
    Clean,
}

impl<'a> Row<'a> {
    fn parse(line: &'a str) -> Option<Row<'a>> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [program, flags, ranks, arguments, ref sentence @ ..] = words[..] else { return None };
        let arguments = arguments.split(',').filter(|&argument| argument != "-").collect();
        let sentence = Sentence::parse(sentence)?;
        Some(Row { program, flags: flags.replace(',', " "), ranks: ranks.parse().ok()?, arguments, sentence })
    }
}

impl<'a> Sentence<'a> {
    fn parse(words: &[&'a str]) -> Option<Sentence<'a>> {
        Some(match *words {
            ["first", rank, path, before, after] => {
                Sentence::First { rank: rank.parse().ok()?, path, between: [before, after] }
            }
            ["late", rank] => Sentence::Late { rank: rank.parse().ok()? },
            ["costs", class, ref costs @ ..] => {
                let cost = |cost: &&str| {
                    let (rank, seconds) = cost.split_once(':')?;
                    Some((rank.parse().ok()?, seconds.parse().ok()?))
                };
                Sentence::Costs { class, seconds: costs.iter().map(cost).collect::<Option<_>>()? }
            }
            ["measured", class, rank] => Sentence::Measured { class, rank: rank.parse().ok()? },
            ["clean"] => Sentence::Clean,
            _ => return None,
        })
    }

    /// Returns the statement made instead; `None` if it is the right one.
    fn problem(&self, printed: &str, analysis: &str, experiment: &Path) -> Option<String> {
        let summary = Summary::parse(analysis);
        let first = summary.culprits.first();
        let said = first.map_or("nothing".into(), |first| first.text.clone());
        match self {
            Sentence::First { rank, path, between } => {
                let is_right = first.is_some_and(|first| {
                    let named = first.between.each_ref().map(|name| name.as_deref().unwrap_or_default());
                    first.ranks == [*rank].into() && first.functions().join("/") == *path && named == *between
                });
                (!is_right).then_some(said)
            }
            Sentence::Late { rank } => {
                let is_covered = summary.coverage.is_none_or(|coverage| coverage >= 100.0);
                let is_right = first.is_some_and(|first| {
                    first.ranks == [*rank].into() && !first.is_unexplained
                        || first.is_unexplained && !is_covered
                });
                (!is_right).then_some(said)
            }
            Sentence::Costs { class, seconds } => {
                let (worst, most) = *seconds.iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
                if first.is_none_or(|first| first.ranks != [worst as u32].into()) {
                    return Some(format!("not rank {worst}: {said}"));
                }
                // MPI calls may take longer than they should, because ranks share processors.
                let is_work = |path: &str| !path.contains("/MPI_");
                seconds.iter().find_map(|&(rank, right)| {
                    difference(costs(experiment, class, rank, is_work), rank, right, most)
                })
            }
            Sentence::Measured { class, rank } => {
                let right = printed.lines().find_map(|line| line.strip_prefix("waited ")?.parse().ok());
                let right: f64 = right.unwrap_or_else(|| panic!("{printed} does not say who has waited"));
                difference(costs(experiment, class, *rank, |_| true), *rank, right, right)
            }
            Sentence::Clean => {
                let is_right = summary.has_no_findings && !analysis.contains("\nClocks are wrong");
                (!is_right).then(|| analysis.to_owned())
            }
        }
    }
}

/// Delay costs of a class that a rank has on call paths that satisfy a condition, in seconds.
fn costs(experiment: &Path, class: &str, rank: usize, is_wanted: impl Fn(&str) -> bool) -> f64 {
    let findings = NamedReport::read(experiment);
    let paths = findings.select(is_wanted);
    let metrics = [format!("delay_{class}"), format!("delay_{class}_longterm")];
    metrics.iter().map(|metric| findings.value(metric, &paths, rank)).sum()
}

/// Error of delay costs, if it exceeds the tolerance; `most` are the largest costs, in seconds.
fn difference(costs: f64, rank: usize, right: f64, most: f64) -> Option<String> {
    let is_right = (costs - right).abs() <= TOLERANCE * most;
    (!is_right).then(|| format!("{costs:.3} s of rank {rank}, expected {right:.3} s"))
}

/// Error in the last summary of a program.
fn problem(row: &Row<'_>) -> Option<String> {
    let Row { program, flags, ranks, arguments, sentence } = row;
    let mpi = build::mpi("sentences")?;
    let has_numbers = !matches!(sentence, Sentence::Late { .. } | Sentence::Clean);
    let attempts = if has_numbers { ATTEMPTS } else { ATTEMPTS_WITHOUT_NUMBERS };
    let mut problem = None;
    for attempt in 1..=attempts {
        let mut command = build::program_with(mpi, &format!("culprits/{program}"), flags)?;
        command.extend(arguments.iter().map(Into::into));
        let subject = Subject::any(&format!("sentence.{program}"), *ranks, command)?;
        let subject = subject.with("OMPI_MCA_mpi_yield_when_idle", "1");
        let recorded = subject.run_recorded(Invocation::InFront);
        recorded.expect_success();
        let analysis = analyze(&subject.experiment, &subject.folder);
        analysis.expect_success();
        problem = sentence.problem(&recorded.stdout, &analysis.stdout, &subject.experiment);
        let Some(problem) = &problem else { break };
        println!("{program} {flags}: attempt {attempt}: {problem}");
    }
    Some(format!("{program} {flags} {}: {}", arguments.join(" "), problem?))
}

#[test]
fn known_culprits_are_named_with_their_costs() {
    let text = std::fs::read_to_string(project("tests/programs/culprits/sentences.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let rows: Vec<Row<'_>> =
        lines.map(|line| Row::parse(line).unwrap_or_else(|| panic!("sentences.txt: {line}"))).collect();
    let programs: std::collections::BTreeSet<&str> = rows.iter().map(|row| row.program).collect();
    assert_eq!(programs.len(), 11, "the table is incomplete");
    let problems: Vec<String> = rows.iter().filter_map(problem).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
