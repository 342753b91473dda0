//! `time`: locations over time as blocks of shades, from the table `grid`.

use std::path::PathBuf;

use cubex::{Cube, LocationGroupKind, LocationId};
use details::manifest::{Class, Manifest};

use crate::error::{Error, Result};
use crate::opened::Opened;
use crate::output::{Cell, Column, Document, Line, Output, Screen, Style, Table, numbers};
use crate::overview::words;
use crate::places;
use crate::status::Status;
use crate::tables::grid::{Request, Window, window};
use crate::tables::seconds;
use crate::values::{Unit, WAITING, is_waiting};

/// Rows if the user does not say how many.
const ROWS: usize = 16;

/// The class of time for which recording was off.
const NOT_RECORDED: &str = "not_recorded";

/// Columns for scripts, which have no screen.
const COLUMNS: usize = 120;

/// Arguments of `time`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The report, or an experiment directory
    pub file: PathBuf,

    /// A class of time, such as compute or late_sender; or waiting: all classes of waiting but that of shutdown
    #[arg(short = 'm', long, value_name = "CLASS", default_value = WAITING)]
    pub class: String,

    /// At most so many rows: neighbouring locations share one
    #[arg(long, value_name = "N", default_value_t = ROWS)]
    pub rows: usize,

    /// Begin, in seconds since the begin of the trace
    #[arg(long, value_name = "SECONDS", value_parser = time)]
    pub from: Option<f64>,

    /// End, in seconds since the begin of the trace
    #[arg(long, value_name = "SECONDS", value_parser = time)]
    pub to: Option<f64>,
}

fn time(text: &str) -> std::result::Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0);
    seconds.ok_or("a time is a number of seconds, such as 0.25".into())
}

/// Shows a class of time over locations and time.
///
/// # Errors
/// If the report has no such table or class, or they are damaged.
pub fn run(args: &Args, output: &mut Output<'_>) -> Result<Status> {
    let opened = Opened::open(&args.file, output)?;
    let (manifest, table) = opened.required_table("grid")?;
    let classes = selected(manifest, &args.class)?;
    let cube = opened.cube();
    let per_second = per_second(manifest);
    let [from, to] = [args.from, args.to].map(|time| time.map(|time| ticks(time * per_second)));
    let (from, to) = (from.unwrap_or(0), to.unwrap_or(manifest.end).min(manifest.end));
    if from >= to {
        let end = seconds(manifest, manifest.end.try_into().unwrap_or(i64::MAX));
        return Err(Error::new(format!(
            "--from is not before --to, or not before the end of the trace, {end} s"
        )));
    }
    let sizes = places::sizes(cube);
    let name = |at| places::name(cube, &sizes, LocationId(at));
    let columns =
        if output.is_for_scripts() { COLUMNS } else { output.screen().width.saturating_sub(18).max(8) };
    let (left_out, locations) = (not_recorded(manifest, &classes), cube.locations.len());
    let request =
        Request { classes: &classes, left_out: &left_out, locations, rows: args.rows, columns, from, to };
    let window = opened.in_details(window(manifest, &table, &request))?;
    let mut document = Document::new("time");
    document.fact("file", opened.path.display().to_string());
    document.fact("class", args.class.clone());
    draw(manifest, &window, &args.class, cube, output.screen(), &mut document);
    document.table(data(manifest, &window, &name));
    output.print(&document)?;
    Ok(Status::Done)
}

/// Ticks of a second.
fn per_second(manifest: &Manifest) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a frequency")]
    let per_second = manifest.ticks_per_second as f64;
    if per_second > 0.0 { per_second } else { 1e9 }
}

fn ticks(ticks: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative; saturates")]
    let ticks = ticks as u64;
    ticks
}

/// Which classes are meant by a name.
fn selected(manifest: &Manifest, name: &str) -> Result<Vec<bool>> {
    let classes = manifest.classes.iter();
    let selected: Vec<bool> = match name {
        WAITING => classes.map(is_of_waiting).collect(),
        name => classes.map(|class| class.name == name).collect(),
    };
    if selected.contains(&true) {
        return Ok(selected);
    }
    let names: Vec<&str> = manifest.classes.iter().map(|class| class.name.as_str()).collect();
    Err(Error::new(format!("no class of time {name}: this report has {WAITING}, {}", names.join(", "))))
}

/// Whether a class is waiting as the metric of this name has it: not that of shutdown.
pub(crate) fn is_of_waiting(class: &Class) -> bool {
    class.role == "wait" && class.adds.iter().any(|name| is_waiting(name))
}

/// The class of what was not recorded, unless it is what is asked for.
fn not_recorded(manifest: &Manifest, asked: &[bool]) -> Vec<bool> {
    let is_it = |(class, asked): (&Class, &bool)| class.name == NOT_RECORDED && !asked;
    manifest.classes.iter().zip(asked).map(is_it).collect()
}

/// Shades of a fifth each.
fn shade(share: f64, screen: &Screen) -> char {
    let shades =
        if screen.is_unicode { [' ', '░', '▒', '▓', '█'] } else { [' ', '.', ':', '+', '#'] };
    if share <= 0.0 {
        return shades[0];
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 4")]
    let at = (share * 4.0).ceil().clamp(1.0, 4.0) as usize;
    shades[at]
}

fn draw(
    manifest: &Manifest,
    window: &Window,
    class: &str,
    cube: &Cube,
    screen: &Screen,
    document: &mut Document,
) {
    let shades: Vec<String> = [0.25, 0.5, 0.75, 1.0].map(|share| shade(share, screen).to_string()).into();
    let cells =
        || (0..window.rows.len()).flat_map(|row| (0..window.columns).map(move |column| (row, column)));
    let mut legend =
        format!("{class}: {} is a quarter, half, three quarters, all of the time", shades.join(" "));
    if cells().any(|(row, column)| is_unknown(window, row, column)) {
        legend += &format!("; {} was not recorded", unknown(screen));
    }
    document.text(Line::styled(legend, Style::Dim));
    let columns = vec![Column::text(""), Column::text("")];
    let mut table = Table::new("picture", columns).text_only();
    let sizes = places::sizes(cube);
    let is_grouped = window.rows.iter().any(|&(_, count)| count > 1);
    for (row, &(first, count)) in window.rows.iter().enumerate() {
        let sign = |column: usize| match is_unknown(window, row, column) {
            true if window.share(row, column) <= 0.0 => unknown(screen),
            _ => shade(window.share(row, column), screen),
        };
        let line: String = (0..window.columns).map(sign).collect();
        let label = match is_grouped {
            true => Cell::Words(group_name(cube, &sizes, first, count).into()),
            false => Cell::Location(places::name(cube, &sizes, LocationId(first))),
        };
        table.rows.push(vec![label, Cell::Words(Line::styled(line, Style::Wait))]);
    }
    document.table(table);
    let time = |ticks: u64| seconds(manifest, i64::try_from(ticks).unwrap_or(i64::MAX));
    let [from, to] = [window.begin, window.end.min(manifest.end)].map(|ticks| numbers::seconds(time(ticks)));
    let cell = numbers::seconds(time(window.times(0).1 - window.times(0).0));
    document.text(Line::styled(format!("from {from} to {to}, {cell} a cell"), Style::Dim));
}

/// Whether most of a cell was not recorded.
fn is_unknown(window: &Window, row: usize, column: usize) -> bool {
    window.share_left_out(row, column) > 0.5
}

/// The name of neighbouring locations: of their ranks if these are whole, else their numbers.
fn group_name(cube: &Cube, sizes: &places::Sizes, first: usize, count: usize) -> String {
    let range = |what: &str, first: u64, last: u64| match last - first {
        0 => format!("{what} {first}"),
        _ => format!("{what}s {first}–{last}"),
    };
    let mut ranks: Vec<(u64, usize)> = Vec::new();
    let mut is_whole = true;
    for location in &cube.locations[first..first + count] {
        let group = &cube.location_groups[location.group.0];
        is_whole &= group.kind == LocationGroupKind::Process;
        match ranks.last_mut().filter(|(rank, _)| *rank == group.rank) {
            Some((_, missing)) => *missing = missing.saturating_sub(1),
            None => ranks.push((group.rank, sizes.of_process[location.group.0] - 1)),
        }
    }
    is_whole &= ranks.iter().all(|(_, missing)| *missing == 0);
    is_whole &= ranks.windows(2).all(|pair| pair[0].0 + 1 == pair[1].0);
    match (ranks.first(), ranks.last()) {
        (Some(&(first, _)), Some(&(last, _))) if is_whole => range("rank", first, last),
        _ => range("location", first as u64, (first + count - 1) as u64),
    }
}

/// The cells for scripts, a row each.
fn data(manifest: &Manifest, window: &Window, name: &dyn Fn(usize) -> String) -> Table {
    let columns = ["name", "location", "locations", "begin", "end", "seconds"].map(Column::data);
    let mut table = Table::new("cells", columns.into()).data_only();
    let time =
        |ticks: u64| Cell::Number(seconds(manifest, i64::try_from(ticks).unwrap_or(i64::MAX)), Unit::Seconds);
    for (row, &(first, count)) in window.rows.iter().enumerate() {
        for column in 0..window.columns {
            let (begin, end) = window.times(column);
            let ticks = window.ticks[row * window.columns + column];
            table.rows.push(vec![
                Cell::Name(name(first)),
                Cell::count(first),
                Cell::count(count),
                time(begin),
                time(end),
                Cell::Number(seconds(manifest, ticks), Unit::Seconds),
            ]);
        }
    }
    table
}

/// The waiting of all locations over time as shares of what was recorded, in at most so many columns, `None` where that is least of
/// a column; nothing if the report has no table `grid`.
///
/// # Errors
/// If the table is damaged.
pub(crate) fn waiting_over_time(opened: &Opened, columns: usize) -> Result<Option<Vec<Option<f64>>>> {
    let Some(manifest) = &opened.manifest else { return Ok(None) };
    let Some(table) = opened.table("grid")? else { return Ok(None) };
    let Ok(classes) = selected(manifest, WAITING) else { return Ok(None) };
    let locations = opened.cube().locations.len();
    let left_out = not_recorded(manifest, &classes);
    let to = manifest.end;
    let request =
        Request { classes: &classes, left_out: &left_out, locations, rows: 1, columns, from: 0, to };
    let waiting = opened.in_details(window(manifest, &table, &request))?;
    let share = |column: usize| {
        let share = waiting.share(0, column);
        (share > 0.0 || !is_unknown(&waiting, 0, column)).then_some(share)
    };
    Ok(Some((0..waiting.columns).map(share).collect()))
}

/// The share of waiting over time as a line of at most so many cells, and its title; `None` if the report has no table `grid`.
///
/// # Errors
/// If the table is damaged.
pub(crate) fn waiting_line(
    opened: &Opened,
    screen: &Screen,
    columns: usize,
) -> Result<Option<(String, String)>> {
    let Some(shares) = waiting_over_time(opened, columns)? else { return Ok(None) };
    let title = match shares.contains(&None) {
        true => format!("{} ({} was not recorded)", words::OVER_TIME, unknown(screen)),
        false => words::OVER_TIME.to_owned(),
    };
    Ok(Some((title, line_of(&shares, screen))))
}

/// The sign for what was not recorded.
fn unknown(screen: &Screen) -> char {
    if screen.is_unicode { '·' } else { '/' }
}

/// Shares as a line: the higher a sign, the more; `None` is not known.
pub(crate) fn line_of(shares: &[Option<f64>], screen: &Screen) -> String {
    let signs = if screen.is_unicode { "▁▂▃▄▅▆▇█" } else { "_.,:-=+#" };
    let signs: Vec<char> = signs.chars().collect();
    let sign = |&share: &Option<f64>| {
        let Some(share) = share else { return unknown(screen) };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 7")]
        let at = (share * 8.0).clamp(0.0, 7.0) as usize;
        signs[at]
    };
    shares.iter().map(sign).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cubex::{Location, LocationGroup, SystemTreeNode};

    #[test]
    fn groups_have_whole_ranks_or_numbers_of_locations() {
        let mut cube = Cube::default();
        let node = cube.add_system_tree_node(SystemTreeNode::default());
        for rank in 0..3 {
            let group = LocationGroup { system_tree_node: node, rank, ..LocationGroup::default() };
            let group = cube.add_location_group(group);
            for _ in 0..2 {
                cube.add_location(Location { group, ..Location::default() });
            }
        }
        let name = |first, count| group_name(&cube, &places::sizes(&cube), first, count);
        assert_eq!(name(0, 4), "ranks 0–1");
        assert_eq!(name(4, 2), "rank 2");
        assert_eq!(name(0, 3), "locations 0–2");
        assert_eq!(name(5, 1), "location 5");
    }
}
