//! Values that panes show: asked for one by one, so that a large report never keeps keys waiting, and kept once they are there.

use std::collections::VecDeque;
use std::sync::Arc;

use cubex::{CnodeId, MetricId};

use super::pane::Node;
use super::strip::{self, Strip};
use crate::commands::waits::Waits;
use crate::error::{Result, or_obstacle};
use crate::opened::Opened;
use crate::places;
use crate::tables::waits::Instance;
use crate::values::{Quantity, Totals, Values, WAITING};

/// Rows of locations, and strips, that are kept.
const ROWS: usize = 64;
const STRIPS: usize = 4;

/// The metrics of the pane: waiting, as the other commands have it, and then the metrics of the report that are to be seen.
/// Returns them with the tree.
pub(super) fn metrics(values: &Values<'_>) -> (Vec<Quantity>, Vec<Node>) {
    let cube = values.cube();
    let mut quantities: Vec<Quantity> = values.find(WAITING).into_iter().collect();
    let mut nodes: Vec<Node> = quantities.iter().map(|it| (None, it.title.clone())).collect();
    let mut place: Vec<Option<usize>> = Vec::with_capacity(cube.metrics.len());
    for (at, metric) in cube.metrics.iter().enumerate() {
        // What is below a hidden metric hangs where that one would.
        let above = metric.parent.and_then(|parent| place.get(parent.0)).copied().flatten();
        if !values.is_visible(MetricId(at)) {
            place.push(above);
            continue;
        }
        let quantity = values.of_metric(MetricId(at));
        place.push(Some(quantities.len()));
        nodes.push((above, quantity.title.clone()));
        quantities.push(quantity);
    }
    (quantities, nodes)
}

/// Values, or what is shown in their place.
pub(super) type Found<T> = std::result::Result<T, &'static str>;

/// What is shown in the place of values that cannot be read.
const UNREADABLE: &str = "unreadable";

/// The values by location of a metric at some call paths.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RowKey {
    /// Position in the metrics.
    pub(super) metric: usize,
    /// Call paths, ascending.
    pub(super) cnodes: Arc<[usize]>,
    /// Whether those below do not count.
    pub(super) is_exclusive: bool,
}

/// What is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Want {
    /// Which locations have recorded anything.
    Recorded,
    /// Values of a metric by call path, over all locations.
    Totals(usize),
    /// Values by location.
    Row(RowKey),
    /// Time over locations.
    Strip(strip::Key),
    /// The severest waits.
    Waits,
}

/// What was found.
#[derive(Debug)]
pub(super) enum Answer {
    Recorded(Vec<bool>),
    Totals(usize, Found<Totals>),
    Row(RowKey, Found<Vec<f64>>),
    Strip(strip::Key, Option<Strip>),
    Waits(Vec<Instance>),
}

/// Finds what is asked for. If it cannot be read, there is a message besides.
pub(super) fn answer(
    opened: &Opened,
    values: &Values<'_>,
    metrics: &[Quantity],
    want: Want,
) -> (Answer, Option<String>) {
    let mut message = None;
    let mut tell = |error: &crate::error::Error| message = Some(error.to_string());
    let answer = match want {
        Want::Recorded => {
            let recorded = places::recorded(values);
            Answer::Recorded(recorded.inspect_err(&mut tell).unwrap_or_else(|_| places::all(values.cube())))
        }
        Want::Totals(metric) => {
            let totals = or_obstacle(values.totals(&metrics[metric], &places::all(values.cube())));
            Answer::Totals(metric, totals.inspect_err(&mut tell).unwrap_or(Err(UNREADABLE)))
        }
        Want::Row(key) => {
            let row = row(values, metrics, &key).inspect_err(&mut tell).unwrap_or(Err(UNREADABLE));
            Answer::Row(key, row)
        }
        Want::Strip(key) => {
            let strip = strip::read(opened, &key).inspect_err(&mut tell).unwrap_or(None);
            Answer::Strip(key, strip)
        }
        Want::Waits => {
            let found = opened.required_table("instances");
            let found = found.and_then(|(manifest, table)| Waits::read(opened, manifest, &table));
            Answer::Waits(found.map(|found| found.waits).inspect_err(&mut tell).unwrap_or_default())
        }
    };
    (answer, message)
}

fn row(values: &Values<'_>, metrics: &[Quantity], key: &RowKey) -> Result<Found<Vec<f64>>> {
    let mut is_selected = vec![false; values.cube().cnodes.len()];
    key.cnodes.iter().for_each(|&cnode| is_selected[cnode] = true);
    if !key.is_exclusive {
        is_selected = crate::paths::with_those_below(values, is_selected);
    }
    or_obstacle(values.by_location(&metrics[key.metric], &|cnode: CnodeId| is_selected[cnode.0]))
}

/// What is known already.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) recorded: Option<Vec<bool>>,
    /// By metric.
    pub(super) totals: Vec<Option<Found<Totals>>>,
    /// The latest last.
    rows: VecDeque<(RowKey, Found<Vec<f64>>)>,
    strips: VecDeque<(strip::Key, Option<Strip>)>,
    pub(super) waits: Option<Vec<Instance>>,
}

impl Known {
    /// Nothing yet of so many metrics.
    pub(super) fn new(metrics: usize) -> Known {
        Known {
            recorded: None,
            totals: (0..metrics).map(|_| None).collect(),
            rows: VecDeque::new(),
            strips: VecDeque::new(),
            waits: None,
        }
    }

    pub(super) fn row(&self, key: &RowKey) -> Option<&Found<Vec<f64>>> {
        self.rows.iter().find(|(known, _)| known == key).map(|(_, row)| row)
    }

    pub(super) fn strip(&self, key: &strip::Key) -> Option<&Option<Strip>> {
        self.strips.iter().find(|(known, _)| known == key).map(|(_, strip)| strip)
    }

    /// Keeps what was found.
    pub(super) fn accept(&mut self, answer: Answer) {
        match answer {
            Answer::Recorded(recorded) => self.recorded = Some(recorded),
            Answer::Totals(metric, totals) => self.totals[metric] = Some(totals),
            Answer::Row(key, row) => keep(&mut self.rows, ROWS, (key, row)),
            Answer::Strip(key, strip) => keep(&mut self.strips, STRIPS, (key, strip)),
            Answer::Waits(waits) => self.waits = Some(waits),
        }
    }
}

fn keep<T>(list: &mut VecDeque<T>, most: usize, item: T) {
    if list.len() >= most {
        list.pop_front();
    }
    list.push_back(item);
}
