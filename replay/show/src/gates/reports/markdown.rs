//! Verdicts as Markdown, for summaries of jobs and comments on merge requests.

use super::{CULPRITS, Report, plain};
use crate::gates::evaluate::Outcome;

/// The largest document, in bytes: comments may not be larger.
const LARGEST: usize = 64 * 1024;

/// Room for the words that say that something was left out.
const REST: usize = 100;

/// The document.
pub fn text(report: &Report<'_>) -> String {
    let failed = report.verdicts.iter().filter(|verdict| report.fails(verdict)).count();
    let errors = report.verdicts.iter().filter(|verdict| report.is_error(verdict)).count();
    let gates = |count: usize| format!("{count} gate{}", if count == 1 { "" } else { "s" });
    let mut said = Vec::new();
    if failed > 0 {
        said.push(format!("**{} failed.**", gates(failed)));
    }
    if errors > 0 {
        said.push(format!("**{} could not be evaluated.**", gates(errors)));
    }
    if said.is_empty() {
        said.push("No gate failed.".to_owned());
    }
    let mut lines = vec![
        format!("### replay-show {}", span(report.title)),
        String::new(),
        said.join(" "),
        String::new(),
        "| gate | | numbers |".to_owned(),
        "|---|---|---|".to_owned(),
    ];
    for verdict in report.verdicts {
        let outcome = match verdict.outcome {
            Outcome::Failed => "**failed**",
            outcome => outcome.name(),
        };
        let (gate, message) = (in_cell(&verdict.gate.text), in_cell(&verdict.message));
        lines.push(format!("| {gate} | {outcome} | {message} |"));
    }
    for verdict in report.verdicts.iter().filter(|verdict| report.fails(verdict) && !verdict.calls.is_empty())
    {
        lines.extend([String::new(), format!("Call paths of {}:", span(&verdict.gate.text)), String::new()]);
        lines.extend(
            verdict.calls.iter().map(|call| format!("- {} {}", span(&call.number()), span(&call.path))),
        );
    }
    let culprits = report.culprits.unwrap_or_default();
    if !culprits.is_empty() {
        lines.extend([String::new(), "Culprits that are new:".to_owned(), String::new()]);
        for culprit in culprits.iter().take(CULPRITS) {
            let path = crate::paths::joined(culprit.path.iter().map(String::as_str).collect());
            lines.push(format!("- {} {} in {}", span(&culprit.id), span(&culprit.text), span(&path)));
        }
    }
    let mut text = String::new();
    for line in lines {
        if text.len() + line.len() + REST > LARGEST {
            text += "\n… more is left out, as summaries and comments have a largest size\n";
            break;
        }
        text += &line;
        text.push('\n');
    }
    text
}

/// A text as a code span: no sign in it means anything.
fn span(text: &str) -> String {
    let text = plain(text);
    if text.trim().is_empty() {
        return "` `".to_owned();
    }
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // A space keeps backticks at the ends apart from the fence.
    let gap = if longest > 0 { " " } else { "" };
    // Some forges look for people in code, too.
    format!("{fence}{gap}{}{gap}{fence}", text.replace('@', "@\u{200b}"))
}

/// The same in a table, where a bar ends the cell even in code.
fn in_cell(text: &str) -> String {
    span(text).replace('|', "\\|")
}
