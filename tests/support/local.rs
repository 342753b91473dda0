//! Local metrics: those of a location that depend only on its own process, which other ranks keep when a file
//! is damaged.

use std::collections::BTreeMap;

use patterns::{PATTERNS, Source};

use super::report::{Named, Table};

/// The sender's length decides how a receive counts; only the total number is the receiver's own.
const RECEIVES: [&str; 2] = ["syncs_recv", "comms_recv"];
const RECEIVED_BYTES: &str = "bytes_rcvd";

/// Root of a report of several programs, or of one in which a rank does not name its program.
const PROGRAM: &str = "PROGRAM/";

/// The severities of the local metrics by location; the receives with and without data together.
pub(crate) fn severities(table: &Table) -> BTreeMap<usize, Named> {
    let is_local = names();
    let mut of_locations: BTreeMap<usize, Named> =
        (0..table.locations).map(|at| (at, Named::new())).collect();
    for ((metric, path, location), value) in table.named() {
        let metric = match RECEIVES.contains(&metric.as_str()) {
            true => "receives".to_owned(),
            false if is_local.contains(&metric.as_str()) => metric,
            false => continue,
        };
        let path = path.strip_prefix(PROGRAM).unwrap_or(&path).to_owned();
        *of_locations.entry(location).or_default().entry((metric, path, location)).or_default() += value;
    }
    of_locations
}

/// The names of the local metrics.
fn names() -> Vec<&'static str> {
    let metrics = patterns::metrics();
    let find = |id: &str| metrics.iter().position(|metric| metric.id == id).unwrap();
    let of_others: Vec<&str> = PATTERNS
        .iter()
        .flat_map(|pattern| {
            pattern.instances.iter().flatten().map(|metric| metric.id).chain([pattern.metric.id])
        })
        .chain(RECEIVES)
        .chain([RECEIVED_BYTES])
        .collect();
    let mut is_local = vec![false; metrics.len()];
    // Children are behind their parents, and sums are of direct children.
    for (at, metric) in metrics.iter().enumerate().rev() {
        is_local[at] = match metric.source {
            Source::Measured => !of_others.contains(&metric.id),
            Source::TimeIn(_) | Source::VisitsOf(_) => true,
            Source::Sum => {
                let below =
                    metrics.iter().zip(&is_local).filter(|(below, _)| below.parent == Some(metric.id));
                below.fold(true, |all, (_, is_local)| all && *is_local)
            }
            Source::Shares | Source::Comparison | Source::Rest(..) => false,
        };
    }
    for (at, metric) in metrics.iter().enumerate() {
        if let Source::Rest(of, without) = metric.source {
            is_local[at] = [of].iter().chain(without).all(|id| is_local[find(id)]);
        }
    }
    metrics.iter().zip(is_local).filter(|(_, is_local)| *is_local).map(|(metric, _)| metric.id).collect()
}

#[test]
fn times_and_counts_are_local_what_partners_tell_is_not() {
    let local = names();
    for metric in [
        "time",
        "visits",
        "comp",
        "mpi",
        "mpi_management",
        "omp_time",
        "comms_send",
        "bytes_cin",
        "syncs_coll",
    ] {
        assert!(local.contains(&metric), "{metric}");
    }
    for metric in
        ["mpi_latesender", "mpi_cls_count", "bytes_rcvd", "bytes_p2p", "bytes", "comms_recv", "syncs"]
    {
        assert!(!local.contains(&metric), "{metric}");
    }
}
