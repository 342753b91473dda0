//! What `diff` and `check` do with gates: options, verdicts in the document, files for CI systems, and the exit status.

use std::path::PathBuf;

use clap::ValueEnum;

use super::sink;
use crate::compare::reading::Culprit;
use crate::error::{Error, Result};
use crate::gates::evaluate::{Outcome, Subject, Verdict, evaluate};
use crate::gates::reports::{Report, github, junit, markdown, openmetrics};
use crate::gates::{self, Gate, Name, parse};
use crate::output::{Cell, Column, Document, Format, Line, Output, Style, Table, render};
use crate::status::Status;

/// The most gates.
const MOST: usize = 10_000;

/// Options of gates.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Gates")]
pub struct GateArgs {
    /// Fail if this holds, such as 'run > +5%', 'waiting > 20%' or 'max(delay@**/halo) > 0.5s'
    #[arg(long, value_name = "GATE")]
    pub fail_if: Vec<String>,

    /// A file with a gate in each line
    #[arg(long, value_name = "FILE")]
    pub gates: Vec<PathBuf>,

    /// What a gate does whose metric or call path is missing
    #[arg(long, value_enum, default_value = "fail")]
    pub missing: Missing,

    /// Fail also if the runs do not show a change with certainty
    #[arg(long)]
    pub fail_on_unclear: bool,

    /// Write the verdicts as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    /// Print annotations of GitHub Actions for gates that failed
    #[arg(long)]
    pub github: bool,

    /// Write the verdicts as Markdown, such as for $GITHUB_STEP_SUMMARY
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,

    /// Write the verdicts as OpenMetrics text
    #[arg(long, value_name = "FILE")]
    pub openmetrics: Option<PathBuf>,
}

/// What a gate does whose metric or call path is missing.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Missing {
    /// Exit status 2.
    #[default]
    Fail,
    /// Nothing.
    Pass,
}

impl GateArgs {
    /// The gates: those of the command line, then those of files.
    ///
    /// # Errors
    /// If one is wrong.
    pub fn read(&self) -> Result<Vec<Gate>> {
        let mut all = Vec::new();
        for text in &self.fail_if {
            all.push(parse::gate(text)?);
        }
        for file in &self.gates {
            all.extend(gates::read(file)?);
        }
        if all.len() > MOST {
            return Err(Error::new(format!("{} gates, expected at most {MOST}", all.len())));
        }
        Ok(all)
    }
}

/// Evaluates gates, prints the document with the verdicts, and writes the files.
///
/// # Errors
/// If a gate cannot be evaluated for these sides, or something cannot be written.
pub(super) fn judge(
    args: &GateArgs,
    gates: &[Gate],
    subject: &Subject<'_, '_>,
    culprits: Option<&[Culprit]>,
    title: &str,
    mut document: Document,
    output: &mut Output<'_>,
) -> Result<Status> {
    let verdicts = gates.iter().map(|gate| evaluate(gate, subject)).collect::<Result<Vec<Verdict>>>()?;
    let report = Report {
        title,
        verdicts: &verdicts,
        culprits,
        passes_missing: args.missing == Missing::Pass,
        fails_unclear: args.fail_on_unclear,
    };
    if !gates.is_empty() {
        document.gap();
    }
    if let Some(form) = form(gates, subject) {
        document.text(Line::styled(form, Style::Dim).indented(1));
    }
    add_verdicts(&report, &mut document);
    match (args.github, output.format()) {
        (true, Format::Text) => {
            // Names at the begin of a line could be commands.
            let text = github::without_commands(&render(&document, output.screen())) + &github::text(&report);
            output.write(|results| results.write_all(text.as_bytes()))?;
        }
        (is_github, _) => {
            output.print(&document)?;
            if is_github {
                output.write(|results| results.write_all(github::text(&report).as_bytes()))?;
            }
        }
    }
    for (file, text) in [
        (&args.junit, junit::text as fn(&Report<'_>) -> String),
        (&args.markdown, markdown::text),
        (&args.openmetrics, openmetrics::text),
    ] {
        if let Some(file) = file {
            let text = text(&report);
            sink::file(Some(file), u64::MAX, output, |out| Ok(out.write_all(text.as_bytes())?))?;
        }
    }
    Ok(if verdicts.iter().any(|verdict| report.is_error(verdict)) {
        Status::Failed
    } else if verdicts.iter().any(|verdict| report.fails(verdict)) {
        Status::GateFailed
    } else {
        Status::Done
    })
}

/// What numbers of metrics are, if gates have any.
fn form(gates: &[Gate], subject: &Subject<'_, '_>) -> Option<&'static str> {
    let is_sum = |gate: &Gate| match &gate.name {
        Name::Run => Some(true),
        Name::Metric(name) => Some(subject.b.first().metrics.get(name).is_none_or(|metric| metric.is_sum)),
        _ => None,
    };
    let has = |wanted: bool| gates.iter().any(|gate| is_sum(gate) == Some(wanted));
    match (has(true), has(false)) {
        (true, false) => Some("metrics of gates: mean per location, unless a gate names another form"),
        (true, true) => Some(
            "metrics of gates: mean per location, unless a gate names another form; what does not add up, such as ratios and \
             minima, over all locations",
        ),
        (false, true) => Some(
            "metrics of gates: over all locations, unless a gate names another form, as they do not add up",
        ),
        (false, false) => None,
    }
}

/// The verdicts: a line each, then numbers of those that failed.
fn add_verdicts(report: &Report<'_>, document: &mut Document) {
    if report.verdicts.is_empty() {
        return;
    }
    let columns = vec![
        Column::new("outcome", "gates"),
        Column::new("gate", ""),
        Column::data("message"),
        Column::data("a"),
        Column::data("b"),
        Column::data("unit"),
        Column::data("calls"),
    ];
    for verdict in report.verdicts {
        let style = match verdict.outcome {
            _ if report.fails(verdict) => Style::Bad,
            Outcome::Passed => Style::Good,
            Outcome::Failed | Outcome::Unclear | Outcome::Missing => Style::Warning,
        };
        let line = Line::from(" gate ").and(verdict.outcome.name(), style).and(": ", Style::Plain);
        document.text(line.and(verdict.gate.text.clone(), Style::Strong).indented(0));
        let mut lines = vec![verdict.message.clone()];
        if report.fails(verdict) {
            lines.extend(verdict.calls.iter().map(|call| format!("{}  {}", call.number(), call.path)));
        }
        lines.into_iter().for_each(|line| document.text(Line::from(line).indented(3)));
    }
    let mut table = Table::new("gates", columns).data_only();
    for verdict in report.verdicts {
        let number = |value: Option<f64>| value.map_or(Cell::Nothing, |value| Cell::Data(value.into()));
        let calls =
            verdict.calls.iter().map(|call| serde_json::json!({"path": call.path, "value": call.value}));
        table.rows.push(vec![
            Cell::Data(verdict.outcome.name().into()),
            Cell::Name(verdict.gate.text.clone()),
            Cell::Data(verdict.message.replace('\u{a0}', " ").into()),
            number(verdict.values[0]),
            number(verdict.values[1]),
            Cell::Data(verdict.unit.name().into()),
            Cell::Data(calls.collect()),
        ]);
    }
    document.table(table);
}
