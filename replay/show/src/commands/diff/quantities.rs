//! The table of quantities: the run, and what its time went to.

use super::scaling::Scaling;
use crate::compare::changes::Compared;
use crate::compare::coverage;
use crate::compare::measure::Measure;
use crate::compare::quantities::{Compare, quantities};
use crate::compare::samples::State;
use crate::error::Result;
use crate::output::{Cell, Column, Document, Line, Output, Style, Table, numbers};
use crate::values::WAITING;

/// The least share of the run of a row that people see.
const LEAST: f64 = 0.005;

/// Columns of a screen on which remarks stand beside the numbers.
const WIDE: usize = 100;

/// What a comparison is printed for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Form {
    /// Scripts get all rows, people those that matter.
    pub(crate) is_for_scripts: bool,
    /// Whether there is room for remarks beside numbers, and not below them.
    pub(crate) is_wide: bool,
}

impl Form {
    /// Pages have room, and are for people.
    pub(crate) const PAGE: Form = Form { is_for_scripts: false, is_wide: true };

    /// What the user has asked to be printed.
    pub(super) fn of(output: &Output<'_>) -> Form {
        Form { is_for_scripts: output.is_for_scripts(), is_wide: output.screen().width >= WIDE }
    }
}

/// Adds the table.
///
/// # Errors
/// If there is no ideal of the measure.
pub(super) fn add(
    compared: &Compared<'_, '_>,
    scaling: Option<Scaling>,
    form: Form,
    document: &mut Document,
) -> Result<()> {
    let Form { is_for_scripts, is_wide } = form;
    let mut below = Vec::new();
    let mut columns = vec![
        Column::new("title", format!(" {}", compared.measure.title())),
        Column::new("a", title(compared, 0)).of_group("values"),
        Column::new("b", title(compared, 1)).of_group("values"),
    ];
    if scaling.is_some() {
        columns.push(Column::new("ideal", "ideal").of_group("values"));
    }
    columns.extend([
        Column::new("change", "change"),
        Column::text(""),
        Column::data("name"),
        Column::data("state"),
        Column::data("floor"),
        Column::data("unit"),
        Column::data("share_a"),
        Column::data("share_b"),
    ]);
    let mut table = Table::new("quantities", columns);
    let all = quantities(compared);
    let ideals = scaling.map(|scaling| scaling.ideals(compared, &all)).transpose()?;
    for (at, it) in all.iter().enumerate() {
        if !is_for_scripts && it.depth > 0 && it.largest_share() < LEAST {
            continue;
        }
        let number = |value: Option<f64>| {
            value.map_or(Cell::Obstacle("n/a"), |value| Cell::Number(value, it.unit.clone()))
        };
        let indent = if is_for_scripts { 0 } else { 1 + 2 * it.depth };
        let mut row = vec![
            Cell::Title(format!("{}{}", " ".repeat(indent), it.title)),
            number(it.medians[0]),
            number(it.medians[1]),
        ];
        if let Some(ideals) = &ideals {
            row.push(
                ideals
                    .get(at)
                    .copied()
                    .flatten()
                    .map_or(Cell::Nothing, |ideal| Cell::Number(ideal, it.unit.clone())),
            );
        }
        let state = it.change.map(|change| change.state);
        row.push(match it.change {
            Some(change) => Cell::Change(change.relative(), style(change.state)),
            None => Cell::Obstacle("n/a"),
        });
        let data = |value: Option<f64>| Cell::Data(value.into());
        let remark = remark(compared, it, state);
        if !is_wide && !remark.is_empty() {
            below.push(format!("{}: {remark}", it.title));
        }
        row.extend([
            Cell::Words(if is_wide { remark.into() } else { Line::default() }),
            Cell::Data(it.name.clone().into()),
            Cell::Data(state.map(State::name).into()),
            data(it.change.map(|change| change.floor)),
            Cell::Data(it.unit.name().into()),
            data(it.shares[0]),
            data(it.shares[1]),
        ]);
        table.rows.push(row);
    }
    document.table(table);
    below.into_iter().for_each(|line| document.text(Line::from(line).indented(1)));
    Ok(())
}

/// A side in few letters: its ranks if they differ, and its runs if there are several.
fn title(compared: &Compared<'_, '_>, at: usize) -> String {
    let side = compared.sides[at];
    let shape = &side.first().shape;
    let mut parts = Vec::new();
    if compared.sides[0].first().shape.ranks != compared.sides[1].first().shape.ranks {
        parts.push(shape.ranks.to_string());
    }
    if side.runs.len() > 1 {
        parts.push(format!("{} runs", side.runs.len()));
    }
    let name = ["A", "B"][at];
    if parts.is_empty() { name.to_owned() } else { format!("{name}: {}", parts.join(", ")) }
}

/// The style of a change.
pub(crate) fn style(state: State) -> Style {
    match state {
        State::Worse => Style::Bad,
        State::Better => Style::Good,
        State::Same => Style::Dim,
        State::Unclear => Style::Warning,
    }
}

/// What is to be said of a row besides its numbers.
fn remark(compared: &Compared<'_, '_>, it: &Compare, state: Option<State>) -> String {
    let mut words = Vec::new();
    if state == Some(State::Unclear) {
        words.push("unclear".to_owned());
    }
    let has_points = it.name == WAITING && it.change.is_some() && compared.measure != Measure::Share;
    if let ([Some(a), Some(b)], true) = (it.shares, has_points) {
        let points = numbers::signed(100.0 * (b - a), &crate::values::Unit::Other("%".into()), 1);
        words.push(format!("{} → {} of the run ({points})", numbers::share(a), numbers::share(b)));
    }
    if it.change.is_none() {
        let is_covered = compared.sides.into_iter().all(coverage::is_enough);
        let why = match is_covered || !coverage::needs_coverage(&it.name) {
            true if it.medians.iter().all(Option::is_some) => {
                "one side contains waiting, which it did not measure"
            }
            true if compared.sides[0].first().report.is_none() && it.medians[0].is_none() => {
                "the log does not have it"
            }
            true => "one side did not measure it",
            false => "too little was analysed",
        };
        words.push(why.to_owned());
    }
    words.join(", ")
}
