//! Verdicts as annotations of GitHub Actions: commands in lines of standard output.

use super::{Report, plain};

/// Annotations of a step that GitHub shows.
const MOST: usize = 10;

/// The annotations of gates that failed, or could not be evaluated; one line each.
pub fn text(report: &Report<'_>) -> String {
    let mut text = String::new();
    let told = report.verdicts.iter().filter(|verdict| report.fails(verdict) || report.is_error(verdict));
    for verdict in told.take(MOST) {
        let title = property(&format!("gate {}", verdict.gate.text));
        text += &format!("::error title={title}::{}\n", data(&report.lines(verdict).join("\n")));
    }
    text
}

/// Lines of a text in which nothing is a command: names come from files.
pub fn without_commands(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("::") {
            safe.push('|');
        }
        // An older form of commands is obeyed anywhere in a line.
        safe += &line.replace("##[", "## [");
    }
    safe
}

/// The message of a command.
fn data(text: &str) -> String {
    let text = text.replace("##[", "## [");
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property of a command.
fn property(text: &str) -> String {
    data(&plain(text)).replace(':', "%3A").replace(',', "%2C")
}
