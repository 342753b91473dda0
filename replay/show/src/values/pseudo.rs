//! Pseudo-metrics: sums of metrics that commands name as if they were one.

use cubex::{Cube, MetricId};
use patterns::PATTERNS;

use super::{Combine, Quantity, Source, Unit};

/// Time waiting for others, as the summary of the analysis counts it.
pub const WAITING: &str = "waiting";

/// Delay costs: the waiting of others that a call path has caused.
pub const DELAY: &str = "delay";

/// The pseudo-metric of a name, if there is one and the report has a part of it.
pub(super) fn find(cube: &Cube, name: &str) -> Option<Quantity> {
    let (title, parts) = match name {
        WAITING => ("Waiting", waiting(cube)),
        // Replay's reports store it; those of Scalasca have its parts only.
        DELAY => ("Delay costs", outermost(cube, is_delay)),
        _ => return None,
    };
    (!parts.is_empty()).then(|| Quantity {
        name: name.to_owned(),
        title: title.to_owned(),
        unit: Unit::Seconds,
        combine: Combine::Sum,
        metric: None,
        source: Source::Stored(parts),
        is_quotient: false,
    })
}

/// The metrics whose sum a pseudo-metric is, or the stored one of this name.
pub(crate) fn parts(cube: &Cube, name: &str) -> Vec<MetricId> {
    let stored = cube.metric_named(name).filter(|id| !cube.metrics[id.0].kind.is_derived());
    match (stored, name) {
        (Some(stored), _) => vec![stored],
        (None, WAITING) => waiting(cube),
        (None, DELAY) => outermost(cube, is_delay),
        (None, _) => Vec::new(),
    }
}

/// The metrics that are time waiting for others; none contains another.
pub(crate) fn waiting(cube: &Cube) -> Vec<MetricId> {
    outermost(cube, is_waiting)
}

/// Whether a metric is time waiting for others. Users can do little about waiting in start-up and shutdown.
pub(crate) fn is_waiting(name: &str) -> bool {
    let pattern = PATTERNS.iter().find(|pattern| pattern.metric.id == name);
    pattern.is_some_and(|pattern| pattern.is_waiting && !pattern.is_of_start_up())
}

/// Whether a metric is delay costs.
fn is_delay(name: &str) -> bool {
    patterns::metrics_of_causes().any(|metric| metric.id == name) && name.starts_with("delay_")
}

/// The stored metrics that are selected, without those below another one: its values contain theirs.
fn outermost(cube: &Cube, is_selected: impl Fn(&str) -> bool) -> Vec<MetricId> {
    let mut is_inside = vec![false; cube.metrics.len()];
    let mut found = Vec::new();
    for (at, metric) in cube.metrics.iter().enumerate() {
        let above = metric.parent.and_then(|parent| is_inside.get(parent.0)).copied().unwrap_or(false);
        let is_stored = !metric.kind.is_derived() && !metric.void;
        let is_selected = is_stored && is_selected(&metric.unique_name);
        is_inside[at] = above || is_selected;
        if is_selected && !above {
            found.push(MetricId(at));
        }
    }
    found
}
