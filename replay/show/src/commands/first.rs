//! The first screen: whether anything is wrong, what to do first, and where time went.

use std::path::Path;

use details::advice::AdviceFile;
use details::advice_words;
use serde_json::{Value, json};

use crate::error::Result;
use crate::opened::Opened;
use crate::output::{Cell, Column, Document, Line, Output, Style, Table};
use crate::overview::{Costs, Overview, advice, words};
use crate::paths;
use crate::status::Status;
use crate::values::{Unit, Values};

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
    document.text(words::title(&overview));
    document.gap();
    for sentence in &overview.headline {
        document.text(Line::styled(sentence.clone(), Style::Strong).indented(2));
    }
    match &overview.advice {
        Some(advice) => add_advice(advice, &mut document),
        None => add_actions(&values, &overview, &mut document),
    }
    document.gap();
    add_classes(&overview, &mut document);
    match crate::commands::time::waiting_line(&opened, output.screen(), OVER_TIME.min(output.screen().width))
    {
        Ok(None) => {}
        Ok(Some((title, line))) => {
            document.gap();
            document.text(Line::styled(title, Style::Dim));
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

/// What the analysis advises, or that it looked for advice and there is none.
fn add_advice(file: &AdviceFile, document: &mut Document) {
    document.gap();
    document.text(Line::styled(words::DO_FIRST, Style::Strong));
    for caveat in advice_words::caveats(&file.run) {
        document.text(Line::from(caveat).indented(1));
    }
    let (shown, _) = advice::first(file);
    if shown.is_empty() {
        for line in advice_words::nothing(file, words::ALL) {
            document.text(Line::from(line).indented(1));
        }
        return;
    }
    for (it, number) in shown.iter().zip(1..) {
        let line = Line::from(format!("{number}\u{a0}")).and(it.title.clone(), Style::Plain);
        let gain = format!(": {}", words::gain(file, it));
        document.text(line.and(gain, Style::Good).indented(1));
        document.text(Line::from(advice_words::place(&it.place)).indented(3));
        document.text(Line::styled(it.text.clone(), Style::Dim).indented(3));
        if let Some(scenario) = &it.scenario {
            // An option to be copied is whole.
            document.picture(Line::styled(advice_words::check(scenario), Style::Dim).indented(3));
        }
    }
    if let Some(further) = words::further(file) {
        document.text(Line::styled(further, Style::Dim).indented(1));
    }
}

fn add_actions(values: &Values<'_>, overview: &Overview, document: &mut Document) {
    let Some(costs) = overview.costs.as_ref().filter(|_| !overview.actions.is_empty()) else { return };
    document.gap();
    document.text(Line::styled(words::DO_FIRST, Style::Strong));
    for (at, action) in overview.actions.iter().enumerate() {
        let line = Line::from(format!("{}\u{a0}", at + 1)).and(action.text.clone(), Style::Plain);
        let consequence = format!(": {}", words::consequence(costs, action));
        document.text(line.and(consequence, Style::Warning).indented(1));
        document.text(Line::from(words::evidence(values, action)).indented(3));
        if let Some(advice) = words::advice(action) {
            document.text(Line::styled(advice, Style::Dim).indented(3));
        }
    }
}

fn add_classes(overview: &Overview, document: &mut Document) {
    let columns = vec![
        Column::new("title", words::where_time_went(overview)),
        Column::new("share", ""),
        Column::new("seconds", ""),
        Column::text(""),
        Column::data("name"),
        Column::data("role"),
    ];
    let mut table = Table::new("classes", columns);
    let most = overview.classes.iter().map(|class| class.share).fold(0.0, f64::max);
    for class in words::named_classes(overview) {
        table.rows.push(vec![
            Cell::Name(class.title),
            Cell::Share(class.share),
            Cell::Number(class.seconds, Unit::Seconds),
            Cell::Bar(if most > 0.0 { class.share / most } else { 0.0 }),
            Cell::Data(class.name.into()),
            Cell::Data(if class.role.is_empty() { Value::Null } else { class.role.into() }),
        ]);
    }
    document.table(table);
}

/// What limits the trust in the numbers.
fn add_trust(opened: &Opened, overview: &Overview, document: &mut Document) {
    let lines = words::trust(opened, overview);
    if lines.is_empty() {
        return;
    }
    document.gap();
    document.text(Line::styled(words::TRUST, Style::Strong));
    for line in lines {
        document.text(Line::from(line).indented(1));
    }
}

/// Where there is more.
fn more(opened: &Opened, overview: &Overview) -> String {
    let advice = overview.advice.as_ref().is_some_and(|file| !file.advice.is_empty());
    let advice = if advice { "advice · " } else { "" };
    let commands =
        if opened.manifest.is_some() { "tree · ranks · time · waits · matrix" } else { "tree · ranks" };
    let mut explained: Vec<&str> = Vec::new();
    for metric in overview.actions.iter().filter_map(|action| action.pattern) {
        let is_pattern = patterns::PATTERNS.iter().any(|pattern| pattern.metric.id == metric);
        if is_pattern && !explained.contains(&metric) {
            explained.push(metric);
        }
    }
    let explain: String = explained.iter().map(|metric| format!(" · explain {metric}")).collect();
    format!("More: replay-show {advice}{commands}{explain}")
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
    let advice = overview.advice.as_ref().map(|file| {
        let advised = file.advice.iter().map(|it| {
            json!({
                "rule": it.rule,
                "title": it.title,
                "text": it.text,
                "cnode": advice::cnode(values.cube(), &it.place).map(|cnode| cnode.0),
                "path": it.place.path,
                "place": it.place.line,
                "most": it.gain.most,
                "expected": it.gain.expected,
                "share": advice::share(file, it),
                "confidence": it.confidence,
                "scenario": it.scenario,
            })
        });
        advised.collect::<Value>()
    });
    document.fact("advice", advice);
    document.fact("advice_together", overview.advice.as_ref().and_then(|file| file.together));
    let findings = overview.findings.as_ref().map(|findings| {
        let findings = findings.iter().map(|finding| {
            json!({"class": finding.class, "name": finding.name, "count": finding.count, "meaning": finding.meaning})
        });
        findings.collect::<Value>()
    });
    document.fact("findings", findings);
}
