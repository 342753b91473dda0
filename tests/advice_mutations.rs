//! Which numbers and comparisons of the program's rules of advice are noticed by archives and generated traces if they change:
//! `cargo test -p replay --test integration -- --ignored --nocapture mutations` (advice 8).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use generate::{Job, PATTERNS};
use replay::Options;
use rules::Source;

use crate::support::advice::{asking, of};
use crate::support::{archives, in_memory, name};

/// Comparisons with their opposites; a longer one before one that it begins with.
const SIGNS: [(&str, &str); 6] =
    [(" >= ", " < "), (" <= ", " > "), (" == ", " != "), (" != ", " == "), (" > ", " <= "), (" < ", " >= ")];

/// A change of a rule: in words, and as a file of rules.
struct Mutation {
    rule: String,
    what: String,
    file: String,
}

/// The value of a key of a rule as it is printed, without its quotes.
fn value<'p>(printed: &'p str, key: &str) -> Option<&'p str> {
    let value = printed.lines().find_map(|line| line.strip_prefix(&format!("{key} = ")))?;
    value.get(1..value.len() - 1)
}

/// The text with each of its comparisons turned round, one at a time.
fn turned(text: &str) -> Vec<String> {
    let is_at = |at: usize| SIGNS.iter().find(|(sign, _)| text[at..].starts_with(sign));
    let places = (0..text.len()).filter(|&at| text.is_char_boundary(at));
    let signs = places.filter_map(|at| Some((at, is_at(at)?)));
    signs.map(|(at, (sign, other))| format!("{}{other}{}", &text[..at], &text[at + sign.len()..])).collect()
}

/// A number with its unit, times a factor.
fn times(number: &str, factor: f64) -> String {
    let end = number.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(number.len());
    format!("{}{}", number[..end].parse::<f64>().unwrap() * factor, &number[end..])
}

/// All changes of all rules of the program.
fn mutations() -> Vec<Mutation> {
    let mut all = Vec::new();
    for rule in replay::advice::rules(&[]).unwrap().rules() {
        let mut add = |what: String, line: &str| {
            let file = format!("format = 1\n[set.'{}']\n{line}\n", rule.id());
            all.push(Mutation { rule: rule.id().to_owned(), what, file });
        };
        for (name, number) in rule.limits() {
            for other in [times(number, 0.5), times(number, 2.0)] {
                add(format!("{name} {number} → {other}"), &format!("when.'{name}' = '{other}'"));
            }
        }
        let printed = replay::advice::print(rule.id()).unwrap();
        for (key, of_set) in [("when", "finds.when"), ("where", "where")] {
            for other in value(&printed, key).map(turned).unwrap_or_default() {
                add(format!("{key}: {other}"), &format!("{of_set} = '''{other}'''"));
            }
        }
    }
    all
}

/// The first advice: its rule and place.
fn first(experiment: &Path, rules: Vec<Source>) -> Option<(String, String)> {
    let directory = in_memory();
    let asked = asking(experiment, &directory.path().join("trace.cubex"));
    let (file, _) = of(&Options { rules, ..asked });
    file.advice.into_iter().next().map(|first| (first.rule, first.place.path))
}

/// Names of traces whose first advice is another one with a change.
fn noticing<'t>(traces: &'t [Trace], mutation: &Mutation) -> Vec<&'t str> {
    let differs = |trace: &&Trace| {
        let file = Source::new("mutation.toml", &*mutation.file);
        first(&trace.path, vec![file]) != trace.first
    };
    traces.iter().filter(differs).map(|trace| trace.name.as_str()).collect()
}

/// A trace with its first advice.
struct Trace {
    name: String,
    path: PathBuf,
    first: Option<(String, String)>,
}

#[test]
#[ignore = "takes minutes: says which mutations nothing notices"]
fn mutations_of_rules_that_no_trace_notices_are_listed() {
    let directory = in_memory();
    let mut paths: Vec<(String, PathBuf)> = archives().into_iter().map(|path| (name(&path), path)).collect();
    for pattern in PATTERNS {
        let path = directory.path().join(pattern.name);
        generate::generate(&Job::new(pattern, 4, 400), &path).unwrap();
        paths.push((pattern.name.to_owned(), path));
    }
    let with_first = |(name, path): (String, PathBuf)| Trace { first: first(&path, Vec::new()), name, path };
    let traces: Vec<Trace> = paths.into_iter().map(with_first).collect();
    let all = mutations();
    let mut unnoticed = BTreeSet::new();
    for mutation in &all {
        let by = noticing(&traces, mutation);
        println!("{}: {}: {}", mutation.rule, mutation.what, by.join(", "));
        if by.is_empty() {
            unnoticed.insert(&mutation.rule);
        }
    }
    println!("{} mutations; with some that nothing notices: {unnoticed:?}", all.len());
    assert!(all.len() > 40 && unnoticed.len() < all.len());
}
