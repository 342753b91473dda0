//! The first screen: whether anything is wrong, what to do first, and where time went.

use std::path::Path;

use details::manifest::Doubt;
use serde_json::{Value, json};

use crate::error::Result;
use crate::opened::Opened;
use crate::output::{Cell, Column, Document, Line, Output, Style, Table, numbers};
use crate::overview::{Action, Costs, Overview};
use crate::paths;
use crate::status::Status;
use crate::values::{Unit, Values, is_waiting};

/// Classes that are named; the rest is one.
const CLASSES: usize = 8;

/// The least share of a class that is named.
const LEAST: f64 = 0.005;

/// Cells of the line over time.
const OVER_TIME: usize = 80;

/// Prints the first screen of a report.
///
/// # Errors
/// If the report cannot be read.
pub fn run(file: &Path, output: &mut Output<'_>) -> Result<Status> {
    let opened = Opened::open(file, output)?;
    let values = Values::new(&opened.report);
    let overview = Overview::new(&opened, &values)?;
    let mut document = Document::new("overview");
    add_facts(&opened, &values, &overview, &mut document);
    document.text(title(&overview));
    document.gap();
    for sentence in &overview.headline {
        document.text(Line::styled(sentence.clone(), Style::Strong).indented(2));
    }
    add_actions(&values, &overview, &mut document);
    document.gap();
    add_classes(&overview, &mut document);
    match crate::commands::time::waiting_line(&opened, output.screen(), OVER_TIME.min(output.screen().width))
    {
        Ok(None) => {}
        Ok(Some(line)) => {
            document.gap();
            document.text(Line::styled("Waiting over time", Style::Dim));
            document.picture(Line::styled(line, Style::Wait));
        }
        Err(error) => output.warn(format!("{}: {error}; shown without", opened.path.display())),
    }
    add_trust(&opened, &overview, &mut document);
    document.gap();
    document.text(Line::styled(more(&opened, &overview), Style::Dim));
    output.print(&document)?;
    Ok(Status::Done)
}

/// Program, size and trust in a line.
fn title(overview: &Overview) -> Line {
    let mut parts = Vec::new();
    if !overview.program.is_empty() {
        parts.push(overview.program.clone());
    }
    let ranks =
        if overview.ranks == 1 { "1\u{a0}rank".into() } else { format!("{}\u{a0}ranks", overview.ranks) };
    parts.push(match overview.threads {
        0 | 1 => ranks,
        threads => format!("{ranks} of {threads} threads"),
    });
    let length = numbers::seconds(overview.run.length);
    parts.push(match overview.run.has_outside {
        true => format!("{length} (also before MPI_Init and after MPI_Finalize)"),
        false => length,
    });
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
    parts.join(" · ").into()
}

fn add_actions(values: &Values<'_>, overview: &Overview, document: &mut Document) {
    let Some(costs) = overview.costs.as_ref().filter(|_| !overview.actions.is_empty()) else { return };
    let wait = if costs.has_idle { "wait or are idle for" } else { "wait" };
    document.gap();
    document.text(Line::styled("Do first", Style::Strong));
    for (at, action) in overview.actions.iter().enumerate() {
        let seconds = numbers::seconds(action.seconds);
        let share = numbers::percent(costs.share(action.seconds));
        let line = Line::from(format!("{}\u{a0}", at + 1)).and(action.text.clone(), Style::Plain);
        let consequence =
            format!(": others {wait} {seconds}, {share} of all {}{}", costs.whole(), costs.limits());
        document.text(line.and(consequence, Style::Warning).indented(1));
        let path = paths::path(values.cube(), action.cnode);
        let place = place(values, action).map_or(String::new(), |place| format!(" (begins at {place})"));
        let evidence = action.evidence.join("; ");
        document.text(Line::from(format!("{path}{place}: {evidence}")).indented(3));
        if let Some(advice) = action.advice {
            document.text(Line::styled(advice.replace('`', ""), Style::Dim).indented(3));
        }
    }
}

/// File and line of the function of an action.
fn place(values: &Values<'_>, action: &Action) -> Option<String> {
    let cube = values.cube();
    let region = &cube.regions[cube.cnodes[action.cnode.0].region.0];
    // A function without a line is that of a library, whose "file" is its name.
    region.begin_line.filter(|_| !region.module.is_empty()).map(|line| format!("{}:{line}", region.module))
}

fn add_classes(overview: &Overview, document: &mut Document) {
    let columns = vec![
        Column::new("title", "Where time went"),
        Column::new("share", ""),
        Column::new("seconds", ""),
        Column::text(""),
        Column::data("name"),
        Column::data("role"),
    ];
    let mut table = Table::new("classes", columns);
    let most = overview.classes.iter().map(|class| class.share).fold(0.0, f64::max);
    let bar = |share: f64| Cell::Bar(if most > 0.0 { share / most } else { 0.0 });
    let (mut rest, mut rest_share) = (0.0, 0.0);
    for (at, class) in overview.classes.iter().enumerate() {
        let share = class.share;
        if at >= CLASSES || share.abs() < LEAST {
            rest += class.seconds;
            rest_share += share;
            continue;
        }
        table.rows.push(vec![
            Cell::Name(class.title.clone()),
            Cell::Share(share),
            Cell::Number(class.seconds, Unit::Seconds),
            bar(share),
            Cell::Data(class.name.clone().into()),
            Cell::Data(class.role.clone().into()),
        ]);
    }
    if rest != 0.0 {
        let share = rest_share;
        table.rows.push(vec![
            Cell::Name("other".into()),
            Cell::Share(share),
            Cell::Number(rest, Unit::Seconds),
            bar(share),
            Cell::Data("other".into()),
            Cell::Data(Value::Null),
        ]);
    }
    document.table(table);
}

/// What limits the trust in the numbers.
fn add_trust(opened: &Opened, overview: &Overview, document: &mut Document) {
    let mut lines = Vec::new();
    for finding in overview.findings.iter().flatten() {
        lines.push(format!("{}: {} × {}", finding.class, finding.count, finding.name));
    }
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
    if lines.is_empty() {
        return;
    }
    document.gap();
    document.text(Line::styled("Trust", Style::Strong));
    for line in lines {
        document.text(Line::from(line).indented(1));
    }
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

/// Where there is more.
fn more(opened: &Opened, overview: &Overview) -> String {
    let commands =
        if opened.manifest.is_some() { "tree · ranks · time · waits · matrix" } else { "tree · ranks" };
    let pattern = overview.actions.first().and_then(|action| action.pattern);
    let pattern = pattern.filter(|&id| patterns::PATTERNS.iter().any(|pattern| pattern.metric.id == id));
    let explain = pattern.map_or(String::new(), |pattern| format!(" · explain {pattern}"));
    format!("More: replay-show {commands}{explain}")
}

fn add_facts(opened: &Opened, values: &Values<'_>, overview: &Overview, document: &mut Document) {
    let run = &overview.run;
    document.fact("file", opened.path.display().to_string());
    document.fact("program", Some(overview.program.as_str()).filter(|name| !name.is_empty()));
    document.fact("ranks", overview.ranks);
    document.fact("threads", overview.threads);
    document.fact("length", run.length);
    document.fact("run", run.total);
    document.fact("idle", overview.idle);
    document.fact("mpi", run.mpi);
    document.fact("waiting", run.waiting);
    document.fact("not_recorded", run.not_recorded);
    document.fact("coverage", overview.coverage);
    document.fact("headline", overview.headline.clone());
    let actions = overview.actions.iter().map(|action| {
        let region = &values.cube().regions[values.cube().cnodes[action.cnode.0].region.0];
        json!({
            "id": action.id,
            "kind": action.kind,
            "text": action.text.replace('\u{a0}', " "),
            "cnode": action.cnode.0,
            "path": paths::path(values.cube(), action.cnode),
            "file": region.module,
            "line": region.begin_line,
            "place": action.place,
            "seconds": action.seconds,
            "share": overview.costs.as_ref().map(|costs| costs.share(action.seconds)),
            "share_of": overview.costs.as_ref().map(Costs::whole),
            "evidence": action.evidence,
            "metric": action.pattern,
            "advice": action.advice,
        })
    });
    document.fact("actions", actions.collect::<Value>());
    let findings = overview.findings.as_ref().map(|findings| {
        let findings = findings.iter().map(|finding| {
            json!({"class": finding.class, "name": finding.name, "count": finding.count, "meaning": finding.meaning})
        });
        findings.collect::<Value>()
    });
    document.fact("findings", findings);
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
