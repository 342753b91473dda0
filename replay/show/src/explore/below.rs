//! What is shown below the panes: the selection in words, its time strip, or the severest waits there.

use cubex::CnodeId;

use super::state::{Below, CALLS, LOCATIONS, METRICS, State};
use super::strip;
use crate::commands::explain::explanation;
use crate::commands::ranks::{ColumnOf, distribution};
use crate::commands::time::line_of;
use crate::commands::tree::place;
use crate::commands::waits::{Names, wait_table};
use crate::output::names::{cut_location, width};
use crate::output::{Document, Line, Style, numbers};
use crate::paths;
use crate::tables::seconds;
use crate::tables::waits::Instance;

/// The most waits that are listed.
const WAITS: usize = 50;

/// The most columns of names beside a strip.
const NAMES: usize = 18;

/// Columns of a strip on a screen of so many.
pub(super) fn strip_columns(columns: usize) -> usize {
    columns.saturating_sub(NAMES + 1).max(1)
}

/// The title of what is shown below, and its contents.
pub(super) fn contents(state: &State<'_>) -> (String, Document) {
    let mut document = Document::new("explore");
    let title = match state.below {
        Below::Explanation => match state.focus {
            METRICS => explain_metric(state, &mut document),
            CALLS => explain_call(state, &mut document),
            _ => explain_location(state, &mut document),
        },
        Below::Strip => show_strip(state, &mut document),
        Below::Waits => show_waits(state, &mut document),
    };
    (title, document)
}

fn explain_metric(state: &State<'_>, document: &mut Document) -> String {
    let Some(quantity) = state.metrics.get(state.panes[METRICS].cursor()) else { return String::new() };
    match explanation(&quantity.name) {
        Ok(text) => *document = text,
        // Metrics of other programs: what the report says.
        Err(_) => {
            let title = Line::styled(quantity.title.clone(), Style::Strong);
            document.text(title.and(format!("  {}", quantity.name), Style::Dim));
            let metric = state.metric_at_cursor().and_then(|id| state.cube().metrics.get(id.0));
            document.text(metric.map_or(String::new(), |metric| metric.description.clone()));
        }
    }
    "Metric".into()
}

fn explain_call(state: &State<'_>, document: &mut Document) -> String {
    let (cube, cursor) = (state.cube(), state.panes[CALLS].cursor());
    document.text(Line::styled(paths::path(cube, CnodeId(cursor)), Style::Strong));
    if let Some((file, line)) = place(cube, CnodeId(cursor)) {
        let line = line.map_or(String::new(), |line| format!(":{line}"));
        document.text(Line::styled(format!("begins at {file}{line}"), Style::Dim));
    }
    add_distribution(state, document);
    "Call path".into()
}

/// How unequal the values of the locations are, for the selected metrics and call paths.
fn add_distribution(state: &State<'_>, document: &mut Document) {
    let (Some(Ok(values)), Some(quantity)) = (state.values_of_locations(), state.quantity()) else { return };
    let of_locations = |node: &usize| state.locations.location(*node).is_some();
    let values = (0..values.len()).filter(of_locations).map(|node| values[node]).collect();
    let mut quantity = quantity.clone();
    quantity.title = titles(state);
    distribution::add(&[ColumnOf { quantity, sums: Ok(values) }], document);
}

fn titles(state: &State<'_>) -> String {
    let titles = state.selected_metrics().into_iter().map(|metric| state.metrics[metric].title.clone());
    titles.collect::<Vec<_>>().join(" + ")
}

fn explain_location(state: &State<'_>, document: &mut Document) -> String {
    let pane = &state.panes[LOCATIONS];
    let mut names: Vec<&str> = std::iter::successors(Some(pane.cursor()), |&node| pane.parent(node))
        .map(|node| pane.name(node))
        .collect();
    names.reverse();
    document.text(Line::styled(names.join(", "), Style::Strong));
    let count = pane
        .subtree(pane.cursor())
        .into_iter()
        .filter(|&node| state.locations.location(node).is_some())
        .count();
    if count != 1 {
        document.text(format!("{count} locations"));
    }
    if state
        .values_of_locations()
        .is_some_and(|values| matches!(values, Ok(values) if values.get(pane.cursor()) == Some(&None)))
    {
        document.text(Line::styled("without any event: unknown", Style::Warning));
    }
    add_distribution(state, document);
    "Location".into()
}

fn show_strip(state: &State<'_>, document: &mut Document) -> String {
    let Some((key, classes)) = state.strip_key() else {
        document
            .text("This report has no table of time: replay-analyze writes it, but not with --details none.");
        return "Time".into();
    };
    let title = format!("{classes} over time, of all call paths");
    let Some(strip) = state.known.strip(&key) else {
        document.text(Line::styled("…", Style::Dim));
        return title;
    };
    let (Some(strip), Some(manifest)) = (strip, &state.opened.manifest) else {
        document.text("This report has no table of time, or it is damaged: replay-analyze writes it anew.");
        return title;
    };
    let screen = &state.screen;
    let mut add = |name: &str, strip: &strip::Strip| {
        let name = cut_location(&screen.shown(name), NAMES, screen.dots());
        let filler = " ".repeat((NAMES + 1).saturating_sub(width(&name)));
        let line = Line::styled(name + &filler, Style::Plain);
        let shares: Vec<Option<f64>> = (0..strip.columns).map(|at| Some(strip.share(0, at))).collect();
        document.picture(line.and(line_of(&shares, screen), Style::Wait));
    };
    match state.selected_locations() {
        None => add("all", strip),
        Some(locations) => {
            let pane = &state.panes[LOCATIONS];
            let nodes = pane.selection();
            if nodes.len() > 1 {
                add("selected", &strip::of_locations(strip, &locations));
            }
            for node in nodes {
                let below = pane.subtree(node).into_iter().filter_map(|it| state.locations.location(it));
                add(pane.name(node), &strip::of_locations(strip, &below.collect::<Vec<_>>()));
            }
        }
    }
    let time = |ticks: u64| numbers::seconds(seconds(manifest, i64::try_from(ticks).unwrap_or(i64::MAX)));
    let (begin, end) = strip.times(0);
    let last = strip.end.min(manifest.end);
    let [from, to, cell] = [strip.begin, last, end - begin].map(time);
    document.text(Line::styled(format!("from {from} to {to}, {cell} a cell"), Style::Dim));
    title
}

fn show_waits(state: &State<'_>, document: &mut Document) -> String {
    let title = "Severest waits here".to_owned();
    let (Some(waits), Some(manifest)) = (&state.known.waits, &state.opened.manifest) else {
        document.text(match state.known.waits {
            None => "…",
            Some(_) => {
                "This report has no list of waits: replay-analyze writes it, but not with --details none."
            }
        });
        return title;
    };
    let names = Names::new(state.cube(), manifest);
    let is_wanted = wanted(state, &names, waits);
    let wanted: Vec<(usize, &Instance)> = (1..).zip(waits).filter(|(_, wait)| is_wanted(wait)).collect();
    if wanted.is_empty() {
        document
            .text("None of the severest waits is here: the list of the report is bounded, others may be.");
        return title;
    }
    document.table(wait_table(&wanted[..wanted.len().min(WAITS)], &names));
    if wanted.len() > WAITS {
        document.text(Line::styled(format!("and {} more", wanted.len() - WAITS), Style::Dim));
    }
    title
}

/// Whether a wait is one of what is selected. A metric of which there is no wait, such as the number of visits, chooses none.
fn wanted<'s>(
    state: &'s State<'_>,
    names: &'s Names<'_>,
    waits: &[Instance],
) -> impl Fn(&Instance) -> bool + use<'s> {
    let metrics: Vec<String> =
        state.selected_metrics().into_iter().map(|metric| state.metrics[metric].name.clone()).collect();
    let is_of = move |wait: &Instance| metrics.iter().any(|metric| names.is_of(wait, metric));
    let chooses_metric = waits.iter().any(&is_of);
    let (cube, pane) = (state.cube(), &state.panes[CALLS]);
    let mut is_here = vec![false; cube.cnodes.len()];
    pane.selection().into_iter().for_each(|cnode| is_here[cnode] = true);
    if !state.is_exclusive {
        // Parents stand before their children.
        for (at, cnode) in cube.cnodes.iter().enumerate() {
            is_here[at] |= cnode.parent.is_some_and(|parent| is_here[parent.0]);
        }
    }
    let locations = state.selected_locations();
    move |wait| {
        let is_metric = if chooses_metric { is_of(wait) } else { !names.is_completion(wait) };
        is_metric
            && wait.cnode.is_some_and(|cnode| is_here.get(cnode) == Some(&true))
            && locations
                .as_ref()
                .is_none_or(|all| wait.location.is_some_and(|it| all.binary_search(&it).is_ok()))
    }
}
