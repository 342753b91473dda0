//! Verdicts as OpenMetrics text, for metrics reports of GitLab and for Prometheus.

use super::{Report, plain};
use crate::gates::evaluate::{Outcome, Verdict};

/// The document.
pub fn text(report: &Report<'_>) -> String {
    let mut text = String::from(
        "# TYPE replay_gate_failed gauge\n# HELP replay_gate_failed 1 if the gate failed, 0 if it passed.\n",
    );
    let is_missing = |verdict: &&Verdict| verdict.outcome == Outcome::Missing;
    for verdict in report.verdicts.iter().filter(|verdict| !is_missing(verdict)) {
        let failed = u8::from(report.fails(verdict));
        text += &format!("replay_gate_failed{{gate=\"{}\"}} {failed}\n", label(&verdict.gate.text));
    }
    text += "# TYPE replay_gate_missing gauge\n# HELP replay_gate_missing 1 if the gate could not be evaluated, 0 if it could.\n";
    for verdict in report.verdicts {
        let missing = u8::from(is_missing(&verdict));
        text += &format!("replay_gate_missing{{gate=\"{}\"}} {missing}\n", label(&verdict.gate.text));
    }
    text += "# TYPE replay_gate_value gauge\n# HELP replay_gate_value Median of the runs, in the base unit of the label.\n";
    for verdict in report.verdicts {
        let (gate, unit) = (label(&verdict.gate.text), label(verdict.unit.name()));
        for (side, value) in ["a", "b"].into_iter().zip(verdict.values) {
            if let Some(value) = value {
                text += &format!(
                    "replay_gate_value{{gate=\"{gate}\",side=\"{side}\",unit=\"{unit}\"}} {value}\n"
                );
            }
        }
    }
    text += "# EOF\n";
    text
}

/// The value of a label.
fn label(text: &str) -> String {
    plain(text).replace('\\', "\\\\").replace('"', "\\\"")
}
