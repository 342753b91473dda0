//! `diff`: what changed between reports, where, and by how much.

mod calls;
mod locations;
mod quantities;
mod scaling;
mod sides;
mod trust;

use std::path::PathBuf;

use clap::ValueEnum;

use super::gates;
use crate::compare::advice::{Advice, new_advice};
use crate::compare::changes::{Compared, Floor};
use crate::compare::coverage;
use crate::compare::mapping::Mapping;
use crate::compare::measure::Measure;
use crate::compare::reading::Culprit;
use crate::compare::samples::median;
use crate::compare::side::{Rules, Side, matched};
use crate::error::{Error, Result};
use crate::gates::evaluate::{Subject, new_culprits};
use crate::gates::parse;
use crate::opened::Opened;
use crate::output::{Document, Line, Output, Style, numbers};
use crate::paths;
use crate::status::Status;
pub(crate) use quantities::{Form, style};
use scaling::Scaling;

/// The least share of time at matched call paths without a warning.
const LEAST_MATCHED: f64 = 0.9;

/// Metrics that are named of those that one side does not have.
const NAMED: usize = 8;

/// Arguments of `diff`.
#[derive(clap::Args, Clone, Debug)]
#[command(override_usage = "replay-show diff [OPTIONS] A B\n       \
                            replay-show diff [OPTIONS] A1 A2 ... -- B1 B2 ...\n       \
                            replay-show diff [OPTIONS] --against LOG [--last N] B...\n       \
                            replay-show diff [OPTIONS] --scaling strong|weak FILE...")]
pub struct Args {
    /// The reports, or experiment directories; with --, those of A, each from a run of its own
    #[arg(required = true, value_name = "A")]
    pub files: Vec<PathBuf>,

    /// The reports of B
    #[arg(last = true, value_name = "B")]
    pub others: Vec<PathBuf>,

    /// Form of values
    #[arg(long, value_enum, default_value = "mean")]
    pub unit: Measure,

    /// Include start-up and shutdown: MPI_Init and MPI_Finalize
    #[arg(long)]
    pub all: bool,

    /// Compare by call path, by function wherever it is called, or by location
    #[arg(long, value_enum, default_value = "path")]
    pub by: By,

    /// Call paths that match, in lines 'old-path = new-path'
    #[arg(long, value_name = "FILE")]
    pub map: Option<PathBuf>,

    /// Match call paths by name only: no new names, no inlined frames
    #[arg(long)]
    pub strict: bool,

    /// Leave arguments of templates out of names
    #[arg(long)]
    pub strip_templates: bool,

    /// The least change that counts, such as 10ms
    #[arg(long, value_name = "AMOUNT")]
    pub floor: Option<String>,

    /// So many of the largest changes by call path [default: 10; scripts get all]
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,

    /// What more ranks should bring: the same work in less time, or more work in the same time
    #[arg(long, value_enum)]
    pub scaling: Option<Scaling>,

    /// Compare with a log of 'history add' in the place of A
    #[arg(long, value_name = "LOG", conflicts_with_all = ["others", "scaling"])]
    pub against: Option<PathBuf>,

    /// Take so many of the last lines of the log with as many ranks and threads
    #[arg(long, value_name = "N", default_value = "10", requires = "against")]
    pub last: usize,

    // A comment for users would replace that of the command.
    #[command(flatten)]
    #[expect(missing_docs, reason = "see above")]
    pub gates: gates::GateArgs,
}

/// What is compared with what.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum By {
    /// Call paths.
    #[default]
    Path,
    /// Functions.
    Region,
    /// Locations, number by number.
    Location,
}

/// Compares reports.
///
/// # Errors
/// If a report or gate cannot be read, or the reports cannot be compared.
pub fn run(args: &Args, output: &mut Output<'_>) -> Result<Status> {
    // What the user says is checked before reports are read.
    let gates = args.gates.read()?;
    compare(args, Form::of(output), output, |made, output| {
        let [a, b] = made.compared.sides;
        let matching = made.compared.matching;
        let floor = made.compared.floor;
        let subject = Subject { a: Some((a, matching)), b, floor, gates: gates.len() };
        let title = format!("diff {} {}", a.first().label, b.first().label);
        gates::judge(&args.gates, &gates, &subject, made.culprits.as_deref(), &title, made.document, output)
    })
}

impl Args {
    /// The comparison of these reports, with nothing else asked for.
    pub(crate) fn of(files: Vec<PathBuf>, others: Vec<PathBuf>) -> Args {
        Args {
            files,
            others,
            unit: Measure::Mean,
            all: false,
            by: By::Path,
            map: None,
            strict: false,
            strip_templates: false,
            floor: None,
            top: None,
            scaling: None,
            against: None,
            last: 10,
            gates: gates::GateArgs::default(),
        }
    }
}

/// A comparison that is made.
pub(crate) struct Made<'m, 'r> {
    /// The reports of both sides; none of a history.
    pub(crate) opened: &'m [Vec<Opened>; 2],
    pub(crate) compared: Compared<'m, 'r>,
    /// What is to be said.
    pub(crate) document: Document,
    culprits: Option<Vec<Culprit>>,
}

/// Compares reports, and gives the result to a function.
///
/// # Errors
/// If a report cannot be read, or the reports cannot be compared; and those of the function.
pub(crate) fn compare<T>(
    args: &Args,
    form: Form,
    output: &mut Output<'_>,
    take: impl FnOnce(Made<'_, '_>, &mut Output<'_>) -> Result<T>,
) -> Result<T> {
    let map = args.map.as_deref().map(Mapping::read).transpose()?.unwrap_or_default();
    let floor = Floor(args.floor.as_deref().map(parse::amount).transpose()?);
    let (a, b) = sides::files(args)?;
    let opened = sides::open(&a, &b, output)?;
    let [a, b] = sides::read(args, &opened, output)?;
    let rules = Rules {
        map,
        is_strict: args.strict,
        strips_templates: args.strip_templates,
        is_by_region: args.by == By::Region,
    };
    let matching = matched([&a, &b], &rules);
    let compared = Compared { sides: [&a, &b], matching: &matching, measure: args.unit, floor: &floor };
    let mut document = Document::new("diff");
    add_facts(&compared, &mut document);
    if args.by == By::Location {
        locations::add(&compared, &mut document)?;
    } else {
        quantities::add(&compared, args.scaling, form, &mut document)?;
        add_interval(&compared, &mut document);
        calls::add(&compared, args.top, form.is_for_scripts, &mut document);
        add_outside(&compared, &mut document);
    }
    if let Some(scaling) = args.scaling {
        scaling::add(scaling, args, output, &mut document)?;
    }
    let culprits = new_culprits(&a, &b);
    add_culprits(&compared, culprits.as_deref(), &mut document);
    add_advice(&compared, &mut document);
    add_trust(&compared, args, &mut document);
    warn_of_matching(&compared, output);
    trust::warn(&compared, output);
    take(Made { opened: &opened, compared, document, culprits }, output)
}

fn add_facts(compared: &Compared<'_, '_>, document: &mut Document) {
    let [a, b] = compared.sides;
    for (key, side) in [("a", a), ("b", b)] {
        let files: Vec<&str> = side.runs.iter().map(|run| run.label.as_str()).collect();
        let shape = &side.first().shape;
        let side = serde_json::json!({
            "files": files, "ranks": shape.ranks, "threads": shape.threads,
            "program": Some(&shape.program).filter(|name| !name.is_empty()),
            "coverage": coverage::least(side)
        });
        document.fact(key, side);
    }
    document.fact("unit", compared.measure.title());
    document.fact("interval", serde_json::json!([a.first().interval(), b.first().interval()]));
    let outside = compared.sides.map(outside);
    document.fact("outside", serde_json::json!(outside));
}

/// Work before `MPI_Init` and after `MPI_Finalize`, per location: the median of the runs of a side.
fn outside(side: &Side<'_>) -> f64 {
    side.sample(|run| Some(run.outside / run.locations)).map_or(0.0, |sample| median(&sample))
}

/// Which part of the recording the run is, if it is not the usual one or not the same on both sides.
fn add_interval(compared: &Compared<'_, '_>, document: &mut Document) {
    let [a, b] = compared.sides.map(|side| side.first().interval());
    let usual = "between MPI_Init and MPI_Finalize";
    let text = match a == b {
        true if a == usual => return,
        true => format!("run: {a}"),
        false => format!("run: of A {a}; of B {b}"),
    };
    document.text(Line::styled(text, Style::Dim).indented(1));
}

/// Work outside of the run that differs: metrics have no times, so changes at call paths contain it.
fn add_outside(compared: &Compared<'_, '_>, document: &mut Document) {
    if !compared.has_other_outside() {
        return;
    }
    let [a, b] = compared.sides.map(|side| numbers::seconds(outside(side)));
    let text = format!(
        "comp at call paths contains work before MPI_Init and after MPI_Finalize, which the run does not: {a} in A, {b} in B \
         (mean per location)"
    );
    document.text(Line::styled(text, Style::Warning).indented(1));
}

/// Culprits of one side only: causes rather than symptoms.
fn add_culprits(compared: &Compared<'_, '_>, new: Option<&[Culprit]>, document: &mut Document) {
    let [a, b] = compared.sides;
    let gone = new_culprits(b, a);
    let (Some(new), Some(gone)) = (new, gone) else {
        document.fact("actions", serde_json::Value::Null);
        let why = " culprits are not compared: that needs details with root causes on both sides";
        document.text(Line::styled(why, Style::Dim).indented(0));
        return;
    };
    let joined = |culprit: &Culprit| paths::joined(culprit.path.iter().map(String::as_str).collect());
    let list = |culprits: &[Culprit]| -> serde_json::Value {
        let one = |it: &Culprit| match it.seconds {
            Some(seconds) => serde_json::json!({
                "id": it.id, "text": it.text.replace('\u{a0}', " "), "path": joined(it), "seconds": seconds
            }),
            None => serde_json::json!({"id": it.id, "text": null, "path": null, "seconds": null}),
        };
        culprits.iter().map(one).collect()
    };
    document.fact("actions", serde_json::json!({"new": list(new), "gone": list(&gone)}));
    for (word, style, culprits) in [("new", Style::Bad, new), ("gone", Style::Good, &gone)] {
        for culprit in culprits {
            let line = Line::styled(format!("culprit {word}: "), style);
            if culprit.seconds.is_none() {
                let id = line.and(culprit.id.clone(), Style::Plain);
                document.text(id.and(" (the log has its id only)", Style::Dim).indented(1));
                continue;
            }
            let line = line.and(culprit.text.clone(), Style::Plain);
            let place = format!(" ({}, {})", joined(culprit), culprit.id);
            document.text(line.and(place, Style::Dim).indented(1));
        }
    }
}

/// Advice of one side only, if it was looked for on both.
fn add_advice(compared: &Compared<'_, '_>, document: &mut Document) {
    let [a, b] = compared.sides;
    let (Some(new), Some(gone)) = (new_advice(a, b), new_advice(b, a)) else {
        document.fact("advice", serde_json::Value::Null);
        let has_advice = |side: &Side<'_>| side.runs.iter().all(|run| run.advice.is_some());
        let only = match (has_advice(a), has_advice(b)) {
            (true, false) => "A",
            (false, true) => "B",
            _ => return,
        };
        let text = format!(" advice is not compared: it was looked for in {only} only");
        document.text(Line::styled(text, Style::Dim).indented(0));
        return;
    };
    let list = |advice: &[Advice]| -> serde_json::Value {
        let one = |it: &Advice| {
            serde_json::json!({
                "rule": it.rule, "title": it.title, "path": it.path, "most": it.most, "expected": it.expected
            })
        };
        advice.iter().map(one).collect()
    };
    document.fact("advice", serde_json::json!({"new": list(&new), "gone": list(&gone)}));
    for (word, style, advice) in [("new", Style::Bad, new), ("gone", Style::Good, gone)] {
        for it in advice {
            let line = Line::styled(format!("advice {word}: "), style);
            let line = line.and(format!("{}: {}", it.title, it.gain), Style::Plain);
            document.text(line.and(format!(" ({}, {})", it.path, it.rule), Style::Dim).indented(1));
        }
    }
}

/// What the comparison rests on.
fn add_trust(compared: &Compared<'_, '_>, args: &Args, document: &mut Document) {
    let [a, b] = compared.sides;
    let matching = compared.matching;
    let count = |at: usize| {
        let matched = (0..matching.of[at].len()).filter(|&call| matching.is_matched(at, call)).count();
        (matched, matching.of[at].len())
    };
    let counts = [count(0), count(1)];
    let least = |metric: &str| {
        let shares = [0, 1].map(|at| compared.matched_share(at, metric));
        shares.into_iter().flatten().reduce(f64::min)
    };
    let (time, waiting) = (least("time"), least(crate::values::WAITING));
    let words = match counts {
        [one, other] if a.first().report.is_none() => {
            let kept = if a.knows_calls() { "of the log" } else { "that the log has kept" };
            format!("{} of {} call paths {kept}, {} of {} of B", one.0, one.1, other.0, other.1)
        }
        [one, other] if one == other => format!("{} of {} call paths", one.0, one.1),
        [one, other] => format!("{} of {} call paths of A, {} of {} of B", one.0, one.1, other.0, other.1),
    };
    let share = |share: Option<f64>, what: &str| {
        share.map_or(String::new(), |share| format!(", {} of the {what}", numbers::percent(share)))
    };
    // Waiting is a part of the time, and all of it where all of the time is.
    let waiting_words =
        if time == Some(1.0) && waiting == Some(1.0) { String::new() } else { share(waiting, "waiting") };
    let runs = match (a.runs.len(), b.runs.len()) {
        (1, 1) => "one run each: changes below 2\u{a0}% are noise by default".to_owned(),
        (a, b) => format!("{a} and {b} runs"),
    };
    let line = format!("matched: {words}{}{waiting_words} · {runs}", share(time, "time"));
    document.text(Line::styled(line, Style::Dim).indented(1));
    document.fact("matched", serde_json::json!({
        "a": counts[0].0, "of_a": counts[0].1, "b": counts[1].0, "of_b": counts[1].1, "time": time, "waiting": waiting,
    }));
    let only = crate::compare::quantities::not_compared(compared.sides);
    for (side, names) in ["A", "B"].into_iter().zip(&only).filter(|(_, names)| !names.is_empty()) {
        let mut text =
            format!("not compared, as only {side} has them: {}", names[..names.len().min(NAMED)].join(", "));
        if names.len() > NAMED {
            text += &format!(" and {} more", names.len() - NAMED);
        }
        document.text(Line::styled(text, Style::Warning).indented(1));
    }
    document.fact("not_compared", serde_json::json!({"only_a": only[0], "only_b": only[1]}));
    let lengths =
        compared.sides.map(|side| side.sample(|run| Some(run.length)).map(|sample| median(&sample)));
    document.fact("length", serde_json::json!(lengths));
    if args.by == By::Region {
        document.fact("by", "region");
    }
}

fn warn_of_matching(compared: &Compared<'_, '_>, output: &mut Output<'_>) {
    if !compared.sides[0].knows_calls() {
        // What does not match may have been there, too: the log does not say.
        return;
    }
    for (metric, what) in [("time", "time"), (crate::values::WAITING, "waiting")] {
        let shares = [0, 1].map(|at| compared.matched_share(at, metric));
        let Some(share) =
            shares.into_iter().flatten().reduce(f64::min).filter(|&share| share < LEAST_MATCHED)
        else {
            continue;
        };
        let share = numbers::percent(share);
        output.warn(format!(
            "only {share} of the {what} is at call paths that match: say with --map which are the same, or compare with \
             --by region"
        ));
    }
}

/// A measure that a table cannot have.
fn unsupported(what: &str, measure: Measure, expected: &str) -> Error {
    Error::new(format!("{what} with --unit {}: expected {expected}", measure.title()))
}
