//! `waits`: the severest waits, how each came about, and one as a picture.

mod picture;
mod remarks;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use cubex::{CnodeId, Cube, LocationGroup, LocationGroupKind, LocationId};
use details::manifest::Manifest;
use patterns::PATTERNS;

use crate::error::{Error, Result};
use crate::opened::Opened;
use crate::output::{Cell, Column, Document, Line, Output, Style, Table, numbers};
use crate::status::Status;
use crate::tables::seconds;
use crate::tables::waits::{Hop, Instance, chains, instances, is_below, join};
use crate::tables::windows::Window;
use crate::values::Unit;
use crate::{paths, places, unrecorded};
use remarks::{is_wanted, remarks};

/// Rows that people get if they do not say how many.
const TOP: usize = 10;

/// Arguments of `waits`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The report, or an experiment directory
    pub file: PathBuf,

    /// Only so many, the severest [default: 10; scripts get all]
    #[arg(short = 'n', long, value_name = "N")]
    pub top: Option<usize>,

    /// Only those of a metric, such as mpi_latesender
    #[arg(short = 'm', long, value_name = "METRIC")]
    pub metric: Option<String>,

    /// Only those of a rank
    #[arg(long, value_name = "R")]
    pub rank: Option<u64>,

    /// Show how each came about: whom the cause itself waited for, and so on
    #[arg(long)]
    pub chain: bool,

    /// Show one as a picture of both sides
    #[arg(short, long, value_name = "N")]
    pub instance: Option<usize>,
}

/// What a completion time is.
const COMPLETION: &str = "no wait state: time in the operation after the first rank had left it";

/// Names of things that waits refer to.
pub(crate) struct Names<'n> {
    cube: &'n Cube,
    manifest: &'n Manifest,
    sizes: places::Sizes,
}

impl<'n> Names<'n> {
    /// The names that a report and its manifest have.
    pub(crate) fn new(cube: &'n Cube, manifest: &'n Manifest) -> Names<'n> {
        Names { cube, manifest, sizes: places::sizes(cube) }
    }

    fn location(&self, location: Option<usize>) -> String {
        location.map_or("somebody".into(), |at| places::name(self.cube, &self.sizes, LocationId(at)))
    }

    fn function(&self, cnode: Option<usize>) -> &str {
        cnode.map_or("?", |at| unrecorded::function(self.cube, CnodeId(at)))
    }

    /// Whether a call path is time in which recording was off.
    fn is_off(&self, cnode: Option<usize>) -> bool {
        cnode.is_some_and(|at| unrecorded::is_off(self.cube, CnodeId(at)))
    }

    fn path(&self, cnode: Option<usize>) -> String {
        cnode.map_or(String::new(), |at| paths::path(self.cube, CnodeId(at)))
    }

    /// The title of a wait state.
    fn title(&self, metric: Option<usize>) -> String {
        let metric = metric.and_then(|at| self.manifest.metrics.get(at));
        metric.map_or("waiting".into(), |metric| self.title_of(&metric.name))
    }

    /// The title of a metric of this unique name.
    fn title_of(&self, name: &str) -> String {
        if let Some(pattern) = PATTERNS.iter().find(|pattern| pattern.metric.id == name) {
            return pattern.title.to_owned();
        }
        let metric = self.manifest.metrics.iter().find(|metric| metric.name == name);
        metric.map_or(name, |metric| &metric.title).to_owned()
    }

    fn metric(&self, metric: Option<usize>) -> &str {
        metric.and_then(|at| self.manifest.metrics.get(at)).map_or("", |metric| metric.name.as_str())
    }

    fn metrics(&self, wait: &Instance) -> impl Iterator<Item = &str> {
        wait.metrics.iter().map(|&metric| self.metric(Some(metric)))
    }

    /// Whether a wait is one of a metric, or of one that is a part of it.
    pub(crate) fn is_of(&self, wait: &Instance, metric: &str) -> bool {
        self.metrics(wait).any(|name| self.is_or_is_below(name, metric))
    }

    /// Whether a metric is another one, or a part of it.
    fn is_or_is_below(&self, metric: &str, above: &str) -> bool {
        let ids = self.cube.metric_named(metric).zip(self.cube.metric_named(above));
        metric == above || ids.is_some_and(|(metric, above)| is_below(self.cube, metric, above))
    }

    /// Whether it is no wait, but a completion time.
    pub(crate) fn is_completion(&self, wait: &Instance) -> bool {
        is_completion(self.metric(wait.metric))
    }

    /// The rank of who waited.
    fn rank(&self, wait: &Instance) -> Option<u64> {
        let location = self.cube.locations.get(wait.location?)?;
        self.cube.location_groups.get(location.group.0).map(|group| group.rank)
    }

    fn seconds(&self, ticks: i64) -> f64 {
        seconds(self.manifest, ticks)
    }
}

/// Whether a metric is a completion time: no wait state, so that nobody was waited for.
pub(crate) fn is_completion(metric: &str) -> bool {
    PATTERNS.iter().any(|pattern| pattern.metric.id == metric && !pattern.is_waiting)
}

/// The severest waits in their order, each once, and the steps of their chains.
#[derive(Debug)]
pub(crate) struct Waits {
    pub(crate) waits: Vec<Instance>,
    /// Steps by wait.
    pub(crate) hops: Vec<Hop>,
    /// Why there are no steps, if they are damaged.
    pub(crate) remark: Option<String>,
}

impl Waits {
    /// Reads them from the table `instances`, and the table `chains` if the report has it.
    ///
    /// # Errors
    /// If the table `instances` is damaged.
    pub(crate) fn read(opened: &Opened, manifest: &Manifest, table: &details::Table) -> Result<Waits> {
        let cube = opened.cube();
        let all = opened.in_details(instances(manifest, cube, table))?;
        let (mut waits, positions) = join(all, manifest, cube);
        let names = Names { cube, manifest, sizes: places::Sizes::default() };
        for wait in waits.iter_mut().filter(|wait| names.is_completion(wait)) {
            (wait.cause_location, wait.cause_cnode, wait.origin_cnode) = (None, None, None);
        }
        let read = |table: Option<_>| {
            table.map_or(Ok(Vec::new()), |table| opened.in_details(chains(cube, positions.len(), &table)))
        };
        let mut remark = None;
        let mut hops = opened.table("chains").and_then(read).unwrap_or_else(|error| {
            remark = Some(format!("{error}; shown without causes of causes"));
            Vec::new()
        });
        hops.retain_mut(|hop| {
            let position = positions[hop.instance];
            hop.instance = position.unwrap_or_default();
            position.is_some_and(|at| !names.is_completion(&waits[at]))
        });
        Ok(Waits { waits, hops, remark })
    }

    /// What each that took part in a wait did after its own wait, in the order of [`hops`](Waits::hops) and then the last cause;
    /// empty where it is not known. A list for each wait.
    ///
    /// # Errors
    /// If the events around waits are damaged.
    pub(crate) fn activities(&self, opened: &Opened, manifest: &Manifest) -> Result<Vec<Vec<String>>> {
        let cube = opened.cube();
        let names = Names::new(cube, manifest);
        let tables = opened.table("windows")?.zip(opened.table("window_calls")?);
        let mut windows: BTreeMap<usize, Window> = BTreeMap::new();
        let without = Window::default();
        let mut all = Vec::with_capacity(self.waits.len());
        for (at, wait) in self.waits.iter().enumerate() {
            if let (Some(number), Some((table, calls))) = (wait.window, &tables)
                && let Entry::Vacant(place) = windows.entry(number)
            {
                place.insert(opened.in_details(Window::read(cube, number, table, calls))?);
            }
            let hops: Vec<&Hop> = self.hops.iter().filter(|hop| hop.instance == at).collect();
            let window = wait.window.and_then(|number| windows.get(&number)).unwrap_or(&without);
            all.push(picture::activities(wait, &hops, window, &names));
        }
        Ok(all)
    }
}

/// Shows the severest waits.
///
/// # Errors
/// If the report has no such tables, or they are damaged.
pub fn run(args: &Args, output: &mut Output<'_>) -> Result<Status> {
    let opened = Opened::open(&args.file, output)?;
    let (manifest, table) = opened.required_table("instances")?;
    let cube = opened.cube();
    let Waits { waits, hops, remark } = Waits::read(&opened, manifest, &table)?;
    if let Some(remark) = remark {
        output.warn(remark);
    }
    let names = Names::new(cube, manifest);
    let mut document = Document::new("waits");
    document.fact("file", opened.path.display().to_string());
    if let Some(number) = args.instance {
        let wait = number.checked_sub(1).and_then(|at| waits.get(at));
        let wait = wait.ok_or_else(|| {
            Error::new(format!("no wait number {number}: the report has {}, numbered from 1", waits.len()))
        })?;
        let hops: Vec<&Hop> = hops.iter().filter(|hop| hop.instance + 1 == number).collect();
        let window = window(wait, &opened, output);
        picture::draw(number, wait, &hops, &window, &names, output.screen(), &mut document);
        document.table(wait_table(&[(number, wait)], &names).data_only());
        document.table(hop_table(&hops, &names).data_only());
        output.print(&document)?;
        return Ok(Status::Done);
    }
    check(args, &waits, &names)?;
    let top = args.top.unwrap_or(if output.is_for_scripts() { usize::MAX } else { TOP });
    let wanted: Vec<(usize, &Instance)> =
        (1..).zip(&waits).filter(|(_, wait)| is_wanted(args, wait, &names)).collect();
    let shown = &wanted[..top.min(wanted.len())];
    if args.chain && !output.is_for_scripts() {
        for &(number, wait) in shown {
            add_chain(number, wait, &hops, &names, &mut document);
        }
    } else {
        document.table(wait_table(shown, &names));
    }
    if args.chain {
        let is_shown = |hop: &&Hop| shown.iter().any(|(number, _)| hop.instance + 1 == *number);
        let hops: Vec<&Hop> = hops.iter().filter(is_shown).collect();
        document.table(hop_table(&hops, &names).data_only());
    }
    document.more(wanted.len(), top, "-n");
    if !args.chain
        && let Some((_, wait)) = shown.iter().find(|(_, wait)| names.is_completion(wait))
    {
        document.text(Line::styled(format!("{}: {COMPLETION}", names.title(wait.metric)), Style::Dim));
    }
    let remarks = remarks(args, &opened, &waits, &names)?;
    for remark in &remarks {
        document.text(remark.clone());
    }
    document.fact("remarks", remarks);
    output.print(&document)?;
    Ok(Status::Done)
}

/// Refuses metrics and ranks that the report does not have. There may be no waits of one that it has.
fn check(args: &Args, waits: &[Instance], names: &Names<'_>) -> Result<()> {
    let Names { cube, manifest, .. } = *names;
    if let Some(wanted) = args.metric.as_ref()
        && !manifest.metrics.iter().any(|metric| names.is_or_is_below(&metric.name, wanted))
    {
        let existing: BTreeSet<&str> = waits.iter().flat_map(|wait| names.metrics(wait)).collect();
        let existing = Vec::from_iter(existing).join(", ");
        return Err(Error::new(format!(
            "no wait state {wanted}: the waits of this report are of {existing}"
        )));
    }
    let is_process = |group: &&LocationGroup| group.kind == LocationGroupKind::Process;
    let ranks: BTreeSet<u64> =
        cube.location_groups.iter().filter(is_process).map(|group| group.rank).collect();
    match args.rank.filter(|rank| !ranks.contains(rank)) {
        Some(rank) => {
            let (first, last) = (ranks.first().unwrap_or(&0), ranks.last().unwrap_or(&0));
            Err(Error::new(format!("no rank {rank}: this report has ranks {first} to {last}")))
        }
        None => Ok(()),
    }
}

/// The events around a wait; without any if the report has none of it, or they are damaged.
fn window(wait: &Instance, opened: &Opened, output: &mut Output<'_>) -> Window {
    let read = |number| {
        let (Some(windows), Some(calls)) = (opened.table("windows")?, opened.table("window_calls")?) else {
            return Ok(Window::default());
        };
        opened.in_details(Window::read(opened.cube(), number, &windows, &calls))
    };
    wait.window.map_or(Ok(Window::default()), read).unwrap_or_else(|error: Error| {
        output.warn(format!("{error}; shown without the events around it"));
        Window::default()
    })
}

/// A table of waits with their numbers.
pub(crate) fn wait_table(waits: &[(usize, &Instance)], names: &Names<'_>) -> Table {
    let mut columns = vec![
        Column::new("number", ""),
        Column::new("seconds", "waited").of_group("waited"),
        Column::new("title", "what"),
        Column::new("location", "who"),
        Column::text("in"),
        Column::new("begin", "at"),
        Column::new("cause", "due to"),
        Column::text("in"),
        Column::data("metric"),
        Column::data("metrics"),
        Column::data("path"),
        Column::data("all_seconds"),
        Column::data("cause_path"),
        Column::data("origin_path"),
        Column::data("bytes"),
        Column::data("tag"),
        Column::data("communicator"),
        Column::data("members"),
    ];
    // The order of waits is that of all members' waiting: people see it where it is not that of the one.
    let has_all = waits.iter().any(|(_, wait)| wait.all_ticks != wait.ticks);
    if has_all {
        columns.insert(2, Column::text("all").of_group("waited"));
    }
    let mut table = Table::new("waits", columns);
    let number = |number: i64| if number < 0 { Cell::Nothing } else { Cell::Integer(number) };
    for &(at, wait) in waits {
        let cause = |cell: Cell| if names.is_completion(wait) { Cell::Nothing } else { cell };
        let mut row = vec![
            Cell::count(at),
            Cell::Number(names.seconds(wait.ticks), Unit::Seconds),
            Cell::Title(names.title(wait.metric)),
            Cell::Location(names.location(wait.location)),
            Cell::Name(names.function(wait.cnode).into()),
            Cell::Number(names.seconds(wait.begin), Unit::Seconds),
            cause(Cell::Location(names.location(wait.cause_location))),
            cause(Cell::Name(names.function(wait.origin_cnode.or(wait.cause_cnode)).into())),
            Cell::Data(names.metric(wait.metric).into()),
            Cell::Data(names.metrics(wait).collect()),
            Cell::Data(names.path(wait.cnode).into()),
            Cell::Number(names.seconds(wait.all_ticks), Unit::Seconds),
            Cell::Data(names.path(wait.cause_cnode).into()),
            Cell::Data(names.path(wait.origin_cnode).into()),
            number(wait.bytes),
            number(wait.tag),
            number(wait.communicator),
            number(wait.members),
        ];
        if has_all {
            row.insert(2, Cell::Number(names.seconds(wait.all_ticks), Unit::Seconds));
        }
        table.rows.push(row);
    }
    table
}

fn hop_table(hops: &[&Hop], names: &Names<'_>) -> Table {
    let keys = ["number", "hop", "location", "path", "begin", "seconds", "cause", "cause_path", "cause_time"];
    let mut table = Table::new("hops", keys.map(Column::data).into());
    for hop in hops {
        table.rows.push(vec![
            Cell::count(hop.instance + 1),
            Cell::Integer(hop.hop),
            Cell::Name(names.location(hop.location)),
            Cell::Name(names.path(hop.cnode)),
            Cell::Number(names.seconds(hop.begin), Unit::Seconds),
            Cell::Number(names.seconds(hop.ticks), Unit::Seconds),
            Cell::Name(names.location(hop.cause_location)),
            Cell::Name(names.path(hop.cause_cnode)),
            Cell::Number(names.seconds(hop.cause_time), Unit::Seconds),
        ]);
    }
    table
}

/// What happened: who waited for whom, and for whom that one had waited before.
fn add_chain(number: usize, wait: &Instance, hops: &[Hop], names: &Names<'_>, document: &mut Document) {
    let time = numbers::seconds(names.seconds(wait.ticks));
    let begin = numbers::seconds(names.seconds(wait.begin));
    let title = Line::styled(format!("{number} {} {time}", names.title(wait.metric)), Style::Strong);
    let place = format!("  {} in {} at {begin}", names.location(wait.location), names.path(wait.cnode));
    document.text(title.and(place, Style::Plain));
    if names.is_completion(wait) {
        document.text(Line::from(COMPLETION).indented(3));
        return;
    }
    let hops = hops.iter().filter(|hop| hop.instance + 1 == number && hop.hop > 0);
    let mut cause = (wait.cause_location, wait.cause_cnode);
    // Of the first cause only: the excess is that over the location of this wait.
    let origin = wait.origin_cnode.map(|at| match names.is_off(Some(at)) {
        true => " (not recorded for a while before)".to_owned(),
        false => format!(" (most in excess: {})", names.function(Some(at))),
    });
    let mut origin = origin.unwrap_or_default();
    for hop in hops {
        let time = numbers::seconds(names.seconds(hop.ticks));
        let text = format!(
            "waited for {} in {}{origin}, which itself waited {time} in {}",
            names.location(cause.0),
            names.function(cause.1),
            names.function(hop.cnode),
        );
        document.text(Line::from(text).indented(3));
        origin.clear();
        cause = (hop.cause_location, hop.cause_cnode);
    }
    let text = format!("waited for {} in {}{origin}", names.location(cause.0), names.function(cause.1));
    document.text(Line::from(text).indented(3));
}
