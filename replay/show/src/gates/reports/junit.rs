//! Verdicts as JUnit XML: a test case for each gate.

use super::{Report, plain};
use crate::gates::evaluate::Outcome;

/// The document.
pub fn text(report: &Report<'_>) -> String {
    let count = |is_counted: &dyn Fn(&_) -> bool| {
        report.verdicts.iter().filter(|verdict| is_counted(verdict)).count()
    };
    let tests = report.verdicts.len();
    let failures = count(&|verdict| report.fails(verdict));
    let errors = count(&|verdict| report.is_error(verdict));
    let skipped = count(&|verdict| verdict.outcome == Outcome::Missing) - errors;
    let suite = escaped(report.title);
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    xml += &format!("<testsuites tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\">\n");
    xml += &format!(
        "  <testsuite name=\"{suite}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\" time=\"0\">\n"
    );
    xml += &properties(report);
    for verdict in report.verdicts {
        let name = escaped(&verdict.gate.text);
        xml += &format!("    <testcase classname=\"replay-show\" name=\"{name}\" time=\"0\">\n");
        let message = escaped(&verdict.message);
        let lines = report.lines(verdict).iter().map(|line| escaped(line)).collect::<Vec<_>>().join("\n");
        if report.fails(verdict) {
            xml += &format!("      <failure message=\"{message}\" type=\"gate\">{lines}</failure>\n");
        } else if report.is_error(verdict) {
            xml += &format!("      <error message=\"{message}\" type=\"missing\">{lines}</error>\n");
        } else if verdict.outcome == Outcome::Missing {
            xml += &format!("      <skipped message=\"{message}\"/>\n");
        } else {
            xml += &format!("      <system-out>{lines}</system-out>\n");
        }
        xml += "    </testcase>\n";
    }
    xml += "  </testsuite>\n</testsuites>\n";
    xml
}

/// The values of all gates. Schemas allow properties of a suite only, so each has the gate in its name.
fn properties(report: &Report<'_>) -> String {
    let mut xml = String::new();
    for verdict in report.verdicts {
        let gate = escaped(&verdict.gate.text);
        let values = ["a", "b"].into_iter().zip(verdict.values);
        let mut values: Vec<_> =
            values.filter_map(|(side, value)| Some((side, value?.to_string()))).collect();
        if !values.is_empty() {
            values.push(("unit", escaped(verdict.unit.name())));
        }
        for (key, value) in values {
            xml += &format!("      <property name=\"{gate}: {key}\" value=\"{value}\"/>\n");
        }
    }
    if xml.is_empty() { xml } else { format!("    <properties>\n{xml}    </properties>\n") }
}

/// A text for XML 1.0, in attributes and between tags.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in plain(text).chars() {
        match letter {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&apos;",
            // No XML may have these.
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}
