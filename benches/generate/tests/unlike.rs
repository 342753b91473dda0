//! Patterns with loops that are hard to find, or none (structure 7): what is known of them.

use std::collections::BTreeSet;

use generate::{Job, Pattern, Tuning, Written, generate};
use otf2::{Archive, Event};

/// Makes a trace with call sites; returns its size, and the call paths of the calls of each rank, in their order.
fn made(job: &Job) -> (Written, Vec<Vec<u32>>) {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().join("trace");
    let written = generate(job, &directory).unwrap();
    let archive = Archive::open(&directory).unwrap();
    let of_rank = |location| {
        let file = archive.event_file(location).unwrap();
        let mut events = archive.events(&file);
        let mut paths = Vec::new();
        while let Some(record) = events.next().unwrap() {
            if let Event::CallingContextEnter { calling_context, .. } = record.event {
                paths.push(calling_context);
            }
        }
        paths
    };
    (written, job.locations().map(of_rank).collect())
}

fn job(pattern: &str, ranks: u32, iterations: u64) -> Job {
    let pattern = Pattern::find(pattern).unwrap();
    Job { iterations: Some(iterations), call_sites: true, ..Job::new(pattern, ranks, 0) }
}

/// `main`, and four functions of MPI at the begin and the end of the program.
const AROUND: usize = 5;

fn different(paths: &[u32]) -> usize {
    paths.iter().collect::<BTreeSet<_>>().len()
}

#[test]
fn random_steps_have_as_many_sites_as_are_asked_for() {
    let tuning = Tuning { sites: 64, ..Tuning::default() };
    let (written, ranks) = made(&Job { tuning, ..job("random-sites", 3, 1600) });
    assert_eq!(written.messages, 3 * 1600 / 8);
    for paths in &ranks {
        // An exchange is two calls.
        assert_eq!((paths.len(), different(paths)), (AROUND + 1600 * 18 / 16, AROUND + 64));
    }
    assert!(ranks[0] != ranks[1], "ranks call at the same sites");
    let all = ranks.concat();
    assert_eq!(different(&all), AROUND + 64, "ranks have no sites in common");
}

#[test]
fn straight_programs_have_no_loop() {
    let (_, ranks) = made(&job("straight", 3, 100));
    for paths in &ranks {
        assert_eq!((paths.len(), different(paths)), (AROUND + 275, AROUND + 275));
        assert_eq!(paths, &ranks[0]);
    }
}

#[test]
fn some_ranks_have_a_loop() {
    let (written, ranks) = made(&job("some-loops", 7, 100));
    assert_eq!(written.messages, 600);
    let sites = [3, 3, 300, 300, 3, 3];
    for (rank, sites) in sites.into_iter().enumerate() {
        let paths = &ranks[rank];
        assert_eq!((paths.len(), different(paths)), (AROUND + 300, AROUND + sites), "rank {rank}");
    }
}

#[test]
fn counts_of_uneven_loops_differ_by_two_at_most() {
    let (written, ranks) = made(&job("uneven-loops", 7, 100));
    assert_eq!(written.messages, 700);
    for (rank, paths) in ranks.iter().enumerate() {
        let iterations = 100 + rank % 3;
        assert_eq!((paths.len(), different(paths)), (AROUND + 3 * iterations, AROUND + 3), "rank {rank}");
    }
}
