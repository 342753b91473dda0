//! What the summary says of culprits: who waits for them, and between which calls they are slow.

use replay::Summary;

use crate::causes::{analyze, chain};
use crate::support::parse::Case;
use crate::support::random::{self, Random};
use crate::support::{SEMANTICS, fresh, workers, write};

/// What the summary says of each culprit.
fn culprits(summary: &Summary) -> Vec<String> {
    summary.culprits.iter().map(ToString::to_string).collect()
}

/// The summary of a script.
fn summary(script: &str) -> Summary {
    analyze(script, fresh().path()).0
}

/// The summary without the name of the report.
fn text(summary: &Summary) -> String {
    let text = summary.to_string();
    text.lines()
        .filter(|line| !line.starts_with("Report: "))
        .fold(String::new(), |text, line| text + line + "\n")
}

/// Rank 2 is late to the first barrier, rank 1 a bit to the second one.
const BARRIERS: &str = "program prog
rank 0
  0 > main ; 10 > work ; 110 < ; 110 > MPI_Barrier ; begin ; 1010 end barrier ; 1010 < ; 1010 > work ; 1020 < ; 1020 > MPI_Barrier ; begin ; 1060 end barrier ; 1060 < ; 1060 <
rank 1
  0 > main ; 10 > work ; 110 < ; 110 > MPI_Barrier ; begin ; 1010 end barrier ; 1010 < ; 1010 > work ; 1060 < ; 1060 > MPI_Barrier ; begin ; 1060 end barrier ; 1060 < ; 1060 <
rank 2
  0 > main ; 10 > work ; 1010 < ; 1010 > MPI_Barrier ; begin ; 1010 end barrier ; 1010 < ; 1010 > work ; 1020 < ; 1020 > MPI_Barrier ; begin ; 1060 end barrier ; 1060 < ; 1060 <
rank 3
  0 > main ; 10 > work ; 110 < ; 110 > MPI_Barrier ; begin ; 1010 end barrier ; 1010 < ; 1010 > work ; 1020 < ; 1020 > MPI_Barrier ; begin ; 1060 end barrier ; 1060 < ; 1060 <
";

/// No function but the program. Rank 0 is late by 100 to its first message, then by 300 to its second, which follows
/// a barrier; rank 1 waits for both.
const NO_FUNCTIONS: &str = "program prog
rank 0
  5 > MPI_Comm_size ; 10 < ; 110 > MPI_Send ; 112 send 1 ; 114 < ; 120 > MPI_Barrier ; begin ; 125 end barrier ; 125 < ; 425 > MPI_Send ; 427 send 1 ; 429 <
rank 1
  5 > MPI_Comm_size ; 10 < ; 10 > MPI_Recv ; 113 recv 0 ; 114 < ; 120 > MPI_Barrier ; begin ; 125 end barrier ; 125 < ; 125 > MPI_Recv ; 428 recv 0 ; 429 <
";

#[test]
fn all_who_wait_in_turn_for_the_first_of_a_chain_are_its_victims() {
    let summary = summary(&chain());
    let first = &summary.culprits[0];
    let victims = first.victims.as_ref().unwrap();
    assert_eq!(victims.text, "in MPI_Recv of ranks 1–63", "{first}");
    assert!(
        first.to_string().contains("main/work: late senders in MPI_Recv of ranks 1–63; on the"),
        "{first}"
    );
    // Costs that went back and shares that went forward are the same.
    for culprit in &summary.culprits {
        let share = culprit.victims.as_ref().unwrap().share;
        assert!((share - 1.0).abs() < 1e-9, "{share} of {culprit}");
    }
}

#[test]
fn members_of_a_collective_operation_wait_for_the_last_one() {
    let summary = summary(BARRIERS);
    assert!(summary.culprits[0].more_work.is_some());
    let [first, second, ..] = &culprits(&summary)[..] else { panic!("{summary}") };
    assert!(
        first.starts_with("rank 2 in prog/main/work: waiting at barriers in MPI_Barrier of ranks 0–1, 3; on"),
        "{first}"
    );
    assert!(
        second
            .starts_with("rank 1 in prog/main/work: waiting at barriers in MPI_Barrier of ranks 0, 2–3; on"),
        "{second}"
    );
}

#[test]
fn largest_of_several_regions_is_named_with_its_share() {
    // Rank 1 waits 90 in MPI_Recv and 30 in MPI_Wait for the same function.
    let summary = summary(
        "program prog
rank 0
  0 > main ; > work ; 100 < ; 100 > MPI_Send ; 100 send 1 ; 101 < ; 101 > work ; 141 < ; 141 > MPI_Send ; 141 send 1 ; 142 <  ; 150 <
rank 1
  0 > main ; 10 > MPI_Recv ; 100 recv 0 ; 101 < ; 105 > MPI_Irecv ; post 7 ; < ; 111 > MPI_Wait ; 142 irecv 0 req 7 ; 142 < ; 150 <
",
    );
    let first = &culprits(&summary)[0];
    assert!(
        first.starts_with("rank 0 in prog/main/work: late senders in MPI_Recv of rank 1 (75 %)"),
        "{first}"
    );
}

#[test]
fn where_there_are_no_functions_the_costliest_stretch_between_two_calls_is_named() {
    let summary = summary(NO_FUNCTIONS);
    let first = &summary.culprits[0];
    let between = first.between.as_ref().unwrap();
    assert_eq!(between.text, "between MPI_Barrier and MPI_Send", "{first}");
    // 300 of 100 and 300 that rank 1 waits.
    assert!((between.share - 0.75).abs() < 1e-9, "{between:?}");
    assert!(
        first.to_string().starts_with(
            "rank 0 in prog between MPI_Barrier and MPI_Send (75 %): late senders in MPI_Recv of rank 1"
        ),
        "{first}"
    );
}

#[test]
fn before_the_first_call_and_after_the_last_one_there_is_one_call_to_name() {
    let summary = summary(
        "program prog
rank 0
  0 > main ; 100 > MPI_Send ; send 1 ; 101 < ; 102 <
rank 1
  0 > main ; 10 > MPI_Recv ; 101 recv 0 ; 102 < ; 103 <
",
    );
    let first = &culprits(&summary)[0];
    assert!(
        first.starts_with("rank 0 in prog/main before MPI_Send: late senders in MPI_Recv of rank 1"),
        "{first}"
    );
}

#[test]
fn function_that_calls_no_mpi_has_no_stretch() {
    assert!(summary(&chain()).culprits[0].between.is_none());
}

#[test]
fn threads_that_wait_or_idle_are_named() {
    // Thread 1 is late to the barrier; then the main thread works alone.
    let summary = summary(
        "program prog
rank 0
  0 > main ; fork ; team ; > !$omp parallel ; 10 > !$omp barrier ; 90 < ; 95 < ; team-end ; join ; > alone ; 125 < ; fork ; team ; > !$omp parallel ; 126 < ; team-end ; join ; 126 <
rank 0 thread 1
  0 team ; > !$omp parallel ; > work ; 90 < ; 90 > !$omp barrier ; 90 < ; 95 < ; team-end ; 125 team ; > !$omp parallel ; 126 < ; team-end
rank 0 thread 2
  0 team ; > !$omp parallel ; 10 > !$omp barrier ; 90 < ; 95 < ; team-end ; 125 team ; > !$omp parallel ; 126 < ; team-end
",
    );
    let said = culprits(&summary);
    let says =
        |start: &str| assert!(said.iter().any(|culprit| culprit.starts_with(start)), "{start}: {said:?}");
    says(
        "rank 0 thread 1 in prog/main/!$omp parallel/work: waiting at OpenMP barriers in !$omp barrier of threads 0, 2 of rank 0",
    );
    says("rank 0 in prog/main/alone: idle threads of rank 0");
}

#[test]
fn summary_is_the_same_with_any_workers() {
    let mut random = Random::new(11);
    let script = |script: &str| Case::parse(script).unwrap().trace;
    let mut traces = vec![script(&chain()), script(BARRIERS), script(NO_FUNCTIONS)];
    let golden = |name: &str| Case::read(std::path::Path::new("tests/golden").join(name).as_path()).trace;
    traces.extend(["cyclic_wait.trace", "cyclic_critical_path.trace", "idle_threads.trace"].map(golden));
    for seed in 0..24 {
        // Every other one with wrong clocks, so that waits depend on themselves.
        let mut trace = random::trace(seed);
        for stream in trace.streams.iter_mut().filter(|_| seed % 2 == 1) {
            let ahead = random.below(10_000_000) as u64;
            stream.events.iter_mut().for_each(|(time, _)| *time += ahead);
        }
        traces.push(trace);
    }
    let mut named = 0;
    for (at, trace) in traces.iter().enumerate() {
        let directory = fresh();
        write::write(trace, directory.path());
        for semantics in SEMANTICS {
            let mut one = None;
            for (processes, threads) in [(1, 1), (2, 1), (3, 1), (8, 1), (1, 3), (2, 2)] {
                let report = directory.path().join("report.cubex");
                let outcomes = workers::analyze(directory.path(), &report, semantics, processes, threads);
                let summary = outcomes.into_iter().find_map(|outcome| outcome.unwrap().summary).unwrap();
                for culprit in &summary.culprits {
                    named += usize::from(culprit.victims.is_some());
                    for part in [&culprit.victims, &culprit.between].into_iter().flatten() {
                        // Of a part of all there is no more than all.
                        assert!(
                            part.share > 0.0 && part.share < 1.0 + 1e-6,
                            "trace {at}: {part:?} of {culprit}"
                        );
                    }
                }
                let said = text(&summary);
                let what = format!("trace {at}: {processes} processes of {threads} threads");
                assert_eq!(one.get_or_insert_with(|| said.clone()), &said, "{what}, {}", semantics.name());
            }
        }
    }
    assert!(named > 500, "{named} culprits with victims");
}
