//! The tables `instances` and `chains`: the severest waits with both sides, and how each came about.

use cubex::{Cube, MetricId};
use details::Table;
use details::manifest::Manifest;
use rustc_hash::FxHashMap;

use super::Columns;
use crate::error::Result;

/// A wait. Times are ticks since the begin of the trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    /// Position in the metrics of the manifest; of several the most special one.
    pub metric: Option<usize>,
    /// All metrics that it counts in; of several that contain each other the outermost first.
    pub metrics: Vec<usize>,
    /// The location that waited.
    pub location: Option<usize>,
    /// The call in which it waited: call path, enter and leave.
    pub cnode: Option<usize>,
    /// See `cnode`.
    pub enter: i64,
    /// See `cnode`.
    pub leave: i64,
    /// When the wait began.
    pub begin: i64,
    /// Its length.
    pub ticks: i64,
    /// The waiting of all members of a collective operation.
    pub all_ticks: i64,
    /// The location that was waited for.
    pub cause_location: Option<usize>,
    /// Its call: call path, enter and leave.
    pub cause_cnode: Option<usize>,
    /// See `cause_cnode`.
    pub cause_enter: i64,
    /// See `cause_cnode`.
    pub cause_leave: i64,
    /// The call path in which `cause_location` spent most of its time in excess of `location`, since both last synchronised.
    pub origin_cnode: Option<usize>,
    /// Communicator, tag and bytes of the message, or members of the operation; negative if there are none.
    pub communicator: i64,
    /// See `communicator`.
    pub tag: i64,
    /// See `communicator`.
    pub bytes: i64,
    /// See `communicator`.
    pub members: i64,
    /// The window that it lies in.
    pub window: Option<usize>,
}

/// A step back from a wait to what caused it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hop {
    /// Position of the instance.
    pub instance: usize,
    /// Steps from the instance: 0 is the instance itself.
    pub hop: i64,
    /// The location that waited, in which call path, since when and how long.
    pub location: Option<usize>,
    /// See `location`.
    pub cnode: Option<usize>,
    /// See `location`.
    pub begin: i64,
    /// See `location`.
    pub ticks: i64,
    /// The location that was waited for, in which call path it came, and when.
    pub cause_location: Option<usize>,
    /// See `cause_location`.
    pub cause_cnode: Option<usize>,
    /// See `cause_location`.
    pub cause_time: i64,
}

/// Reads the instances, in their order.
///
/// # Errors
/// If the table refers to what the report does not have.
pub fn instances(manifest: &Manifest, cube: &Cube, table: &Table) -> Result<Vec<Instance>> {
    let columns = Columns::of("instances", table);
    let [locations, cause_locations] =
        ["location", "cause_location"].map(|name| columns.positions(name, cube.locations.len()));
    let (locations, cause_locations) = (locations?, cause_locations?);
    let [cnodes, cause_cnodes, origins] =
        ["cnode", "cause_cnode", "origin_cnode"].map(|name| columns.positions(name, cube.cnodes.len()));
    let (cnodes, cause_cnodes, origins) = (cnodes?, cause_cnodes?, origins?);
    let metrics = columns.positions("metric", manifest.metrics.len())?;
    let numbers = |name| columns.integers(name);
    let (enter, leave, begin, ticks) =
        (numbers("enter")?, numbers("leave")?, numbers("begin")?, numbers("ticks")?);
    let (cause_enter, cause_leave) = (numbers("cause_enter")?, numbers("cause_leave")?);
    let (all_ticks, communicator) = (numbers("all_ticks")?, numbers("communicator")?);
    let windows = columns.positions("window", usize::MAX)?;
    let (tag, bytes, members) = (numbers("tag")?, numbers("bytes")?, numbers("members")?);
    let instance = |at: usize| Instance {
        metric: metrics[at],
        metrics: metrics[at].into_iter().collect(),
        location: locations[at],
        cnode: cnodes[at],
        enter: enter[at],
        leave: leave[at],
        begin: begin[at],
        ticks: ticks[at],
        all_ticks: all_ticks[at],
        cause_location: cause_locations[at],
        cause_cnode: cause_cnodes[at],
        cause_enter: cause_enter[at],
        cause_leave: cause_leave[at],
        origin_cnode: origins[at],
        communicator: communicator[at],
        tag: tag[at],
        bytes: bytes[at],
        members: members[at],
        window: windows[at],
    };
    Ok((0..table.rows()).map(instance).collect())
}

/// Whether a metric is a part of another one.
pub fn is_below(cube: &Cube, lower: MetricId, upper: MetricId) -> bool {
    let above = |id: MetricId| cube.metrics.get(id.0).and_then(|metric| metric.parent);
    std::iter::successors(above(lower), |&id| above(id)).any(|id| id == upper)
}

/// Joins waits that are the same one in several metrics, of which each is below another: a receive whose sender is late because
/// messages come in wrong order waits once. Returns also the position of the wait of each instance, if it goes on.
pub fn join(
    instances: Vec<Instance>,
    manifest: &Manifest,
    cube: &Cube,
) -> (Vec<Instance>, Vec<Option<usize>>) {
    let metric = |at: usize| cube.metric_named(&manifest.metrics.get(at)?.name);
    let is_below = |lower: usize, upper: usize| {
        metric(lower).zip(metric(upper)).is_some_and(|(lower, upper)| is_below(cube, lower, upper))
    };
    let mut waits: Vec<Instance> = Vec::with_capacity(instances.len());
    let mut positions = Vec::with_capacity(instances.len());
    let mut known: FxHashMap<_, Vec<usize>> = FxHashMap::default();
    for instance in instances {
        let key = (
            (instance.location, instance.cnode, instance.enter, instance.begin, instance.ticks),
            (instance.cause_location, instance.cause_cnode, instance.cause_enter),
        );
        let same = known.entry(key).or_default();
        let joined = instance.metric.and_then(|added| {
            same.iter().find_map(|&at| {
                let metrics = &waits[at].metrics;
                // Where it goes in: behind all that contain it. It has to be related to each.
                let place = metrics.iter().take_while(|&&metric| is_below(added, metric)).count();
                metrics[place..].iter().all(|&metric| is_below(metric, added)).then_some((at, place, added))
            })
        });
        match joined {
            Some((at, place, added)) if !waits[at].metrics.is_empty() => {
                let wait = &mut waits[at];
                wait.metrics.insert(place, added);
                wait.metric = wait.metrics.last().copied();
                wait.window = wait.window.or(instance.window);
                positions.push(None);
            }
            _ => {
                same.push(waits.len());
                positions.push(Some(waits.len()));
                waits.push(instance);
            }
        }
    }
    (waits, positions)
}

/// Reads the steps of all chains, in their order.
///
/// # Errors
/// If the table refers to what the report does not have.
pub fn chains(cube: &Cube, instances: usize, table: &Table) -> Result<Vec<Hop>> {
    let columns = Columns::of("chains", table);
    let of = columns.positions("instance", instances)?;
    let [locations, cause_locations] =
        ["location", "cause_location"].map(|name| columns.positions(name, cube.locations.len()));
    let (locations, cause_locations) = (locations?, cause_locations?);
    let [cnodes, cause_cnodes] =
        ["cnode", "cause_cnode"].map(|name| columns.positions(name, cube.cnodes.len()));
    let (cnodes, cause_cnodes) = (cnodes?, cause_cnodes?);
    let numbers = |name| columns.integers(name);
    let (hop, begin, ticks) = (numbers("hop")?, numbers("begin")?, numbers("ticks")?);
    let cause_time = numbers("cause_time")?;
    let hops = (0..table.rows()).filter_map(|at| {
        Some(Hop {
            instance: of[at]?,
            hop: hop[at],
            location: locations[at],
            cnode: cnodes[at],
            begin: begin[at],
            ticks: ticks[at],
            cause_location: cause_locations[at],
            cause_cnode: cause_cnodes[at],
            cause_time: cause_time[at],
        })
    });
    Ok(hops.collect())
}
