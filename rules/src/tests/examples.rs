//! Examples of files, and changes of conditions that they notice.

use super::schema;
use crate::{Problem, Source, Tried, try_examples};

/// A rule about barriers that ranks wait for, at each call path.
const RULE: &str = r#"
format = 1
[[rule]]
id = "a/b"
over = "collective"
where = "operation == Barrier"
by = ["path"]
[rule.let]
waiting = "sum(wait)"
share = "waiting / run.all"
unused = "sum(bytes) / 4 B"
[rule.finds]
when = "share >= 10 % and count() >= 4"
severity = "waiting"
title = "t"
advice = "a"
"#;

/// An example of it that notices all changes.
const EXAMPLE: &str = r#"
[[example]]
rule = "a/b"
run = { all = "1 s" }
rows = [{ path = "main/MPI_Barrier", operation = "Barrier", wait = "15 ms", times = 7 }]
finds = [{}, { wait = "50 ms", times = 4 }]
silent = [{ operation = "Bcast" }, { wait = "14 ms" }, { wait = "50 ms", times = 3 }, { run.all = "1.1 s" }]
"#;

fn tried(text: &str) -> Result<Tried, Vec<Problem>> {
    try_examples(&[Source::new("a.toml", text)], &schema(), &|_| None)
}

#[track_caller]
fn lines(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(|it| it.to_string().lines().next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn examples_that_notice_each_change_of_a_condition_leave_nothing_to_say() {
    let tried = tried(&format!("{RULE}{EXAMPLE}")).unwrap();
    assert_eq!(tried, Tried { cases: 6, ..Tried::default() });
}

#[test]
fn changes_that_no_example_notices_are_listed_where_they_are() {
    let example = EXAMPLE
        .replace(", { wait = \"50 ms\", times = 3 }", "")
        .replace("14 ms", "5 ms")
        .replace("1.1 s", "3 s");
    let tried = tried(&format!("{RULE}{example}")).unwrap();
    let expected = [
        "a.toml:13:18: no example notices if \"10 %\" were half as much",
        "a.toml:13:38: no example notices if \"4\" were half as much",
    ];
    assert_eq!(lines(&tried.unnoticed), expected);
    assert!(tried.failed.is_empty());
}

#[test]
fn cases_in_which_the_rule_does_something_else_are_listed() {
    let example = EXAMPLE.replace("finds", "found").replace("silent", "finds").replace("found", "silent");
    let tried = tried(&format!("{RULE}{example}")).unwrap();
    let expected = [
        "a.toml:22:11: rule \"a/b\" finds something",
        "a.toml:22:15: rule \"a/b\" finds something",
        "a.toml:23:10: rule \"a/b\" finds nothing",
    ];
    assert_eq!(lines(&tried.failed)[..3], expected);
}

#[test]
fn a_value_that_is_not_there_fails_even_if_nothing_is_expected() {
    let example =
        EXAMPLE.replace("{ run.all = \"1.1 s\" }", "{ path = \"x\" }").replace("run = { all = \"1 s\" }", "");
    let tried = tried(&format!("{RULE}{example}")).unwrap();
    let last = lines(&tried.failed).pop().unwrap();
    assert!(last.contains("rule \"a/b\" cannot be judged: "), "{last}");
}

#[test]
fn rules_without_examples_are_named_and_a_rule_that_is_off_needs_none() {
    assert_eq!(tried(RULE).unwrap().without, ["a/b"]);
    let off = tried(&format!("{RULE}{EXAMPLE}[set.\"a/b\"]\noff = true\n")).unwrap();
    assert_eq!(off, Tried::default());
}

#[test]
fn a_set_that_changes_a_number_fails_the_example() {
    let tried = tried(&format!("{RULE}{EXAMPLE}[set.\"a/b\"]\nwhen.share = \"20 %\"\n")).unwrap();
    assert!(!tried.failed.is_empty());
}

#[test]
fn what_is_wrong_in_examples_is_listed_with_line_and_column() {
    let wrong = r#"
[[example]]
rule = "a/c"
finds = [{}]
[[example]]
rule = "a/b"
rows = [{ wiat = "5 ms", wait = "5 B", operation = "Barier" }]
run = { ranks = 1.5, alll = "1 s" }
silent = [{ times = "many" }]
[[example]]
finds = [{}]
[[example]]
rule = "a/b"
rows = 7
also = 1
[[example]]
rule = "a/b"
rows = [{ times = 1000000 }, { times = 50000 }]
finds = [{}]
"#;
    let problems = tried(&format!("{RULE}{wrong}")).unwrap_err();
    let expected = [
        "a.toml:19:9: unknown rule \"a/c\", did you mean \"a/b\"?",
        "a.toml:23:11: unknown column \"wiat\", did you mean \"wait\"?",
        "a.toml:23:34: \"5 B\" is no time",
        "a.toml:23:53: \"Barier\" is no operation",
        "a.toml:24:17: \"1.5\" is no count",
        "a.toml:24:22: unknown column \"alll\", did you mean \"all\"?",
        "a.toml:25:22: \"many\" is no count",
        "a.toml:26:1: example without \"rule\"",
        "a.toml:28:1: example without \"finds\" and \"silent\", expected one of them",
        "a.toml:30:8: \"rows\" is of type integer, expected [[rows]]",
        "a.toml:31:1: unknown key \"also\", expected rule, run, rows, finds, silent",
        "a.toml:35:10: more than 1048576 rows of all cases so far",
    ];
    assert_eq!(lines(&problems), expected);
}
