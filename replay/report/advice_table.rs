//! Advice as a table of tab-separated values: the member `advice.tsv` (advice 6).

use super::names;
use crate::advice::{Advice, Advised};
use crate::report_paths::ReportPaths;
use crate::tools::Tools;

/// The name of the member.
pub(super) const TABLE: &str = "advice.tsv";

/// The columns.
const COLUMNS: [&str; 14] = [
    "rank",
    "rule",
    "title",
    "call path",
    "file",
    "line",
    "ranks",
    "most_s",
    "most_percent",
    "expected_s",
    "severity_s",
    "severity_percent",
    "confidence",
    "hidden",
];

/// All advice in its order, each in a row; what is not known is empty.
pub(super) fn table(tools: &Tools<'_>, paths: &ReportPaths, advice: &Advice) -> String {
    let mut text = COLUMNS.join("\t") + "\n";
    for (at, it) in advice.list.iter().enumerate() {
        let cells = row(tools, paths, advice, it);
        // Names come from the trace, and titles from rules: none of them may end a cell.
        let cells = cells.map(|cell| cell.replace(char::is_control, " "));
        text += &format!("{}\t{}\n", at + 1, cells.join("\t"));
    }
    text
}

fn row(tools: &Tools<'_>, paths: &ReportPaths, advice: &Advice, it: &Advised) -> [String; 13] {
    let ticks_per_second = tools.trace.definitions.clock.resolution as f64;
    let seconds = |ticks: f64| format!("{:.9}", ticks / ticks_per_second);
    let percent = |part: f64, of: f64| format!("{:.3}", 100.0 * part / of.max(1.0));
    let (file, line) = match names::source(tools.trace, paths, it.path) {
        Some((file, 0)) => (file.clone(), String::new()),
        Some((file, line)) => (file.clone(), line.to_string()),
        None => Default::default(),
    };
    [
        it.rule.clone(),
        it.title.clone(),
        names::path(tools.trace, paths, it.path),
        file,
        line,
        it.rank.map(|rank| rank.to_string()).unwrap_or_default(),
        seconds(it.most as f64),
        percent(it.most as f64, advice.bounds.run as f64),
        it.expected.map(|ticks| seconds(ticks as f64)).unwrap_or_default(),
        seconds(it.severity),
        percent(it.severity, advice.bounds.all as f64),
        format!("{:.3}", it.confidence),
        it.hidden.map(|why| why.name().to_owned()).unwrap_or_default(),
    ]
}
