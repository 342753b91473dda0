//! `iterations`: the main loop by iteration, from the tables `series` and `series_values`.

use std::path::PathBuf;

use cubex::{CnodeId, Cube, LocationId};
use details::manifest::{MainLoop, Manifest, Recorded};

use crate::error::{Error, Result};
use crate::opened::Opened;
use crate::output::{Cell, Column, Document, Line, Output, Screen, Style, Table, numbers};
use crate::status::Status;
use crate::tables::series::{Iteration, Value, iterations, values};
use crate::values::Unit;
use crate::{places, unrecorded};

/// Rows that people get if they do not say how many.
const TOP: usize = 10;

/// The metric that is shown if none are named.
const METRIC: &str = "mpi";

/// Arguments of `iterations`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The report, or an experiment directory
    pub file: PathBuf,

    /// Metrics by unique name, with commas between them; the first one is drawn [default: mpi]
    #[arg(short, long = "metric", value_name = "LIST", value_delimiter = ',')]
    pub metric: Vec<String>,

    /// Only iterations of a kind, by its number
    #[arg(long, value_name = "K")]
    pub kind: Option<usize>,

    /// Only so many, those that took longest [default: 10; scripts get all, in their order]
    #[arg(short = 'n', long, value_name = "N")]
    pub top: Option<usize>,
}

/// A metric by iteration.
struct Series {
    name: String,
    title: String,
    unit: Unit,
    values: Vec<Option<Value>>,
}

/// Shows the iterations of the main loop.
///
/// # Errors
/// If the report has no such tables, or they are damaged; or no such metric or kind.
pub fn run(args: &Args, output: &mut Output<'_>) -> Result<Status> {
    let opened = Opened::open(&args.file, output)?;
    let cube = opened.cube();
    let no_loop = || {
        let path = opened.path.display();
        Error::new(format!(
            "{path}: no main loop: the program has none, or it was not looked for (replay-analyze --structure)"
        ))
    };
    if opened.manifest.as_ref().is_some_and(|manifest| manifest.main_loop.is_none()) {
        return Err(no_loop());
    }
    let (manifest, table) = opened.required_table("series")?;
    let main_loop = manifest.main_loop.as_ref().ok_or_else(no_loop)?;
    let all = opened.in_details(iterations(manifest, main_loop, &table, cube.locations.len()))?;
    let series = read(args, &opened, manifest, main_loop, &all)?;
    let kinds = main_loop.kinds.len();
    if let Some(kind) = args.kind.filter(|kind| !(1..=kinds).contains(kind)) {
        return Err(Error::new(format!("no kind {kind}: this report has {kinds}, numbered from 1")));
    }
    let wanted: Vec<usize> = (0..all.len())
        .filter(|&at| args.kind.is_none_or(|kind| all[at].kind.is_some_and(|own| own + 1 == kind)))
        .collect();
    let mut document = Document::new("iterations");
    document.fact("file", opened.path.display().to_string());
    document.fact("iterations", main_loop.iterations);
    document.fact("block", main_loop.block);
    document.fact("crossing", main_loop.crossing);
    document.fact("disagreeing", main_loop.disagreeing);
    let numbers = Numbers::new(manifest);
    headline(main_loop, &all, numbers.are_kept(), &mut document);
    if let Some(text) = numbers.remark() {
        document.text(text);
    }
    draw(&all, series.first(), output.screen(), &mut document);
    let mut shown = wanted.clone();
    let top = args.top.unwrap_or(if output.is_for_scripts() { usize::MAX } else { TOP });
    if top < shown.len() {
        shown.sort_by(|&a, &b| all[b].elapsed.total_cmp(&all[a].elapsed).then(a.cmp(&b)));
        shown.truncate(top);
    }
    let sizes = places::sizes(cube);
    let name = |at: Option<usize>| at.map(|at| places::name(cube, &sizes, LocationId(at)));
    document.table(rows((main_loop, &numbers), &all, &shown, &series, &name));
    document.more(wanted.len(), top, "-n");
    document.table(kind_table(main_loop, &numbers));
    document.table(causes((manifest, &numbers), main_loop, cube, &name));
    output.print(&document)?;
    Ok(Status::Done)
}

/// The numbers that iterations have in the program, where only some were recorded.
struct Numbers<'n> {
    recorded: Option<&'n Recorded>,
    /// Whether people see them: they are others than those of the report.
    are_shown: bool,
}

impl<'n> Numbers<'n> {
    fn new(manifest: &'n Manifest) -> Numbers<'n> {
        let recorded = manifest.recorded.as_ref();
        let are_others =
            |recorded: &Recorded| recorded.numbers.iter().any(|[place, number, _]| place != number);
        Numbers { recorded, are_shown: recorded.is_some_and(are_others) }
    }

    /// Whether all iterations were kept to stand for others: that they are unlike each other is why.
    fn are_kept(&self) -> bool {
        self.recorded.is_some_and(|recorded| recorded.is_short && recorded.are_main_loop)
    }

    /// What is to be known of the numbers.
    fn remark(&self) -> Option<Line> {
        let recorded = self.recorded?;
        let Recorded { iterations, of, .. } = recorded;
        if recorded.is_short && !recorded.are_main_loop {
            let kept = match iterations {
                1 => "iteration".to_owned(),
                count => format!("{count} iterations"),
            };
            let text = format!("These are not the {kept} of {of} that the short archive was made of");
            return Some(Line::styled(text, Style::Warning));
        }
        let text = match recorded.is_short {
            true => {
                format!(
                    "They were kept of {of} in a short archive: \"in program\" is their number among the {of}"
                )
            }
            false => {
                "Only some were recorded: \"in program\" is their number there, if it is known".to_owned()
            }
        };
        self.are_shown.then(|| Line::styled(text, Style::Dim))
    }

    /// A column of numbers in the program.
    fn column(&self) -> Column {
        if self.are_shown { Column::new("of_loop", "in program") } else { Column::data("of_loop") }
    }

    fn cell(&self, iteration: u64) -> Cell {
        let number = self.recorded.and_then(|recorded| recorded.number(iteration));
        number.map_or(Cell::Nothing, integer)
    }

    /// A column of how many an iteration stands for.
    fn weight_column(&self) -> Column {
        if self.are_kept() { Column::new("weight", "stands for") } else { Column::data("weight") }
    }

    fn weight(&self, iteration: u64) -> Cell {
        let recorded = self.recorded.filter(|_| self.are_kept());
        let place = usize::try_from(iteration).ok().and_then(|number| number.checked_sub(1));
        let weight = recorded.zip(place).and_then(|(recorded, at)| recorded.weights.get(at));
        weight.map_or(Cell::Nothing, |&weight| integer(weight))
    }
}

/// Reads the metrics that are asked for.
fn read(
    args: &Args,
    opened: &Opened,
    manifest: &Manifest,
    main_loop: &MainLoop,
    all: &[Iteration],
) -> Result<Vec<Series>> {
    let cube = opened.cube();
    let (_, table) = opened.required_table("series_values")?;
    let names: Vec<&str> = match args.metric.is_empty() {
        true => vec![METRIC],
        false => args.metric.iter().map(String::as_str).collect(),
    };
    let series = |name: &str| {
        let place = main_loop.metrics.iter().position(|known| known == name).ok_or_else(|| {
            let known = main_loop.metrics.join(", ");
            Error::new(format!("no metric {name} by iteration: this report has {known}"))
        })?;
        let metric = cube.metric_named(name).map(|id| &cube.metrics[id.0]);
        let unit = metric.map_or(Unit::Other(String::new()), |metric| Unit::from_name(&metric.unit));
        let which = (place, unit == Unit::Seconds);
        let values = opened.in_details(values(manifest, &table, which, (all, cube.locations.len())))?;
        let title = metric.map_or(name, |metric| &metric.display_name).to_owned();
        Ok(Series { name: name.to_owned(), title, unit, values })
    };
    names.into_iter().map(series).collect()
}

/// Says how many iterations there are, and how long they take.
fn headline(main_loop: &MainLoop, all: &[Iteration], are_kept: bool, document: &mut Document) {
    let usual: Vec<&Iteration> = all.iter().filter(|it| !it.is_border).collect();
    let usual = if usual.len() < 3 { all.iter().collect() } else { usual };
    let mut elapsed: Vec<f64> = usual.iter().map(|it| it.elapsed).collect();
    elapsed.sort_by(f64::total_cmp);
    let (Some(least), Some(most)) = (elapsed.first(), elapsed.last()) else { return };
    let [median, least, most] = [elapsed[elapsed.len() / 2], *least, *most].map(numbers::seconds);
    let each = match main_loop.block {
        1 => "each".to_owned(),
        block => format!("{block} together"),
    };
    document.text(format!(
        "{} iterations of {}, {each} {median} ({least} to {most})",
        main_loop.iterations,
        main_loop.of.as_deref().unwrap_or("the main loop")
    ));
    if main_loop.crossing > 0 || main_loop.disagreeing > 0 {
        let text = format!(
            "Iterations of one number do not correspond everywhere: {} messages and {} collective operations join different ones",
            main_loop.crossing, main_loop.disagreeing
        );
        document.text(Line::styled(text, Style::Warning));
    }
    if let Some(trend) = main_loop.trend.filter(|_| !are_kept) {
        let words = if trend < 0.0 { "fall" } else { "rise" };
        document.text(format!(
            "Times {words} over the run, by {} of the median as a straight line has it",
            numbers::share(trend.abs())
        ));
    }
}

/// Draws elapsed time, and a metric, as lines of signs: the largest of the iterations that share a column.
fn draw(all: &[Iteration], series: Option<&Series>, screen: &Screen, document: &mut Document) {
    let width = screen.width.saturating_sub(2).clamp(8, 160);
    let elapsed: Vec<Option<f64>> = all.iter().map(|it| Some(it.elapsed)).collect();
    let mut lines = vec![("time until the last rank is through".to_owned(), Unit::Seconds, elapsed)];
    if let Some(series) = series {
        let sums = series.values.iter().map(|value| value.map(|value| value.sum)).collect();
        lines.push((series.title.clone(), series.unit.clone(), sums));
    }
    for (title, unit, values) in lines {
        let each = values.len().div_ceil(width).max(1);
        let of_column = |column: &[Option<f64>]| column.iter().flatten().copied().reduce(f64::max);
        let columns: Vec<Option<f64>> = values.chunks(each).map(of_column).collect();
        let most = columns.iter().flatten().copied().fold(0.0, f64::max);
        let signs: Vec<char> = if screen.is_unicode { "▁▂▃▄▅▆▇█" } else { "_.,:-=+#" }.chars().collect();
        let sign = |value: &Option<f64>| match value {
            Some(value) if most > 0.0 => {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 7")]
                let at = (value / most * 8.0).clamp(0.0, 7.0) as usize;
                signs[at]
            }
            Some(_) => signs[0],
            None => ' ',
        };
        let picture: String = columns.iter().map(sign).collect();
        document.picture(picture);
        let most = numbers::of_unit(most, &unit, numbers::decimals(most));
        let share = if each > 1 { format!(", a column is the largest of {each}") } else { String::new() };
        document.text(Line::styled(format!("{title}: the highest is {most}{share}"), Style::Dim));
    }
}

/// The table of iterations.
fn rows(
    (main_loop, iteration_numbers): (&MainLoop, &Numbers<'_>),
    all: &[Iteration],
    shown: &[usize],
    series: &[Series],
    name: &dyn Fn(Option<usize>) -> Option<String>,
) -> Table {
    let mut columns = vec![
        Column::new("iteration", "iteration"),
        iteration_numbers.column(),
        iteration_numbers.weight_column(),
        Column::new("elapsed", "took").of_group("took"),
        Column::data("begin"),
        Column::data("end"),
        Column::data("locations"),
        kind_column(main_loop, iteration_numbers),
    ];
    for series in series {
        columns.push(Column::new(series.name.clone(), series.title.clone()));
        columns.extend(["least", "most", "location"].map(|of| Column::data(format!("{}_{of}", series.name))));
    }
    columns.push(Column::new("most_computation", "longest outside"));
    columns.push(Column::new("most_computation_location", "on"));
    columns.push(Column::new("remark", ""));
    let mut table = Table::new("rows", columns);
    for &at in shown {
        let it = &all[at];
        let seconds = |seconds: f64| Cell::Number(seconds, Unit::Seconds);
        let mut row = vec![
            integer(it.number),
            iteration_numbers.cell(it.number),
            iteration_numbers.weight(it.number),
            seconds(it.elapsed),
            seconds(it.begin),
            seconds(it.end),
            integer(it.locations),
            it.kind.map_or(Cell::Nothing, |kind| Cell::count(kind + 1)),
        ];
        for Series { unit, values, .. } in series {
            let number = |of: fn(&Value) -> f64| {
                values[at].as_ref().map_or(Cell::Nothing, |value| Cell::Number(of(value), unit.clone()))
            };
            row.extend([number(|value| value.sum), number(|value| value.least), number(|value| value.most)]);
            let most_at = values[at].as_ref().and_then(|value| value.most_at);
            row.push(name(most_at).map_or(Cell::Nothing, Cell::Location));
        }
        row.push(seconds(it.most_computation));
        row.push(name(it.most_computation_at).map_or(Cell::Nothing, Cell::Location));
        row.push(Cell::Words(remark(it, iteration_numbers.are_kept()).into()));
        table.rows.push(row);
    }
    table
}

fn integer(number: u64) -> Cell {
    Cell::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

/// Kinds of iterations, unless all are of one, or were chosen as they are not alike.
fn kind_column(main_loop: &MainLoop, numbers: &Numbers<'_>) -> Column {
    let has_any = main_loop.kinds.len() > 1 && !numbers.are_kept();
    if has_any { Column::new("kind", "kind") } else { Column::data("kind") }
}

/// What is special about an iteration. Kept ones have others around them in the source.
fn remark(it: &Iteration, is_kept: bool) -> String {
    let remarks = [
        (it.is_unlike && !is_kept && !it.has_gap, "unlike others"),
        (it.has_gap, "not all recorded"),
        (it.is_border && !is_kept, "first or last"),
    ];
    let remarks: Vec<&str> = remarks.iter().filter(|(has, _)| *has).map(|&(_, remark)| remark).collect();
    remarks.join(", ")
}

/// The kinds of iterations.
fn kind_table(main_loop: &MainLoop, numbers: &Numbers<'_>) -> Table {
    let columns = vec![
        Column::new("kind", "kind"),
        Column::new("iterations", "iterations"),
        Column::new("representative", "such as number"),
        numbers.column(),
    ];
    let mut table = Table::new("kinds", columns);
    for (number, kind) in (1..).zip(&main_loop.kinds) {
        table.rows.push(vec![
            Cell::Integer(number),
            integer(kind.iterations),
            integer(kind.representative),
            numbers.cell(kind.representative),
        ]);
    }
    if main_loop.kinds.len() < 2 || numbers.are_kept() { table.data_only() } else { table }
}

/// The places with most delay costs of iterations that are looked at closely.
fn causes(
    (manifest, numbers): (&Manifest, &Numbers<'_>),
    main_loop: &MainLoop,
    cube: &Cube,
    name: &dyn Fn(Option<usize>) -> Option<String>,
) -> Table {
    let columns = vec![
        Column::new("iteration", "iteration"),
        numbers.column(),
        Column::new("seconds", "made others wait").of_group("waited"),
        Column::new("average", "on average").of_group("waited"),
        Column::new("location", "who"),
        Column::new("path", "in"),
    ];
    let mut table = Table::new("causes", columns);
    let tick = crate::tables::seconds(manifest, 1);
    #[expect(clippy::cast_precision_loss, reason = "an average")]
    let iterations = main_loop.iterations.max(1) as f64;
    for cause in &main_loop.causes {
        let location = usize::try_from(cause.location).ok().filter(|&at| at < cube.locations.len());
        let cnode = usize::try_from(cause.cnode).ok().filter(|&at| at < cube.cnodes.len());
        table.rows.push(vec![
            integer(cause.iteration),
            numbers.cell(cause.iteration),
            Cell::Number(cause.ticks * tick, Unit::Seconds),
            Cell::Number(cause.ticks_of_run * tick / iterations, Unit::Seconds),
            name(location).map_or(Cell::Nothing, Cell::Location),
            cnode.map_or(Cell::Nothing, |at| Cell::Name(unrecorded::path(cube, CnodeId(at)))),
        ]);
    }
    table
}
