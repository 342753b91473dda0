//! The table of the largest changes by call path.

use crate::compare::changes::{Compared, is_notable};
use crate::compare::coverage;
use crate::compare::matching::{Pair, Way};
use crate::compare::quantities::metrics_of_changes;
use crate::compare::samples::State;
use crate::output::{Cell, Column, Document, Line, Style, Table};
use crate::paths;

use super::quantities::style;

/// Changes that people see if they do not say how many.
const TOP: usize = 10;

/// Adds the table.
pub(super) fn add(
    compared: &Compared<'_, '_>,
    top: Option<usize>,
    is_for_scripts: bool,
    document: &mut Document,
) {
    let metrics = metrics_of_changes(compared.sides);
    let metrics: Vec<&str> = metrics.iter().map(String::as_str).collect();
    let mut changes = compared.by_call(&metrics);
    if !is_for_scripts {
        changes.retain(is_notable);
    }
    let all = changes.len();
    changes.truncate(top.unwrap_or(if is_for_scripts { usize::MAX } else { TOP }));
    if changes.is_empty() && !is_for_scripts {
        document.text(Line::styled(nothing(compared, &metrics), Style::Dim).indented(1));
        return;
    }
    document.text(Line::styled(" largest changes by call path", Style::Dim));
    let columns = vec![
        // An indentation.
        Column::text(""),
        Column::new("difference", ""),
        Column::new("metric", ""),
        Column::new("path", ""),
        Column::text(""),
        Column::data("a"),
        Column::data("b"),
        Column::data("unit"),
        Column::data("state"),
        Column::data("match"),
        Column::data("path_a"),
    ];
    let mut table = Table::new("calls", columns);
    for change in changes {
        let pair = compared.matching.pairs[change.pair];
        let way = match pair {
            Pair { a: None, .. } if !compared.sides[0].knows_calls() => "unknown",
            Pair { a: None, .. } => "new",
            Pair { b: None, .. } => "gone",
            Pair { way: Way::Renamed, .. } => "renamed",
            Pair { way: Way::Mapped, .. } => "mapped",
            Pair { .. } => "same",
        };
        let mut words = Vec::new();
        if !["same", "unknown"].contains(&way) {
            words.push(way);
        }
        if compared.may_be_outside(&change) {
            words.push("maybe outside of the run");
        }
        if change.change.state == State::Unclear {
            words.push("unclear");
        }
        let path_a = pair.a.map(|call| paths::joined(compared.sides[0].calls.names(call)));
        let state = change.change.state;
        table.rows.push(vec![
            Cell::Words(" ".into()),
            Cell::Signed(change.change.difference(), change.unit.clone(), style(state)),
            Cell::Words(change.metric.clone().into()),
            Cell::Name(paths::joined(compared.names(change.pair))),
            Cell::Words(words.join(", ").into()),
            Cell::Data(change.change.a.into()),
            Cell::Data(change.change.b.into()),
            Cell::Data(change.unit.name().into()),
            Cell::Data(state.name().into()),
            Cell::Data(way.into()),
            Cell::Data(path_a.into()),
        ]);
    }
    let shown = table.rows.len();
    document.table(table);
    document.more(all, shown, "--top");
}

/// That nothing has changed, and in what, if something was not compared.
fn nothing(compared: &Compared<'_, '_>, metrics: &[&str]) -> String {
    let is_covered = compared.sides.into_iter().all(coverage::is_enough);
    let known: Vec<&str> =
        metrics.iter().copied().filter(|metric| is_covered || !coverage::needs_coverage(metric)).collect();
    match is_covered {
        true if known.is_empty() => "no changes by call path: no time is compared".to_owned(),
        true => "no changes by call path above noise".to_owned(),
        false if known.is_empty() => "changes by call path are not known: too little was analysed".to_owned(),
        false => format!(
            "no changes by call path above noise in {}; waiting in MPI is not compared, as too little was analysed",
            known.join(", ")
        ),
    }
}
