//! Calls nested deeper than any stack of the analyzer.

use std::path::Path;

use cubex::{CnodeId, LocationId, MetricId, Report};

use super::after;
use super::make::{self, MAIN, RECURSE, Size};
use crate::support::fresh;
use crate::support::run::{Finished, run};

/// Analyzes a trace of two processes with `depth` nested calls of these regions, and a barrier inside all of
/// them. The limit is on processor time, because other programs may delay the run.
fn analyze_nested(directory: &Path, depth: u32, regions: &[u32]) -> Finished {
    make::archive(directory, Size::processes(2), |_, events| {
        events.program(|events| events.nest(depth, regions, |events| events.barrier()));
    });
    run(&mut after("ulimit -t 10; ulimit -v 2000000", [directory, Path::new("--threads=1")]))
}

fn hundred_thousand_calls_give_a_report(regions: &[u32]) {
    let directory = fresh();
    let depth = 100_000;
    let done = analyze_nested(directory.path(), depth, regions);
    done.expect(0);
    assert!(done.stdout.lines().all(|line| line.len() < 1000), "names of deep paths are cut");
    let report = Report::open(directory.path().join("trace.cubex")).unwrap();
    let cube = report.cube();
    // The program, `main`, its two calls, and the barrier.
    assert_eq!(cube.cnodes.len(), 5 + depth as usize);
    let visits = cube.metrics.iter().position(|metric| metric.unique_name == "visits").unwrap();
    let visits = report.severities(MetricId(visits)).unwrap();
    let is_one = |at| visits.exclusive(CnodeId(at), LocationId(1)) == 1.0;
    assert!((1..cube.cnodes.len()).all(is_one));
}

#[test]
fn recursion_of_depth_100000_gives_a_report() {
    hundred_thousand_calls_give_a_report(&[RECURSE]);
}

#[test]
fn recursion_of_two_regions_of_depth_100000_gives_a_report() {
    hundred_thousand_calls_give_a_report(&[RECURSE, MAIN]);
}
