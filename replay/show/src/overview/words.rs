//! Words of the first screen: the same on the terminal and in the page.

use details::advice::{AdviceFile, Advised};
use details::advice_words;
use details::manifest::Doubt;

use super::{Action, ClassTime, Costs, Overview};
use crate::opened::Opened;
use crate::output::numbers;
use crate::values::{Values, is_waiting};
use crate::{paths, unrecorded};

/// Headings of the parts of the first screen.
pub const DO_FIRST: &str = "Do first";
/// See [`where_time_went`].
const WHERE: &str = "Where time went";
/// See [`DO_FIRST`].
pub const OVER_TIME: &str = "Waiting over time";
/// See [`DO_FIRST`].
pub const TRUST: &str = "Trust";
/// See [`DO_FIRST`].
pub const WAIT_MOST: &str = "Who waits most";

/// Classes that are named; the rest is one.
const CLASSES: usize = 8;

/// The least share of a class that is named.
const LEAST: f64 = 0.005;

/// Program, size and trust in a line.
pub fn title(overview: &Overview) -> String {
    let mut parts = Vec::new();
    if !overview.program.is_empty() {
        parts.push(overview.program.clone());
    }
    parts.push(size(overview));
    let length = numbers::seconds(overview.run.length);
    parts.push(match (&overview.focus, overview.run.has_outside) {
        (Some(focus), _) => format!("{length} of a part of the run: {focus}"),
        (None, true) => format!("{length} (also before MPI_Init and after MPI_Finalize)"),
        (None, false) => length,
    });
    parts.extend(unrecorded::part(overview.run.total, overview.run.not_recorded));
    parts.extend(overview.kept.clone());
    parts.extend(coverage_and_findings(overview));
    parts.join(" · ")
}

/// The heading of the classes of time.
pub fn where_time_went(overview: &Overview) -> &'static str {
    if overview.run.not_recorded > 0.0 { "Where recorded time went" } else { WHERE }
}

/// Numbers of ranks and of threads.
fn size(overview: &Overview) -> String {
    let ranks =
        if overview.ranks == 1 { "1\u{a0}rank".into() } else { format!("{}\u{a0}ranks", overview.ranks) };
    match overview.threads {
        0 | 1 => ranks,
        threads => format!("{ranks} of {threads} threads"),
    }
}

/// How much was analysed, and what is odd, as far as the report says so.
pub fn coverage_and_findings(overview: &Overview) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some(coverage) = overview.coverage {
        parts.push(format!("coverage {}", numbers::percent(coverage)));
    }
    if let Some(findings) = &overview.findings {
        parts.push(match findings.len() {
            0 => "no findings".into(),
            1 => "1\u{a0}finding".into(),
            count => format!("{count}\u{a0}findings"),
        });
    }
    parts
}

/// How all advice of a report is printed.
pub const ALL: &str = "replay-show advice --all";

/// What a change saves that is advised, and how sure that is.
pub fn gain(file: &AdviceFile, advised: &Advised) -> String {
    // Numbers keep their units.
    let gain =
        advice_words::gain(&advised.gain, &file.run).replace(" s,", "\u{a0}s,").replace(" %", "\u{a0}%");
    format!("{gain} of the run [{}]", advice_words::confidence(advised.confidence))
}

/// What there is behind the advice on the first screen.
pub fn further(file: &AdviceFile) -> Option<String> {
    match super::advice::first(file) {
        (_, 0) => advice_words::together(file, "all of these"),
        (_, others) => Some(format!("and {others} more (replay-show advice)")),
    }
}

/// What others wait because of the place of an action.
pub fn consequence(costs: &Costs, action: &Action) -> String {
    let wait = if costs.has_idle { "wait or are idle for" } else { "wait" };
    let seconds = numbers::seconds(action.seconds);
    let share = numbers::percent(costs.share(action.seconds));
    format!("others {wait} {seconds}, {share} of all {}{}", costs.whole(), costs.limits())
}

/// Where the place of an action is, and what shows that it is one.
pub fn evidence(values: &Values<'_>, action: &Action) -> String {
    let path = paths::path(values.cube(), action.cnode);
    let place = place(values, action).map_or(String::new(), |place| format!(" (begins at {place})"));
    format!("{path}{place}: {}", action.evidence.join("; "))
}

/// File and line of the function of an action.
fn place(values: &Values<'_>, action: &Action) -> Option<String> {
    let cube = values.cube();
    let region = &cube.regions[cube.cnodes[action.cnode.0].region.0];
    // A function without a line is that of a library, whose "file" is its name.
    region.begin_line.filter(|_| !region.module.is_empty()).map(|line| format!("{}:{line}", region.module))
}

/// What helps, without the signs that make names stand out.
pub fn advice(action: &Action) -> Option<String> {
    action.advice.map(|advice| advice.replace('`', ""))
}

/// The classes that are named, and the rest as one without a role.
pub fn named_classes(overview: &Overview) -> Vec<ClassTime> {
    let (mut named, mut rest) = (Vec::new(), None::<ClassTime>);
    for (at, class) in overview.classes.iter().enumerate() {
        if at < CLASSES && class.share.abs() >= LEAST {
            named.push(class.clone());
            continue;
        }
        let rest = rest.get_or_insert_with(|| ClassTime {
            name: "other".into(),
            title: "other".into(),
            role: String::new(),
            seconds: 0.0,
            share: 0.0,
        });
        rest.seconds += class.seconds;
        rest.share += class.share;
    }
    named.extend(rest.filter(|rest| rest.seconds != 0.0));
    named
}

/// That nothing is known of some locations, of so many.
pub fn unknown(count: usize, of: usize) -> String {
    format!("{count} of {of} without any event: unknown")
}

/// What limits the trust in the numbers.
pub fn trust(opened: &Opened, overview: &Overview) -> Vec<String> {
    let findings = overview.findings.iter().flatten();
    let mut lines: Vec<String> =
        findings.map(|finding| format!("{}: {} × {}", finding.class, finding.count, finding.name)).collect();
    if let Some(clocks) = opened.manifest.as_ref().map(|manifest| &manifest.summary.clocks)
        && clocks.error > 0.0
    {
        let error = numbers::seconds(clocks.error);
        let doubtful = doubtful(&clocks.doubts);
        let share = overview.run.waiting.filter(|&waiting| waiting > 0.0).map(|waiting| doubtful / waiting);
        lines.push(match share {
            Some(share) => format!(
                "clocks are wrong by {error} at least: {} of the waiting may be nothing else",
                numbers::percent(share.min(1.0))
            ),
            None => format!("clocks are wrong by {error} at least"),
        });
    }
    lines
}

/// Doubtful waiting, in seconds: each wait once, although metrics contain those below them.
fn doubtful(doubts: &[Doubt]) -> f64 {
    let is_listed = |name: &str| doubts.iter().any(|doubt| doubt.metric == name);
    let metrics = patterns::metrics();
    let parent = |name: &str| metrics.iter().find(|metric| metric.id == name)?.parent;
    let is_inside =
        |doubt: &Doubt| std::iter::successors(parent(&doubt.metric), |above| parent(above)).any(is_listed);
    doubts
        .iter()
        .filter(|doubt| is_waiting(&doubt.metric) && !is_inside(doubt))
        .map(|doubt| doubt.seconds)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubt(metric: &str, seconds: f64) -> Doubt {
        Doubt { metric: metric.into(), seconds, of: seconds }
    }

    #[test]
    fn doubtful_waits_of_nested_metrics_count_once() {
        let doubts = [
            doubt("mpi_latesender", 3.0),
            doubt("mpi_latesender_wo", 2.0),
            doubt("mpi_lswo_different", 2.0),
            doubt("mpi_wait_nxn", 1.0),
        ];
        assert_eq!(doubtful(&doubts), 4.0);
        assert_eq!(doubtful(&doubts[1..]), 3.0);
        // Start-up and shutdown are no waiting of the run.
        assert_eq!(doubtful(&[doubt("mpi_finalize_wait", 5.0)]), 0.0);
    }
}
