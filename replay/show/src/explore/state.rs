//! State of the explorer: what is selected, what is shown of it, and which values are needed for that.
//!
//! Nothing is read here: [`State::wanted`] says what is missing, and [`State::accept`] takes what was found.

use std::sync::Arc;

use cubex::{CnodeId, Cube, MetricId};

use super::locations::Locations;
use super::pane::{Node, Pane};
use super::strip;
use super::work::{self, Answer, Found, Known, RowKey, Want};
use crate::commands::tree::Sort;
use crate::opened::Opened;
use crate::output::{Cell, Screen};
use crate::values::{Quantity, Unit, Values};
use crate::{paths, unrecorded};

/// Panes by number.
pub(super) const METRICS: usize = 0;
pub(super) const CALLS: usize = 1;
pub(super) const LOCATIONS: usize = 2;

/// What values are shown as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Relative {
    /// Seconds, counts, bytes.
    Absolute,
    /// Shares of the root of the selected metric.
    OfRoot,
    /// Shares of the selected metric.
    OfSelected,
}

/// What is shown below the panes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Below {
    /// What is selected, in words.
    Explanation,
    /// Time over locations.
    Strip,
    /// The severest waits there.
    Waits,
}

/// A text that is searched for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Search {
    pub(super) text: String,
    /// Whether it is being typed.
    pub(super) is_typed: bool,
}

/// State of the explorer.
#[derive(Debug)]
pub(super) struct State<'o> {
    pub(super) opened: &'o Opened,
    pub(super) screen: Screen,
    pub(super) metrics: Vec<Quantity>,
    pub(super) locations: Locations,
    pub(super) panes: [Pane; 3],
    pub(super) focus: usize,
    pub(super) is_exclusive: bool,
    pub(super) relative: Relative,
    pub(super) below: Below,
    /// Lines of the text below that are above its first one on the screen.
    pub(super) skipped: usize,
    pub(super) is_help: bool,
    pub(super) search: Search,
    pub(super) message: String,
    pub(super) is_over: bool,
    /// Columns of a strip, as it was drawn last.
    pub(super) strip_columns: usize,
    pub(super) known: Known,
}

impl<'o> State<'o> {
    /// The state at the begin: waiting is selected if the report has it, and all of its call paths and locations.
    pub(super) fn new(opened: &'o Opened, values: &Values<'_>, screen: Screen) -> State<'o> {
        let cube = opened.cube();
        let (metrics, metric_nodes) = work::metrics(values);
        let call = |at: usize| -> Node {
            (cube.cnodes[at].parent.map(|parent| parent.0), paths::name(cube, CnodeId(at)).to_owned())
        };
        let locations = Locations::new(cube);
        let panes = [
            Pane::new(metric_nodes),
            Pane::new((0..cube.cnodes.len()).map(call).collect()),
            Pane::new(locations.nodes.clone()),
        ];
        State {
            opened,
            screen,
            known: Known::new(metrics.len()),
            metrics,
            locations,
            panes,
            focus: METRICS,
            is_exclusive: false,
            relative: Relative::Absolute,
            below: Below::Explanation,
            skipped: 0,
            is_help: false,
            search: Search::default(),
            message: String::new(),
            is_over: false,
            strip_columns: 60,
        }
    }

    pub(super) fn cube(&self) -> &'o Cube {
        self.opened.cube()
    }

    /// Selected metrics; of those that contain each other the outermost, as its values have those of the others.
    pub(super) fn selected_metrics(&self) -> Vec<usize> {
        outermost(&self.panes[METRICS])
    }

    /// The unit and the way of combining of the selected metrics, which are the same for all of them.
    pub(super) fn quantity(&self) -> Option<&Quantity> {
        self.metrics.get(*self.selected_metrics().first()?)
    }

    /// Whether metrics can be added: times, counts and bytes, each among themselves.
    fn is_addable(&self, metric: usize, other: usize) -> bool {
        let (one, other) = (&self.metrics[metric], &self.metrics[other]);
        one.is_sum() && other.is_sum() && one.unit == other.unit
    }

    /// Selects the node at the cursor of the pane with the focus besides others, or no longer.
    pub(super) fn mark(&mut self) {
        let pane = &self.panes[self.focus];
        let cursor = pane.cursor();
        let others = if pane.is_marked(cursor) { Vec::new() } else { pane.selection() };
        if self.focus == METRICS && others.iter().any(|&it| it != cursor && !self.is_addable(cursor, it)) {
            self.message = "metrics of different units, and those that are no sums, have no sum".into();
            return;
        }
        self.panes[self.focus].mark();
    }

    /// The call paths that are selected and, of the metrics, the values by location that are asked for.
    fn row_keys(&self) -> Vec<RowKey> {
        // Values include those of call paths below, unless each counts alone.
        let cnodes: Arc<[usize]> = match self.is_exclusive {
            true => self.panes[CALLS].selection().into(),
            false => outermost(&self.panes[CALLS]).into(),
        };
        let key = |metric| RowKey { metric, cnodes: Arc::clone(&cnodes), is_exclusive: self.is_exclusive };
        self.selected_metrics().into_iter().map(key).collect()
    }

    /// Values by location, of all selected metrics and call paths; `None` while they are not known.
    pub(super) fn row(&self) -> Option<Found<Vec<f64>>> {
        let mut sum: Option<Vec<f64>> = None;
        for key in self.row_keys() {
            let row = match self.known.row(&key)? {
                Ok(row) => row,
                Err(why) => return Some(Err(why)),
            };
            match &mut sum {
                Some(sum) => sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value),
                None => sum = Some(row.clone()),
            }
        }
        sum.map(Ok)
    }

    /// Values of the nodes of the pane with locations, as [`row`](State::row).
    pub(super) fn values_of_locations(&self) -> Option<Found<Vec<Option<f64>>>> {
        let (row, recorded, quantity) = (self.row()?, self.known.recorded.as_ref()?, self.quantity()?);
        Some(row.map(|row| self.locations.values(&row, recorded, quantity.combined())))
    }

    /// Values of all call paths for the selected metrics, over all locations; `None` while they are not known.
    pub(super) fn values_of_calls(&self) -> Option<Found<Vec<Option<f64>>>> {
        let mut sum: Option<Vec<Option<f64>>> = None;
        for metric in self.selected_metrics() {
            let totals = match self.known.totals[metric].as_ref()? {
                Ok(totals) => totals,
                Err(why) => return Some(Err(why)),
            };
            let values = if self.is_exclusive { &totals.exclusive } else { &totals.inclusive };
            match &mut sum {
                Some(sum) => {
                    sum.iter_mut().zip(values).for_each(|(sum, value)| *sum = sum.map(|sum| sum + value));
                }
                None => sum = Some(values.iter().copied().map(Some).collect()),
            }
        }
        sum.map(Ok)
    }

    /// The value of a metric over all call paths and locations; `None` while it is not known.
    pub(super) fn total(&self, metric: usize) -> Option<Found<f64>> {
        self.known.totals[metric].as_ref().map(|totals| totals.as_ref().map(|it| it.all).map_err(|why| *why))
    }

    /// Values that decide the order of a pane's rows. Metrics stay as they are in the report.
    pub(super) fn order(&self, pane: usize) -> Vec<Option<f64>> {
        if self.panes[pane].sort != Sort::Value {
            return Vec::new();
        }
        let values = match pane {
            CALLS => self.values_of_calls(),
            LOCATIONS => self.values_of_locations(),
            _ => None,
        };
        let mut values = values.and_then(Result::ok).unwrap_or_default();
        // What is of nothing has no place in the order.
        if let Some(quantity) = self.quantity() {
            values.iter_mut().for_each(|value| *value = value.and_then(|value| quantity.known(value)));
        }
        values
    }

    /// The metric whose value is all that shares are of, and its title; none if values are no shares.
    pub(super) fn base(&self) -> Option<(Vec<usize>, String)> {
        let selected = self.selected_metrics();
        let title = |metrics: &[usize]| {
            let titles = metrics.iter().map(|&metric| self.metrics[metric].title.clone());
            titles.collect::<Vec<_>>().join(" + ")
        };
        if !self.metrics.get(*selected.first()?)?.is_sum() {
            return None;
        }
        match self.relative {
            Relative::Absolute => None,
            Relative::OfSelected => Some((selected.clone(), title(&selected))),
            Relative::OfRoot => {
                let root = self.root(selected[0]);
                let is_sum = self.metrics[root].is_sum() && self.is_addable(root, selected[0]);
                let base = if is_sum { vec![root] } else { selected };
                let title = title(&base);
                Some((base, title))
            }
        }
    }

    /// The outermost metric that contains another one: for waiting, which is a sum of several, time.
    fn root(&self, metric: usize) -> usize {
        let pane = &self.panes[METRICS];
        let start = match self.metrics[metric].metric {
            Some(_) => metric,
            None => self.metrics.iter().position(|it| it.name == "time").unwrap_or(metric),
        };
        std::iter::successors(Some(start), |&at| pane.parent(at)).last().unwrap_or(start)
    }

    /// A value as it is shown: of a quantity's unit, or as a share.
    pub(super) fn cell(&self, value: f64, quantity: &Quantity) -> Cell {
        let absolute = Cell::value(value, quantity);
        let Some((base, _)) = self.base() else { return absolute };
        if !base.iter().all(|&it| quantity.is_sum() && self.metrics[it].unit == quantity.unit) {
            return absolute;
        }
        let mut all = 0.0;
        for metric in base {
            match self.total(metric) {
                Some(Ok(total)) => all += total,
                Some(Err(why)) => return Cell::Obstacle(why),
                None => return Cell::Obstacle("…"),
            }
        }
        if value == 0.0 || all == 0.0 { Cell::Nothing } else { Cell::Share(value / all) }
    }

    /// Locations that are selected; `None` if these are all.
    pub(super) fn selected_locations(&self) -> Option<Vec<usize>> {
        let pane = &self.panes[LOCATIONS];
        let nodes = pane.selection().into_iter().flat_map(|node| pane.subtree(node));
        let mut found: Vec<usize> = nodes.filter_map(|node| self.locations.location(node)).collect();
        found.sort_unstable();
        found.dedup();
        let all = (0..self.locations.nodes.len()).filter_map(|node| self.locations.location(node)).count();
        (found.len() < all).then_some(found)
    }

    /// What a strip of the selection is asked for, and what it shows; `None` if the report has no classes of time.
    pub(super) fn strip_key(&self) -> Option<(strip::Key, String)> {
        let manifest = self.opened.manifest.as_ref().filter(|manifest| !manifest.classes.is_empty())?;
        let metrics = self.selected_metrics();
        let mut classes = vec![false; manifest.classes.len()];
        let mut titles = Vec::new();
        for &metric in &metrics {
            let quantity = &self.metrics[metric];
            let Some(of_metric) = strip::classes_of(self.cube(), manifest, &quantity.name) else {
                titles.clear();
                break;
            };
            classes.iter_mut().zip(of_metric).for_each(|(class, is)| *class |= is);
            titles.push(quantity.title.clone());
        }
        if titles.is_empty() {
            classes = strip::classes_of_waiting(manifest);
            titles.push("Waiting".into());
        }
        let is_of_all = self.selected_locations().is_none();
        let key = strip::Key { classes, is_of_all, columns: self.strip_columns };
        Some((key, titles.join(" + ")))
    }

    /// What is missing for what is shown, the most important first; `None` if nothing is.
    pub(super) fn wanted(&self) -> Option<Want> {
        let totals = |metric: &usize| self.known.totals[*metric].is_none();
        let selected = self.selected_metrics();
        if let Some(&metric) = selected.iter().find(|metric| totals(metric)) {
            return Some(Want::Totals(metric));
        }
        if self.known.recorded.is_none() {
            return Some(Want::Recorded);
        }
        if let Some(key) = self.row_keys().into_iter().find(|key| self.known.row(key).is_none()) {
            return Some(Want::Row(key));
        }
        if let Some(metric) = self.base().and_then(|(base, _)| base.into_iter().find(|it| totals(it))) {
            return Some(Want::Totals(metric));
        }
        match self.below {
            Below::Strip => {
                if let Some((key, _)) = self.strip_key().filter(|(key, _)| self.known.strip(key).is_none()) {
                    return Some(Want::Strip(key));
                }
            }
            Below::Waits if self.known.waits.is_none() => return Some(Want::Waits),
            _ => {}
        }
        let pane = &self.panes[METRICS];
        let rows = pane.rows(&[]);
        let on_screen = rows.iter().skip(pane.top).take(pane.height).map(|row| row.node);
        on_screen.into_iter().find(totals).map(Want::Totals)
    }

    /// Takes what was found, and a message about what cannot be read.
    pub(super) fn accept(&mut self, (answer, message): (Answer, Option<String>)) {
        self.known.accept(answer);
        self.message = message.unwrap_or_else(|| std::mem::take(&mut self.message));
    }

    /// Short name of what values are shown as.
    pub(super) fn unit_name(&self) -> String {
        match (self.base(), self.quantity().map(|it| &it.unit)) {
            (Some((base, title)), _) => {
                let has_gaps = |&it: &usize| ["time", "execution", "comp"].contains(&&*self.metrics[it].name);
                let gaps = match base.iter().any(has_gaps) && unrecorded::has_any(self.cube()) {
                    true => " with gaps",
                    false => "",
                };
                format!("% of {title}{gaps}")
            }
            (None, Some(Unit::Seconds)) => "seconds".into(),
            (None, Some(Unit::Count)) => "counts".into(),
            (None, Some(Unit::Bytes)) => "bytes".into(),
            (None, Some(Unit::Other(name))) if !name.is_empty() => name.clone(),
            _ => "values".into(),
        }
    }

    /// The metric of the report that is at the cursor; `None` for a pseudo-metric.
    pub(super) fn metric_at_cursor(&self) -> Option<MetricId> {
        self.metrics.get(self.panes[METRICS].cursor())?.metric
    }
}

/// Selected nodes that are not below others.
fn outermost(pane: &Pane) -> Vec<usize> {
    let selected = pane.selection();
    let is_inside = |&node: &usize| {
        std::iter::successors(pane.parent(node), |&at| pane.parent(at)).any(|at| selected.contains(&at))
    };
    selected.iter().copied().filter(|node| !is_inside(node)).collect()
}
