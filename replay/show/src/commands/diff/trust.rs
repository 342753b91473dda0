//! Warnings of what one side does not know: waiting that was not analysed, and lost data.

use crate::compare::changes::Compared;
use crate::compare::coverage;
use crate::compare::reading::Reading;
use crate::compare::side::Side;
use crate::output::{Output, numbers};

/// The class of findings by which a trace is incomplete.
const DATA_LOSS: &str = "data loss";

/// Warns if waiting of a side is not known, or only one side has lost data.
pub(super) fn warn(compared: &Compared<'_, '_>, output: &mut Output<'_>) {
    let [a, b] = compared.sides;
    if !(coverage::is_enough(a) && coverage::is_enough(b)) {
        let [a, b] =
            [a, b].map(|side| coverage::least(side).map_or("an unknown share".to_owned(), numbers::percent));
        output.warn(format!(
            "the analysis covers {a} of the time in MPI in A, and {b} in B: waiting is not compared, and what was not \
             found counts as communication"
        ));
    }
    let losses = [a, b].map(losses);
    for (at, (side, other)) in [("A", "B"), ("B", "A")].into_iter().enumerate() {
        if let (Some(count), Some(0)) = (losses[at].filter(|&count| count > 0), losses[1 - at]) {
            output.warn(format!(
                "data of {side} were lost ({count} times), and none of {other}: differences may come from that"
            ));
        }
    }
}

/// Occurrences of lost data in the runs of a side; `None` if a run does not say.
fn losses(side: &Side<'_>) -> Option<u64> {
    let of_run = |run: &Reading<'_>| {
        let findings = run.findings.as_ref()?.iter().filter(|finding| finding.class == DATA_LOSS);
        Some(findings.map(|finding| finding.count).sum::<u64>())
    };
    side.runs.iter().map(of_run).sum()
}
