//! Root causes on traces made for them: which location is the cause; the result does not depend on the
//! workers.

use std::fmt::Write;
use std::path::Path;

use replay::progress::Progress;
use replay::{Semantics, Summary};

use crate::support::parse::Case;
use crate::support::random::{self, Random};
use crate::support::report::Table;
use crate::support::{SEMANTICS, fresh, options, workers, write};

/// Ranks of the chain.
const RANKS: usize = 64;

/// A chain: rank 0 works; each rank waits for the message of the one before, then sends to the next. The
/// others work a hundredth of that before.
pub(crate) fn chain() -> String {
    let mut script = String::from("program prog\n");
    for rank in 0..RANKS {
        let received = 1_000_030 + 40 * rank;
        write!(script, "rank {rank}\n0 > main ; 1 > MPI_Init ; 10 < ; 20 > work ; ").unwrap();
        let sent = match rank {
            0 => {
                script += "1000020 < ; ";
                1_000_030
            }
            _ => {
                let (before, left) = (rank - 1, received + 5);
                write!(script, "10020 < ; 10030 > MPI_Recv ; {received} recv {before} ; {left} < ; ")
                    .unwrap();
                received + 10
            }
        };
        if rank + 1 < RANKS {
            let (next, left) = (rank + 1, sent + 10);
            write!(script, "{sent} > MPI_Send ; {sent} send {next} ; {left} < ; ").unwrap();
        }
        writeln!(script, "{} > MPI_Finalize ; 1004000 < ; 1004001 <", sent + 20).unwrap();
    }
    script
}

/// Writes a script's archive and analyzes it.
pub(crate) fn analyze(script: &str, directory: &Path) -> (Summary, Table) {
    let case = Case::parse(script).unwrap();
    write::write(&case.trace, directory);
    let report = directory.join("report.cubex");
    let options = options(directory, &report, Semantics::Corrected);
    let outcome = replay::analyze(&options, &mut replay::exchange::Solo, &mut Progress::silent()).unwrap();
    (outcome.summary.unwrap(), Table::read(&report))
}

#[test]
fn root_of_a_chain_of_waiting_pays_for_all_of_it() {
    let directory = fresh();
    let (summary, table) = analyze(&chain(), directory.path());
    let all = |metric: &str| (0..RANKS).map(|rank| table.sum(metric, rank)).sum::<f64>();
    let (short, long) = (all("delay_latesender"), all("delay_latesender_longterm"));
    let waiting = all("mpi_latesender");
    assert!(waiting > 0.9 * (RANKS - 1) as f64 * 990_000e-9, "{waiting} s of waiting");
    assert!(
        (short + long - waiting).abs() < 1e-9 * waiting,
        "{short} + {long} s of costs, {waiting} s of waiting"
    );
    assert!(table.sum("delay_latesender_longterm", 0) > 0.9 * long, "the root pays too little of {long} s");
    let first = &summary.causes.culprits[0];
    assert!(first.call_path.ends_with("main/work") && first.location.contains('0'), "{first}");
    assert!(first.is_critical && first.more_work.is_some_and(|more| more > 1.0), "{first}");
    // Each rank but the root waits only because another one did, and all but the last cause further waiting.
    assert!(all("mpi_wait_indirect_latesender") > 0.95 * (waiting - table.sum("mpi_latesender", 1)));
    assert!(all("mpi_wait_terminal_ls") < 1.05 * table.sum("mpi_latesender", RANKS - 1));
}

#[test]
fn critical_path_of_a_chain_goes_through_every_rank_and_is_as_long_as_the_run() {
    let directory = fresh();
    let (_, table) = analyze(&chain(), directory.path());
    let path: Vec<f64> = (0..RANKS).map(|rank| table.sum("critical_path", rank)).collect();
    assert!(path.iter().all(|&seconds| seconds > 0.0), "{path:?}");
    // From the start of MPI_Init until the last rank enters MPI_Finalize.
    let run = (1_000_030 + 40 * (RANKS - 1) + 10 + 20 - 1) as f64 * 1e-9;
    assert!((path.iter().sum::<f64>() - run).abs() < 1e-9, "{} s of {run} s", path.iter().sum::<f64>());
}

#[test]
fn clocks_that_are_wrong_in_random_directions_end_and_give_the_same_report_with_any_workers() {
    let mut random = Random::new(7);
    let mut cyclic = 0;
    for seed in 0..60 {
        let mut trace = random::trace(seed);
        let largest = [200_000, 10_000_000, 1_000_000_000][seed as usize % 3];
        for stream in &mut trace.streams {
            let ahead = random.below(largest) as u64;
            stream.events.iter_mut().for_each(|(time, _)| *time += ahead);
        }
        let directory = fresh();
        let path = directory.path();
        write::write(&trace, path);
        for semantics in SEMANTICS {
            let mut one = Vec::new();
            for (processes, threads) in [(1, 1), (2, 1), (3, 1), (1, 4), (2, 2)] {
                let report = path.join(format!("{processes}.{threads}.cubex"));
                for outcome in workers::analyze(path, &report, semantics, processes, threads) {
                    outcome.unwrap();
                }
                let report = std::fs::read(&report).unwrap();
                if one.is_empty() {
                    one = report;
                } else {
                    let what = format!("trace {seed}: {processes} processes of {threads} threads");
                    assert!(report == one, "{what}, {}", semantics.name());
                }
            }
            let findings = Table::read(&path.join("1.1.cubex")).findings();
            cyclic += findings.get("cyclic wait").copied().unwrap_or(0);
        }
    }
    eprintln!("{cyclic} cyclic waits");
}

/// Number of functions that rank 0 calls, of 10 ticks each, while rank 1 waits for it and rank 2 for rank 1.
const FUNCTIONS: usize = 100;

#[test]
fn long_term_costs_of_more_functions_than_are_kept_are_complete_with_any_workers() {
    let mut script = String::from("program prog\nrank 0\n0 > main ; ");
    for function in 0..FUNCTIONS {
        write!(script, "{} > f{function} ; {} < ; ", 10 * function, 10 * (function + 1)).unwrap();
    }
    script += "1000 > MPI_Send ; 1001 send 1 ; 1002 < ; 2000 <
        rank 1\n0 > main ; 0 > MPI_Recv ; 1005 recv 0 ; 1006 < ; 1010 > MPI_Send ; 1011 send 2 ; 1012 < ; 2000 <
        rank 2\n0 > main ; 0 > MPI_Recv ; 1015 recv 1 ; 1016 < ; 2000 <\n";
    let directory = fresh();
    let path = directory.path();
    let (_, table) = analyze(&script, path);
    // All of the 1000 ticks that rank 1 waits cost rank 2 the same, and rank 0 is the cause.
    let costs = table.named().into_iter().filter(|((metric, ..), _)| metric == "delay_latesender_longterm");
    let costs: Vec<f64> = costs.map(|(_, seconds)| seconds).collect();
    assert_eq!(costs.len(), FUNCTIONS);
    assert!(costs.iter().all(|seconds| (seconds - 10e-9).abs() < 1e-15), "{costs:?}");
    let one = std::fs::read(path.join("report.cubex")).unwrap();
    for (processes, threads) in [(2, 1), (3, 1), (1, 3)] {
        let report = path.join("many.cubex");
        for outcome in workers::analyze(path, &report, Semantics::Corrected, processes, threads) {
            outcome.unwrap();
        }
        assert!(std::fs::read(&report).unwrap() == one, "{processes} processes of {threads} threads");
    }
}
