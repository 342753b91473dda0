//! The pattern `iterations`: what it does is known by number, length and noise (structure 7).

use generate::{Every, Job, Pattern, Slow, Tuning, Work, generate};
use otf2::{Archive, Event};

const RANKS: u32 = 5;
const ITERATIONS: u64 = 40;

/// Usual work in nanoseconds: before the exchange, and in each repetition of the inner loop.
const RELAX: u64 = 400_000;
const SMOOTH: u64 = 100_000;

/// A call: of what, from when, until when.
struct Call {
    region: String,
    enter: u64,
    leave: u64,
}

/// The calls of each rank, in the order in which they begin.
fn calls(tuning: Tuning) -> Vec<Vec<Call>> {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().join("trace");
    let pattern = Pattern::find("iterations").unwrap();
    let job = Job { iterations: Some(ITERATIONS), tuning, ..Job::new(pattern, RANKS, 0) };
    let written = generate(&job, &directory).unwrap();
    assert_eq!(written.messages, ITERATIONS * u64::from(RANKS) * 2);
    let archive = Archive::open(&directory).unwrap();
    let regions = archive.definitions().unwrap().regions;
    let of_rank = |location| {
        let file = archive.event_file(location).unwrap();
        let mut events = archive.events(&file);
        let (mut calls, mut open) = (Vec::<Call>::new(), Vec::new());
        while let Some(record) = events.next().unwrap() {
            match record.event {
                Event::Enter { region } => {
                    open.push(calls.len());
                    let region = regions.find(region.into()).unwrap().name.clone();
                    calls.push(Call { region, enter: record.time, leave: 0 });
                }
                Event::Leave { .. } => calls[open.pop().unwrap()].leave = record.time,
                _ => {}
            }
        }
        calls
    };
    job.locations().map(of_rank).collect()
}

fn without_noise() -> Tuning {
    Tuning { noise: 0.0, ..Tuning::default() }
}

/// The calls of a region, of each rank.
fn of<'a>(ranks: &'a [Vec<Call>], region: &str) -> Vec<Vec<&'a Call>> {
    let of_rank =
        |calls: &'a Vec<Call>| calls.iter().filter(|call| call.region == region).collect::<Vec<&Call>>();
    ranks.iter().map(of_rank).collect()
}

/// The length of each iteration but the last one: from its first call of MPI to that of the next one.
fn elapsed(ranks: &[Vec<Call>]) -> Vec<u64> {
    let of_rank = |calls: Vec<&Call>| {
        let begins: Vec<u64> = calls.iter().step_by(2).map(|call| call.enter).collect();
        begins.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<u64>>()
    };
    let mut all = of(ranks, "MPI_Irecv").into_iter().map(of_rank);
    let first = all.next().unwrap();
    assert!(all.all(|other| other == first), "ranks do not begin iterations at the same time");
    assert_eq!(first.len() as u64, ITERATIONS - 1);
    first
}

#[test]
fn numbers_of_calls_are_known() {
    let ranks = calls(Tuning::default());
    let expected = [
        ("MPI_Init", 1),
        ("MPI_Bcast", 1),
        ("MPI_Irecv", 2 * ITERATIONS),
        ("relax", ITERATIONS),
        ("MPI_Isend", 2 * ITERATIONS),
        ("MPI_Waitall", ITERATIONS),
        ("smooth", 4 * ITERATIONS),
        ("MPI_Allreduce", 4 * ITERATIONS),
        ("MPI_Barrier", 0),
        ("MPI_Reduce", 1),
        ("MPI_Finalize", 1),
    ];
    for (region, number) in expected {
        assert!(of(&ranks, region).iter().all(|calls| calls.len() as u64 == number), "{region}");
    }
}

#[test]
fn operations_end_when_the_last_rank_has_come() {
    let ranks = calls(Tuning { slow: "3:20:2:smooth".parse().ok(), ..Tuning::default() });
    let operations = of(&ranks, "MPI_Allreduce");
    let since_last = |number: usize| {
        let last = operations.iter().map(|calls| calls[number].enter).max().unwrap();
        operations.iter().map(move |calls| calls[number].leave - last)
    };
    let all: Vec<u64> = (0..operations[0].len()).flat_map(since_last).collect();
    assert!(all.iter().all(|&since| since == all[0]) && all[0] < 1000, "{all:?}");
}

#[test]
fn work_has_the_noise_that_is_asked_for() {
    let ranks = calls(Tuning { noise: 5.0, ..Tuning::default() });
    let shares = of(&ranks, "relax").concat();
    let shares = || shares.iter().map(|call| (call.leave - call.enter) as f64 / RELAX as f64 - 1.0);
    let number = shares().count() as f64;
    let deviation = (shares().map(|share| share * share).sum::<f64>() / number).sqrt();
    assert!((0.04..0.06).contains(&deviation), "{deviation}");
    assert!((shares().sum::<f64>() / number).abs() < 0.01);
}

#[test]
fn one_rank_is_slow_in_one_iteration() {
    let usual = elapsed(&calls(without_noise()));
    assert!(usual.iter().all(|&elapsed| elapsed == usual[0]), "{usual:?}");
    for (work, name, more) in [(Work::Relax, "relax", 2 * RELAX), (Work::Smooth, "smooth", 4 * 2 * SMOOTH)] {
        let slow = Slow { rank: 3, iteration: 20, factor: 3.0, work };
        let ranks = calls(Tuning { slow: Some(slow), ..without_noise() });
        let longest = |calls: &Vec<&Call>| calls.iter().map(|call| call.leave - call.enter).max().unwrap();
        let longest: Vec<u64> = of(&ranks, name).iter().map(longest).collect();
        for (rank, &longest) in longest.iter().enumerate() {
            let usual = more / if work == Work::Relax { 2 } else { 8 };
            let expected = if rank == 3 { 3 * usual } else { usual };
            assert!(longest.abs_diff(expected) < 1000, "{name} of {rank}: {longest}");
        }
        for (number, (&elapsed, usual)) in (1..).zip(elapsed(&ranks).iter().zip(&usual)) {
            let expected = usual + if number == slow.iteration { more } else { 0 };
            assert!(elapsed.abs_diff(expected) < 1000, "{name}, iteration {number}: {elapsed}");
        }
    }
}

#[test]
fn iterations_become_longer() {
    let elapsed = elapsed(&calls(Tuning { trend: 0.1, ..without_noise() }));
    let by = elapsed.windows(2).map(|pair| pair[1] - pair[0]);
    let expected = (RELAX + 4 * SMOOTH) / 1000;
    assert!(by.into_iter().all(|by| by.abs_diff(expected) < 5), "{elapsed:?}");
}

#[test]
fn there_are_two_kinds_of_iterations() {
    let usual = elapsed(&calls(without_noise()))[0];
    for has_call in [false, true] {
        let every = Every { number: 7, factor: 2.0, has_call };
        let ranks = calls(Tuning { every: Some(every), ..without_noise() });
        for (number, elapsed) in (1_u64..).zip(elapsed(&ranks)) {
            let more = if number % 7 == 0 { RELAX + 4 * SMOOTH } else { 0 };
            assert!(elapsed.abs_diff(usual + more) < 1000, "{number}: {elapsed}");
        }
        let barriers = if has_call { ITERATIONS / 7 } else { 0 };
        assert!(of(&ranks, "MPI_Barrier").iter().all(|calls| calls.len() as u64 == barriers));
    }
}

#[test]
fn inner_loops_vary_alike_on_all_ranks() {
    let ranks = calls(Tuning { inner: 2..=5, ..Tuning::default() });
    let of_rank = |calls: &Vec<Call>| {
        let calls = calls.iter().filter(|call| ["relax", "smooth"].contains(&call.region.as_str()));
        let names: Vec<&str> = calls.map(|call| call.region.as_str()).collect();
        names.split(|name| *name == "relax").skip(1).map(<[&str]>::len).collect::<Vec<usize>>()
    };
    let counts: Vec<Vec<usize>> = ranks.iter().map(of_rank).collect();
    assert!(counts.iter().all(|of_rank| *of_rank == counts[0]));
    assert!((2..=5).all(|count| counts[0].contains(&count)), "{counts:?}");
    assert!(counts[0].iter().all(|count| (2..=5).contains(count)), "{counts:?}");
}
