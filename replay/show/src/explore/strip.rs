//! The time strip: how much of the time of locations is in a metric, from the begin of the trace to its end.
//!
//! Classes of time ([`details`], table `grid`) are shown where they are the selected metric exactly, and else waiting; they
//! are of all call paths.

use std::collections::BTreeMap;

use cubex::{Cube, MetricId};
use details::manifest::Manifest;

use crate::commands::time::is_of_waiting;
use crate::error::Result;
use crate::opened::Opened;
use crate::tables::grid::{Request, Window, window};
use crate::tables::waits::is_below;
use crate::values::WAITING;

/// What a strip is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Key {
    /// By class of time, whether it counts.
    pub(super) classes: Vec<bool>,
    /// Whether all locations are one row; else each has its own.
    pub(super) is_of_all: bool,
    /// The most columns.
    pub(super) columns: usize,
}

/// A strip: a window of the grid with all of the time.
pub(super) type Strip = Window;

/// Reads a strip; `None` if the report has no such table.
///
/// # Errors
/// If it is damaged.
pub(super) fn read(opened: &Opened, key: &Key) -> Result<Option<Strip>> {
    let (Some(manifest), Some(table)) = (&opened.manifest, opened.table("grid")?) else { return Ok(None) };
    let locations = opened.cube().locations.len();
    let request = Request {
        classes: &key.classes,
        left_out: &[],
        locations,
        rows: if key.is_of_all { 1 } else { locations },
        columns: key.columns,
        from: 0,
        to: manifest.end,
    };
    opened.in_details(window(manifest, &table, &request)).map(Some)
}

/// The classes of time that together are a metric, if there are such.
pub(super) fn classes_of(cube: &Cube, manifest: &Manifest, metric: &str) -> Option<Vec<bool>> {
    if metric == WAITING {
        return Some(classes_of_waiting(manifest));
    }
    let id = cube.metric_named(metric)?;
    // A class may add a metric at some call paths only, as in `comp@**/REGION`.
    let is_part = |added: &String| {
        let name = added.split('@').next().unwrap_or_default();
        cube.metric_named(name).is_some_and(|part: MetricId| part == id || is_below(cube, part, id))
    };
    let is_in = |class: &details::manifest::Class| !class.adds.is_empty() && class.adds.iter().all(is_part);
    let classes: Vec<bool> = manifest.classes.iter().map(is_in).collect();
    // What one class adds another one may subtract; the metric has to be left, and nothing else.
    let mut sums: BTreeMap<&str, i64> = BTreeMap::new();
    for (class, _) in manifest.classes.iter().zip(&classes).filter(|(_, is_in)| **is_in) {
        class.adds.iter().for_each(|name| *sums.entry(name).or_default() += 1);
        class.subtracts.iter().for_each(|name| *sums.entry(name).or_default() -= 1);
    }
    sums.retain(|_, count| *count != 0);
    (sums.len() == 1 && sums.get(metric) == Some(&1)).then_some(classes)
}

/// The classes of waiting but that of shutdown.
pub(super) fn classes_of_waiting(manifest: &Manifest) -> Vec<bool> {
    manifest.classes.iter().map(is_of_waiting).collect()
}

/// The row of a location in a strip.
pub(super) fn row_of(strip: &Strip, location: usize) -> Option<usize> {
    let row = strip.rows.partition_point(|&(first, count)| first + count <= location);
    (row < strip.rows.len()).then_some(row)
}

/// The strip of some locations together, as a window of one row.
pub(super) fn of_locations(strip: &Strip, locations: &[usize]) -> Strip {
    let mut rows: Vec<usize> = locations.iter().filter_map(|&at| row_of(strip, at)).collect();
    rows.dedup();
    let mut sum = Strip {
        rows: vec![(0, locations.len())],
        ticks: vec![0; strip.columns],
        left_out: vec![0; strip.columns],
        all: vec![0; strip.columns],
        ..*strip
    };
    for row in rows {
        for column in 0..strip.columns {
            let at = row * strip.columns + column;
            let (Some(ticks), Some(all)) = (strip.ticks.get(at), strip.all.get(at)) else { continue };
            sum.ticks[column] = sum.ticks[column].saturating_add(*ticks);
            sum.all[column] = sum.all[column].saturating_add(*all);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use cubex::Metric;
    use details::manifest::Class;

    use super::*;

    fn example() -> (Cube, Manifest) {
        let mut cube = Cube::default();
        let mut add = |name: &str, parent| {
            cube.add_metric(Metric { unique_name: name.into(), parent, ..Metric::default() })
        };
        let time = add("time", None);
        add("comp", Some(time));
        let mpi = add("mpi", Some(time));
        let messages = add("mpi_point2point", Some(mpi));
        add("mpi_latesender", Some(messages));
        let class = |name: &str, role: &str, adds: &[&str], subtracts: &[&str]| Class {
            name: name.into(),
            role: role.into(),
            adds: adds.iter().map(|&name| name.into()).collect(),
            subtracts: subtracts.iter().map(|&name| name.into()).collect(),
            ..Class::default()
        };
        let classes = vec![
            class("compute", "work", &["comp"], &["comp@**/OFF"]),
            class("off", "work", &["comp@**/OFF"], &[]),
            class("messages", "communicate", &["mpi_point2point"], &["mpi_latesender"]),
            class("late_sender", "wait", &["mpi_latesender"], &[]),
        ];
        (cube, Manifest { classes, ..Manifest::default() })
    }

    #[test]
    fn classes_are_those_whose_sum_is_the_metric() {
        let (cube, manifest) = example();
        let of = |name: &str| classes_of(&cube, &manifest, name);
        assert_eq!(of("mpi_latesender"), Some(vec![false, false, false, true]));
        assert_eq!(of("mpi_point2point"), Some(vec![false, false, true, true]));
        assert_eq!(of("comp"), Some(vec![true, true, false, false]));
        assert_eq!(of("waiting"), Some(vec![false, false, false, true]));
        // There is more MPI than messages, as far as classes tell.
        assert_eq!((of("mpi"), of("time"), of("visits")), (None, None, None));
    }

    #[test]
    fn locations_together_have_the_sum_of_their_rows() {
        let strip = Strip {
            rows: vec![(0, 2), (2, 2), (4, 1)],
            begin: 0,
            end: 20,
            columns: 2,
            ticks: vec![1, 2, 4, 8, 16, 32],
            left_out: vec![0; 6],
            all: vec![20, 20, 20, 20, 10, 10],
        };
        let sum = of_locations(&strip, &[2, 3, 4]);
        assert_eq!((sum.ticks, sum.all), (vec![20, 40], vec![30, 30]));
        assert_eq!((row_of(&strip, 1), row_of(&strip, 4), row_of(&strip, 5)), (Some(0), Some(2), None));
    }
}
