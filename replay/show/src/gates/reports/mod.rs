//! Verdicts for CI systems. Names come from files and may be anything: each form escapes them so that they stay text.

pub mod github;
pub mod junit;
pub mod markdown;
pub mod openmetrics;

#[cfg(test)]
mod tests;

use super::evaluate::{Outcome, Verdict};
use crate::compare::reading::Culprit;
use crate::output::names::{cut, printable};

/// Columns of a name or sentence that are printed.
const WIDEST: usize = 400;

/// Culprits that are listed.
const CULPRITS: usize = 20;

/// What is reported.
#[derive(Clone, Copy, Debug)]
pub struct Report<'v> {
    /// What was done, such as `diff a.cubex b.cubex`.
    pub title: &'v str,
    /// The verdicts, in the order of the gates.
    pub verdicts: &'v [Verdict],
    /// Culprits that only B has; `None` if that is not known.
    pub culprits: Option<&'v [Culprit]>,
    /// Whether gates without values pass.
    pub passes_missing: bool,
    /// Whether gates of unclear changes fail.
    pub fails_unclear: bool,
}

impl Report<'_> {
    /// Whether a gate fails the job.
    pub fn fails(&self, verdict: &Verdict) -> bool {
        verdict.outcome == Outcome::Failed || self.fails_unclear && verdict.outcome == Outcome::Unclear
    }

    /// Whether a gate could not be evaluated, though it should be.
    pub fn is_error(&self, verdict: &Verdict) -> bool {
        verdict.outcome == Outcome::Missing && !self.passes_missing
    }

    /// A verdict in lines: the numbers, the call paths, and the culprits if the gate failed.
    pub fn lines(&self, verdict: &Verdict) -> Vec<String> {
        let mut lines = vec![plain(&verdict.message)];
        if !self.fails(verdict) {
            return lines;
        }
        lines.extend(
            verdict.calls.iter().map(|call| format!("{}  {}", plain(&call.number()), plain(&call.path))),
        );
        let culprits = self.culprits.unwrap_or_default();
        if !culprits.is_empty() {
            lines.push("culprits that are new:".to_owned());
        }
        for culprit in culprits.iter().take(CULPRITS) {
            let path = crate::paths::joined(culprit.path.iter().map(String::as_str).collect());
            lines.push(format!("{}  {} ({})", plain(&culprit.id), plain(&culprit.text), plain(&path)));
        }
        lines
    }
}

/// A text of one line that controls nothing, and has an end.
fn plain(text: &str) -> String {
    cut(&printable(text).replace(crate::output::numbers::JOINT, " "), WIDEST, "…")
}
