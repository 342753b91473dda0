//! Tests of reports with names that try to be more than text.

use super::*;
use crate::gates::evaluate::CallLine;
use crate::gates::parse;
use crate::values::Unit;

const HOSTILE: [&str; 16] = [
    "</script><script>document.title='x'</script>",
    "<img src=x onerror=alert(1)>",
    "\"onload=",
    "]]>",
    "{{7*7}}",
    "javascript:alert(1)",
    "\u{2028}\u{202e}",
    "::error::x",
    "\n::error::x\r",
    "%0A",
    "a|b",
    "`` `",
    "@all",
    "##[error]x",
    "\u{0}\u{ffff}\u{1b}[31m",
    "",
];

fn verdicts() -> Vec<Verdict> {
    let line = |path: &str| CallLine { path: path.into(), value: 0.5, is_change: true, unit: Unit::Seconds };
    let mut calls: Vec<CallLine> = HOSTILE.iter().map(|name| line(name)).collect();
    calls.push(line(&"x".repeat(100_000)));
    let verdict = |text: &str, outcome| Verdict {
        gate: parse::gate(text).unwrap(),
        outcome,
        message: format!("1 s → 2 s in {}", HOSTILE[0]),
        values: [Some(1.0), Some(2.0)],
        unit: Unit::Seconds,
        calls: calls.clone(),
    };
    let hostile = "time@'</failure>]]>|`@x\"&' > +5%";
    vec![
        verdict(hostile, Outcome::Failed),
        verdict("run > +5%", Outcome::Passed),
        verdict("run > 1s", Outcome::Unclear),
        Verdict { values: [None, None], ..verdict("delay > 1s", Outcome::Missing) },
    ]
}

fn culprits() -> Vec<Culprit> {
    let culprit = |name: &&str| Culprit {
        id: "balance-01234567".into(),
        text: format!("Balance {name}"),
        path: vec![(*name).to_owned()],
        seconds: Some(1.0),
    };
    HOSTILE.iter().map(culprit).collect()
}

fn with_report<T>(passes_missing: bool, fails_unclear: bool, check: impl Fn(&Report<'_>) -> T) -> T {
    let (verdicts, culprits) = (verdicts(), culprits());
    let culprits = Some(culprits.as_slice());
    let title = "diff <a>.cubex b\"&`.cubex";
    check(&Report { title, verdicts: &verdicts, culprits, passes_missing, fails_unclear })
}

/// Reads XML strictly: tags nest, attributes are quoted, texts and values have no sign that must be escaped. Returns the
/// tags with their attributes.
fn strict_xml(xml: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut rest = xml.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").expect("the declaration");
    let is_allowed = |letter: char| !matches!(letter, '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    assert!(rest.chars().all(is_allowed));
    let check_text = |text: &str| {
        assert!(!text.contains(['<', '>']), "{text}");
        for entity in text.split('&').skip(1) {
            let name = entity.split_once(';').expect("an entity ends").0;
            assert!(["amp", "lt", "gt", "quot", "apos"].contains(&name), "{name}");
        }
    };
    let (mut open, mut tags) = (Vec::new(), Vec::new());
    while let Some((text, behind)) = rest.split_once('<') {
        check_text(text);
        let (tag, behind) = behind.split_once('>').expect("a tag ends");
        rest = behind;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            continue;
        }
        let (tag, is_empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, mut attributes_text) = tag.split_once(' ').unwrap_or((tag, ""));
        let mut attributes = Vec::new();
        while !attributes_text.is_empty() {
            let (key, behind) = attributes_text.split_once("=\"").expect("a value in quotes");
            let (value, behind) = behind.split_once('"').expect("the quote is closed");
            check_text(value);
            attributes.push((key.to_owned(), value.to_owned()));
            attributes_text = behind.strip_prefix(' ').unwrap_or(behind);
        }
        tags.push((name.to_owned(), attributes));
        if !is_empty {
            open.push(name.to_owned());
        }
    }
    check_text(rest);
    assert!(open.is_empty(), "{open:?}");
    tags
}

#[test]
fn junit_is_valid_and_counts_right() {
    for (passes_missing, fails_unclear, expected) in
        [(false, false, ["4", "1", "1", "0"]), (true, true, ["4", "2", "0", "1"])]
    {
        let tags = with_report(passes_missing, fails_unclear, |report| strict_xml(&junit::text(report)));
        let (_, attributes) = tags.iter().find(|tag| tag.0 == "testsuite").unwrap();
        let value = |key: &str| attributes.iter().find(|it| it.0 == key).map(|it| it.1.as_str()).unwrap();
        assert_eq!(["tests", "failures", "errors", "skipped"].map(value), expected);
        let known = [
            "testsuites",
            "testsuite",
            "testcase",
            "failure",
            "error",
            "skipped",
            "system-out",
            "properties",
            "property",
        ];
        assert!(tags.iter().all(|tag| known.contains(&tag.0.as_str())), "{tags:?}");
        let count = |name: &str| tags.iter().filter(|tag| tag.0 == name).count().to_string();
        assert_eq!(["testcase", "failure", "error", "skipped"].map(count), expected);
    }
}

#[test]
fn annotations_are_single_commands() {
    let text = with_report(false, true, github::text);
    assert_eq!(text.lines().count(), 3, "failed, unclear and missing");
    for line in text.lines() {
        let (head, message) = line.strip_prefix("::error title=").unwrap().split_once("::").unwrap();
        assert!(!head.contains([':', ',']), "{head}");
        assert!(
            !message.contains('\r') && message.replace("%25", "").replace("%0A", "").find('%').is_none(),
            "{message}"
        );
        assert!(line.len() < 64 * 1024);
    }
    let many: Vec<Verdict> = (0..20).map(|_| verdicts().remove(0)).collect();
    let report =
        Report { title: "", verdicts: &many, culprits: None, passes_missing: false, fails_unclear: false };
    assert_eq!(github::text(&report).lines().count(), 10);
}

#[test]
fn other_lines_are_no_commands() {
    let text = github::without_commands("  ::error::x\na ::b\n##[error]y\n::");
    assert_eq!(text, "|  ::error::x\na ::b\n## [error]y\n|::");
}

#[test]
fn markdown_keeps_names_in_code() {
    let text = with_report(false, true, markdown::text);
    assert!(text.len() <= 64 * 1024);
    // What is left outside of code spans is ours.
    let mut outside = String::new();
    for line in text.lines() {
        let mut rest = line;
        while let Some(at) = rest.find('`') {
            outside += &rest[..at];
            let fence = rest[at..].len() - rest[at..].trim_start_matches('`').len();
            let mut behind = &rest[at + fence..];
            loop {
                let close = behind.find('`').expect("the span is closed");
                let run = behind[close..].len() - behind[close..].trim_start_matches('`').len();
                behind = &behind[close + run..];
                if run == fence {
                    break;
                }
            }
            rest = behind;
        }
        outside += rest;
        outside.push('\n');
    }
    assert!(!outside.contains(['<', '>', '@', '{', '[', '\u{1b}']), "{outside}");
    assert!(!text.contains("@all") && !text.contains('\r'));
    let rows = text.lines().filter(|line| line.starts_with('|'));
    rows.for_each(|row| assert_eq!(row.replace("\\|", "").matches('|').count(), 4, "{row}"));
}

#[test]
fn markdown_has_a_largest_size() {
    let many: Vec<Verdict> = (0..500).map(|_| verdicts().remove(0)).collect();
    let report =
        Report { title: "", verdicts: &many, culprits: None, passes_missing: false, fails_unclear: false };
    let text = markdown::text(&report);
    assert!(text.len() <= 64 * 1024 && text.contains("left out"), "{}", text.len());
}

#[test]
fn openmetrics_has_labels_that_end() {
    let text = with_report(true, false, openmetrics::text);
    assert!(text.ends_with("# EOF\n"));
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (labels, value) = line.rsplit_once("} ").unwrap();
        assert!(value.parse::<f64>().is_ok());
        let quotes = labels.replace("\\\\", "").replace("\\\"", "").matches('"').count();
        assert!(quotes == 2 || quotes == 6, "{line}");
    }
}
