//! Scaling over processes, more than there are cores: the analysis should take hardly longer than on one.

use std::error::Error;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::bench::Bench;

/// Patterns in which ranks wait in long chains, or all for one.
const PATTERNS: [&str; 5] = ["sweeps", "wavefront", "ring", "ping-pong", "master-worker"];

/// Numbers of processes.
const PROCESSES: [usize; 5] = [1, 2, 4, 8, 16];

/// Number of busy loops that compete for the cores.
const LOOPS: usize = 2;

/// Time limit of all phases on any number of processes, by their time on one.
fn allowed(one: f64) -> f64 {
    1.5 * one + 0.3
}

/// Prints the seconds of all phases by pattern and number of processes, alone and beside busy loops.
pub(crate) fn print(named: &[String]) -> Result<(), Box<dyn Error>> {
    let bench = Bench::new()?;
    println!("Seconds of all phases, 8 ranks of 240,000 events, {} cores.", bench.cores);
    println!();
    println!(
        "| pattern | beside | {} | allowed |",
        PROCESSES.map(|number| format!("{number} processes")).join(" | ")
    );
    println!("|---|---|{}--:|", "--:|".repeat(PROCESSES.len()));
    for pattern in PATTERNS.into_iter().filter(|name| named.is_empty() || named.iter().any(|it| it == name)) {
        let mut one = 0.0;
        for (beside, loops, factor) in [("nothing", 0, 1.0), ("two busy loops", LOOPS, 3.0)] {
            let seconds = beside_loops(loops, || seconds(&bench, pattern))?;
            if loops == 0 {
                one = seconds[0];
            }
            let columns = seconds.map(|seconds| format!("{seconds:.2}")).join(" | ");
            println!("| {pattern} | {beside} | {columns} | {:.2} |", factor * allowed(one));
        }
    }
    Ok(())
}

/// Seconds of all phases, by number of processes.
fn seconds(bench: &Bench, pattern: &str) -> Result<[f64; PROCESSES.len()], Box<dyn Error>> {
    let trace = bench.trace(pattern, 8, 240_000)?;
    let mut seconds = [0.0; PROCESSES.len()];
    for (seconds, processes) in seconds.iter_mut().zip(PROCESSES) {
        *seconds = bench.on_processes(&trace, processes, 3)?;
    }
    Ok(seconds)
}

/// Largest quotient of time and time limit over all numbers of processes, with that number: of all patterns
/// alone, or of sweeps beside busy loops.
pub(crate) fn worst(bench: &Bench, has_loops: bool) -> Result<(f64, String), Box<dyn Error>> {
    let patterns = if has_loops { &PATTERNS[..1] } else { &PATTERNS[..] };
    let (loops, factor) = if has_loops { (LOOPS, 3.0) } else { (0, 1.0) };
    let mut worst = (0.0, String::new());
    for pattern in patterns {
        let trace = bench.trace(pattern, 8, 240_000)?;
        let allowed = factor * allowed(bench.on_processes(&trace, 1, 3)?);
        let seconds = beside_loops(loops, || seconds(bench, pattern))?;
        for (seconds, processes) in seconds.into_iter().zip(PROCESSES) {
            if seconds / allowed > worst.0 {
                worst =
                    (seconds / allowed, format!("{pattern} on {processes}: {seconds:.2} of {allowed:.2} s"));
            }
        }
    }
    Ok(worst)
}

/// Does some work while threads keep cores busy.
fn beside_loops<T>(loops: usize, work: impl FnOnce() -> T) -> T {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..loops {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    spin_loop();
                }
            });
        }
        let result = work();
        is_over.store(true, Ordering::Relaxed);
        result
    })
}
