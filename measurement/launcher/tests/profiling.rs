//! Counts of profiled programs become reports and estimates of the size of a trace.

use crate::finishing::finished;
use crate::recordings::{Rank, fresh, mpi};
use cubex::{CnodeId, LocationId, Report};
use launcher::{Omission, Outcome, finish};
use recording::journal::{self, JournalRecord};
use recording::layout;
use recording::paths::{MPI_FUNCTION, NO_PARENT, REGION};
use recording::profile::{MAGIC, PathCounts, ProfileHeader, TraceSize, TransferredBytes};
use std::fs;
use std::path::Path;

/// Writes the counts of a thread.
pub(crate) fn count(directory: &Path, location: u64, times: (u64, u64), entries: &[PathCounts]) {
    let sum = |part: fn(&TraceSize) -> u64| entries.iter().map(|entry| part(&entry.trace)).sum::<u64>();
    let header =
        ProfileHeader { magic: MAGIC, first_time: times.0, last_time: times.1, ..ProfileHeader::default() };
    let trace = [sum(|trace| trace.events), sum(|trace| trace.bytes), sum(|trace| trace.flushes)];
    let mut numbers = vec![header.magic, header.first_time, header.last_time, header.lost];
    numbers.extend(trace);
    for PathCounts { visits, time, entered, transfers: t, trace } in entries {
        numbers.extend([*visits, *time, *entered]);
        numbers.extend([t.sent, t.received, t.outgoing, t.incoming, t.put, t.got]);
        numbers.extend([trace.events, trace.bytes, trace.flushes]);
    }
    let mut bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
    // The file ends somewhere behind the last path.
    bytes.extend([0; 100]);
    fs::write(layout::profile(directory, location), bytes).unwrap();
}

/// Two processes that were in a region, which called MPI twice; the second one was killed in a call outside
/// of it.
fn two(directory: &Path, estimate: bool, keep: bool) {
    for number in 0..2 {
        let mut rank = Rank::new(directory, number, 2);
        rank.write(JournalRecord::Profile(journal::ProfileRequest { estimate, keep }));
        rank.write(JournalRecord::Thread { thread: 0, name: None, has_switches: false, has_counters: false });
        rank.write(JournalRecord::Region(journal::Region {
            region: 0,
            name: "solve".into(),
            file: None,
            line: 3,
            phase: false,
        }));
        rank.paths(
            0,
            &[
                (REGION, 0, NO_PARENT),
                (MPI_FUNCTION, mpi("MPI_Sendrecv"), 0),
                (MPI_FUNCTION, mpi("MPI_Allreduce"), 0),
                (MPI_FUNCTION, mpi("MPI_Iprobe"), NO_PARENT),
            ],
        );
        let begin = 1000 * u64::from(number) + 100;
        let trace = |events, bytes| TraceSize { events, bytes, flushes: events / 1000 };
        let bytes = |sent, received| TransferredBytes { sent, received, ..TransferredBytes::default() };
        let killed = number == 1;
        let entries = [
            PathCounts { visits: 1, time: 600, trace: trace(2, 30), ..PathCounts::default() },
            PathCounts {
                visits: 4,
                time: 100,
                transfers: bytes(40, 80),
                trace: trace(16, 200),
                ..PathCounts::default()
            },
            PathCounts {
                visits: 2,
                time: 300,
                transfers: TransferredBytes {
                    outgoing: 7,
                    incoming: 9,
                    put: 5,
                    got: 6,
                    ..TransferredBytes::default()
                },
                trace: trace(8, 100),
                ..PathCounts::default()
            },
            PathCounts {
                visits: 500 + u64::from(killed),
                time: 200,
                entered: if killed { begin + 950 } else { 0 },
                trace: trace(1000, 14_000),
                ..PathCounts::default()
            },
        ];
        count(directory, number.into(), (begin, begin + 1000), &entries);
        if !killed {
            rank.write(JournalRecord::End { status: 0 });
        }
    }
}

/// Returns the values of a metric at both processes, by name of the region.
fn values(report: &Report, metric: &str, region: &str) -> [f64; 2] {
    let cube = report.cube();
    let at = cube.cnodes.iter().position(|cnode| cube.regions[cnode.region.0].name == region).unwrap();
    let severities = report.severities(cube.metric_named(metric).unwrap()).unwrap();
    let inclusive = |location| severities.inclusive(CnodeId(at), LocationId(location));
    let children = (0..cube.cnodes.len()).filter(|&child| cube.cnodes[child].parent == Some(CnodeId(at)));
    let children: Vec<usize> = children.collect();
    [0, 1].map(|location| {
        let below = |&child: &usize| severities.inclusive(CnodeId(child), LocationId(location));
        inclusive(location) - children.iter().map(below).sum::<f64>()
    })
}

#[test]
fn counts_become_a_report() {
    let directory = fresh("counts_become_a_report");
    two(&directory, false, true);
    let summary = finished(&directory);
    assert_eq!((summary.call_paths, summary.died, summary.estimate), (Some(5), vec![1], None));
    let left: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, [layout::PROFILE], "neither a recording nor an archive");
    assert_eq!(finish(&directory, None), Ok(Outcome::AlreadyComplete));

    let report = Report::open(directory.join(layout::PROFILE)).unwrap();
    let cube = report.cube();
    let names: Vec<_> = cube.cnodes.iter().map(|cnode| cube.regions[cnode.region.0].name.as_str()).collect();
    assert_eq!(names, ["/bin/app", "solve", "MPI_Sendrecv", "MPI_Allreduce", "MPI_Iprobe"]);
    // Two ticks are a nanosecond. Values of paths are exclusive; the rest is the program's.
    let ticks = |region| values(&report, "time", region).map(|seconds| (seconds * 2e9).round());
    assert_eq!(ticks("solve"), [200.0, 200.0]);
    assert_eq!(ticks("MPI_Allreduce"), [300.0, 300.0]);
    assert_eq!(ticks("MPI_Iprobe"), [200.0, 250.0], "also of the visit in which it was killed");
    assert_eq!(ticks("/bin/app"), [200.0, 150.0]);
    assert_eq!(values(&report, "visits", "MPI_Iprobe"), [500.0, 501.0]);
    assert_eq!(values(&report, "visits", "/bin/app"), [1.0, 1.0]);
    for (metric, bytes) in
        [("bytes_sent", 40.0), ("bytes_rcvd", 80.0), ("bytes_p2p", 120.0), ("bytes", 120.0)]
    {
        assert_eq!(values(&report, metric, "MPI_Sendrecv"), [bytes; 2], "{metric}");
    }
    for (metric, bytes) in [
        ("bytes_cout", 7.0),
        ("bytes_cin", 9.0),
        ("bytes_coll", 16.0),
        ("bytes_put", 5.0),
        ("bytes_get", 6.0),
        ("bytes_rma", 11.0),
        ("bytes", 27.0),
    ] {
        assert_eq!(values(&report, metric, "MPI_Allreduce"), [bytes; 2], "{metric}");
    }
    assert_eq!(cube.system_tree_nodes[1].name, "node nowhere");
    assert_eq!(cube.location_groups[1].name, "MPI Rank 1");
}

#[test]
fn estimate_names_what_makes_a_trace_large_and_leaves_nothing() {
    let directory = fresh("estimate_leaves_nothing");
    two(&directory, true, false);
    let estimate = finished(&directory).estimate.unwrap();
    assert!(!directory.exists());
    // An end mark for each of the two files.
    assert_eq!((estimate.events, estimate.bytes), (2 * 1026, 2 * 14_332));
    assert_eq!((estimate.largest, estimate.flushes), ((0, 1026, 14_332), (2, 1)));
    assert_eq!(estimate.nanoseconds, 500);
    assert!(estimate.definitions > 1000);
    let shares: Vec<_> = estimate.shares.iter().map(|share| (share.name.as_str(), share.bytes)).collect();
    let expected = [("MPI_Iprobe", 28_000), ("MPI_Sendrecv", 400), ("MPI_Allreduce", 200), ("solve", 60)];
    assert_eq!(shares, expected);
    let first = &estimate.shares[0];
    assert_eq!((first.option.as_deref(), first.price), (Some("--functions -MPI_Iprobe"), Omission::Calls));
    assert_eq!(estimate.shares[1].price, Omission::Operations);
}

#[test]
fn estimate_leaves_its_report_if_that_has_a_name() {
    let directory = fresh("estimate_with_report");
    two(&directory, true, true);
    let summary = finished(&directory);
    assert!(summary.estimate.is_some() && summary.call_paths == Some(5));
    assert!(directory.join(layout::PROFILE).exists());
}

#[test]
fn damage_is_reported_and_so_is_the_rest() {
    let directory = fresh("damaged_counts");
    two(&directory, false, true);
    fs::write(layout::profile(&directory, 0), [7; 64]).unwrap();
    let summary = finished(&directory);
    assert!(summary.has_losses);
    assert!(
        summary.notices[0].contains("0.profile: byte 0x0: not a file of counts"),
        "{:?}",
        summary.notices
    );
    let report = Report::open(directory.join(layout::PROFILE)).unwrap();
    assert_eq!(values(&report, "visits", "MPI_Iprobe"), [0.0, 501.0]);
}
