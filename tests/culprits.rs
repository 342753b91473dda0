//! Culprits in the summary: the locations that wait for them, and the calls between which they are slow.

use replay::coverage::Fate;
use replay::{Semantics, Summary};

use crate::causes::{analyze, chain};
use crate::support::parse::Case;
use crate::support::random::{self, Random};
use crate::support::trace::{Step, Stream, Trace};
use crate::support::{SEMANTICS, fresh, project, workers, write};

/// The lines of the summary about culprits.
pub(crate) fn culprits(summary: &Summary) -> Vec<String> {
    summary.causes.culprits.iter().map(ToString::to_string).collect()
}

/// Summary of a script.
pub(crate) fn summary(script: &str) -> Summary {
    analyze(script, fresh().path()).0
}

/// Summary of a trace in a directory.
fn analyze_in(directory: &std::path::Path) -> Summary {
    let report = directory.join("report.cubex");
    crate::support::analyze(directory, &report, Semantics::Corrected).unwrap().summary.unwrap()
}

/// Text of the summary without the two lines that name the report.
fn text(summary: &Summary) -> String {
    let text = summary.to_string();
    text.lines()
        .filter(|line| !line.starts_with("Report: ") && !line.starts_with("Look at it: "))
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

/// A program without functions. Rank 0 is late by 100 to its first message, then by 300 to its second, which
/// follows a barrier; rank 1 waits for both.
const NO_FUNCTIONS: &str = "program prog
rank 0
  5 > MPI_Comm_size ; 10 < ; 110 > MPI_Send ; 112 send 1 ; 114 < ; 120 > MPI_Barrier ; begin ; 125 end barrier ; 125 < ; 425 > MPI_Send ; 427 send 1 ; 429 <
rank 1
  5 > MPI_Comm_size ; 10 < ; 10 > MPI_Recv ; 113 recv 0 ; 114 < ; 120 > MPI_Barrier ; begin ; 125 end barrier ; 125 < ; 125 > MPI_Recv ; 428 recv 0 ; 429 <
";

#[test]
fn all_who_wait_in_turn_for_the_first_of_a_chain_are_its_victims() {
    let summary = summary(&chain());
    let first = &summary.causes.culprits[0];
    let victims = first.victims.as_ref().unwrap();
    assert_eq!(victims.text, "in MPI_Recv of ranks 1–63", "{first}");
    assert!(
        first.to_string().contains("main/work: late senders in MPI_Recv of ranks 1–63; on the"),
        "{first}"
    );
    // Costs propagated backward and shares propagated forward are equal.
    for culprit in &summary.causes.culprits {
        let share = culprit.victims.as_ref().unwrap().share;
        assert!((share - 1.0).abs() < 1e-9, "{share} of {culprit}");
    }
}

#[test]
fn members_of_a_collective_operation_wait_for_the_last_one() {
    let summary = summary(BARRIERS);
    assert!(summary.causes.culprits[0].more_work.is_some());
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
    let first = &summary.causes.culprits[0];
    let between = first.between.as_ref().unwrap();
    assert_eq!(between.text, "between MPI_Barrier and MPI_Send", "{first}");
    // 300 of the 100 and 300 that rank 1 waits.
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
fn calls_that_communicate_nothing_bound_a_stretch_too() {
    // Rank 0 works for 10 after the barrier, and for 300 after MPI_Comm_size, which does not communicate.
    let summary = summary(
        "program prog
rank 0
  0 > MPI_Barrier ; begin ; 5 end barrier ; 5 < ; 15 > MPI_Comm_size ; 15 < ; 315 > MPI_Barrier ; begin ; 320 end barrier ; 320 <
rank 1
  0 > MPI_Barrier ; begin ; 5 end barrier ; 5 < ; 15 > MPI_Comm_size ; 15 < ; 20 > MPI_Barrier ; begin ; 320 end barrier ; 320 <
",
    );
    let first = &culprits(&summary)[0];
    assert!(first.starts_with("rank 0 in prog between MPI_Comm_size and MPI_Barrier"), "{first}");
}

/// Time of a rank's main thread on a call path between two consecutive MPI calls of the given names, in
/// ticks.
fn time_between(trace: &Trace, rank: u32, path: &str, sides: [Option<&str>; 2]) -> u64 {
    let stream = trace.streams.iter().find(|stream| (stream.rank, stream.thread) == (rank, 0)).unwrap();
    let program = trace.program.as_deref().map(|program| program.rsplit('/').next().unwrap());
    let mut stack = vec![program.unwrap_or("PROGRAM").to_owned()];
    let (mut all, mut current) = (0, 0);
    let (mut before, mut last): (Option<String>, _) = (None, None);
    for (time, step) in &stream.events {
        if stack.join("/") == path {
            current += last.map_or(0, |last| time - last);
        }
        last = Some(*time);
        match step {
            Step::Enter(name) => {
                if name.starts_with("MPI_") {
                    all += if [before.as_deref(), Some(name)] == sides { current } else { 0 };
                    (before, current) = (Some(name.clone()), 0);
                }
                stack.push(name.clone());
            }
            Step::Leave => drop(stack.pop()),
            _ => {}
        }
    }
    all + if [before.as_deref(), None] == sides { current } else { 0 }
}

#[test]
fn time_of_a_stretch_is_that_of_the_events_between_such_calls() {
    let mut checked = 0;
    for seed in 0..160 {
        let trace = random::trace(seed);
        let directory = fresh();
        write::write(&trace, directory.path());
        let summary = analyze_in(directory.path());
        for culprit in &summary.causes.culprits {
            let Some(rank) = culprit.location.strip_prefix("rank ").and_then(|rank| rank.parse().ok()) else {
                continue;
            };
            // The time of forking a team is attributed to its parallel region (specification 7.2).
            let forks = |stream: &Stream| stream.events.iter().any(|(_, step)| *step == Step::Fork);
            if trace.streams.iter().any(|stream| stream.rank == rank && forks(stream)) {
                continue;
            }
            let Some((between, seconds)) = culprit.between.as_ref().zip(culprit.between_seconds) else {
                continue;
            };
            let sides = match between.text.split_once(' ').unwrap() {
                ("between", calls) => {
                    let (before, after) = calls.split_once(" and ").unwrap();
                    [Some(before), Some(after)]
                }
                ("after", before) => [Some(before), None],
                (_, after) => [None, Some(after)],
            };
            let ticks = time_between(&trace, rank, &culprit.call_path, sides);
            let expected = ticks as f64 / trace.resolution as f64;
            assert!(
                (seconds - expected).abs() < 1e-12,
                "seed {seed}: {seconds} s, expected {expected} s: {culprit}"
            );
            checked += 1;
        }
    }
    assert!(checked > 30, "{checked} stretches");
}

#[test]
fn ranks_that_are_alike_are_named_together() {
    // Every third of 60 ranks is late to the barrier, some slightly more than others; rank 59 is late to
    // another one.
    let mut script = "program prog\n".to_owned();
    for rank in 0..60 {
        let work = if rank % 3 == 0 { 1000 + rank } else { 100 };
        let other = if rank == 59 { 2500 } else { 1150 };
        script += &format!(
            "rank {rank}\n  0 > main ; > work ; {work} < ; > MPI_Barrier ; begin ; 1100 end barrier ; 1100 < ; > check ; {other} < ; > MPI_Barrier ; begin ; 2500 end barrier ; 2500 < ; 2500 <\n"
        );
    }
    let summary = summary(&script);
    let [first, second, ..] = &culprits(&summary)[..] else { panic!("{summary}") };
    assert!(first.starts_with("rank 59 in prog/main/check: waiting at barriers"), "{first}");
    assert!(second.starts_with("rank 57 in prog/main/work: "), "{second}");
}

#[test]
fn groups_of_ranks_share_what_each_of_them_costs() {
    // In each of 20 barriers three other ranks of 60 are late.
    let mut script = "program prog\n".to_owned();
    for rank in 0..60 {
        script += &format!("rank {rank}\n  0 > main\n");
        for step in 0..20 {
            let begin = step * 1000;
            let work = begin + if rank % 20 == step { 900 } else { 100 };
            let end = begin + 950;
            script += &format!(
                "  {begin} > work ; {work} < ; > MPI_Barrier ; begin ; {end} end barrier ; {end} <\n"
            );
        }
        script += "  20000 <\n";
    }
    let summary = summary(&script);
    let [only] = &summary.causes.culprits[..] else { panic!("{summary}") };
    assert_eq!(only.location, "ranks 0–19");
    let said = only.to_string();
    assert!(
        said.starts_with("ranks 0–19 in prog/main/work: waiting at barriers in MPI_Barrier of ranks 0–59"),
        "{said}"
    );
}

#[test]
fn time_in_mpi_without_a_pattern_is_no_work_and_no_coverage() {
    // Rank 1 is in MPI_Wait for 20 ms, though its partner has sent long ago; so it is late to the barrier.
    let ms = 1_000_000;
    let script = format!(
        "program prog
rank 0
  0 > main ; > MPI_Isend ; isend 1 req 1 ; {a} < ; > MPI_Wait ; sent 1 ; {b} < ; > MPI_Barrier ; begin ; {e} end barrier ; {e} < ; {e} <
rank 1
  0 > main ; > MPI_Irecv ; post 1 ; {a} < ; {c} > MPI_Wait ; {d} irecv 0 req 1 ; {d} < ; > MPI_Barrier ; begin ; {e} end barrier ; {e} < ; {e} <
",
        a = ms / 100,
        b = ms / 50,
        c = ms / 40,
        d = 20 * ms,
        e = 20 * ms + ms / 100,
    );
    let summary = summary(&script);
    let first = &culprits(&summary)[0];
    assert!(
        first.starts_with(
            "rank 1 in prog/main/MPI_Wait, time in MPI that is no wait state: waiting at barriers"
        ),
        "{first}"
    );
    let analysed = summary.coverage.share(Fate::Analysed);
    assert!((summary.coverage.share(Fate::Unexplained) - 0.475).abs() < 0.01 && analysed < 0.53, "{summary}");
}

#[test]
fn work_comes_before_time_in_mpi_without_a_pattern_that_costs_up_to_twice_as_much() {
    // Rank 1 is in MPI_Wait for 20 ms for no known reason, and then rank 0 works equally long.
    let first = |work: u64| {
        let us = 1000;
        let script = format!(
            "program prog
rank 0
  0 > main ; > MPI_Isend ; isend 1 req 1 ; {a} < ; > MPI_Wait ; sent 1 ; {b} < ; > MPI_Barrier ; begin ; {e} end barrier ; {e} < ; {e} > work ; {f} < ; {f} > MPI_Barrier ; begin ; {g} end barrier ; {g} < ; {g} <
rank 1
  0 > main ; > MPI_Irecv ; post 1 ; {a} < ; {c} > MPI_Wait ; {d} irecv 0 req 1 ; {d} < ; > MPI_Barrier ; begin ; {e} end barrier ; {e} < ; {e} > MPI_Barrier ; begin ; {g} end barrier ; {g} < ; {g} <
",
            a = 10 * us,
            b = 20 * us,
            c = 25 * us,
            d = 20_000 * us,
            e = 20_010 * us,
            f = (20_010 + work) * us,
            g = (20_020 + work) * us,
        );
        culprits(&summary(&script)).remove(0)
    };
    assert!(first(11_000).starts_with("rank 0 in prog/main/work"), "{}", first(11_000));
    assert!(first(9_000).starts_with("rank 1 in prog/main/MPI_Wait"), "{}", first(9_000));
}

#[test]
fn writing_out_the_buffer_is_nobodys_fault_and_has_a_line_of_its_own() {
    let summary = summary(
        "program prog
rank 0
  0 > main ; 10 flush 900 ; 910 > MPI_Barrier ; begin ; 1000 end barrier ; 1000 < ; 1000 <
rank 1
  0 > main ; 10 > MPI_Barrier ; begin ; 1000 end barrier ; 1000 < ; 1000 <
",
    );
    let said = summary.to_string();
    assert!(culprits(&summary).iter().all(|culprit| !culprit.contains("FLUSH")), "{said}");
    assert!(said.contains("The recorder made others wait for 0.000001 s, 44."), "{said}");
}

#[test]
fn nobody_stands_out_where_waiting_is_short() {
    let summary = summary(
        "program prog
rank 0
  0 > main ; 1000 > MPI_Barrier ; begin ; 1003 end barrier ; 1003 < ; 1003 <
rank 1
  0 > main ; 995 > MPI_Barrier ; begin ; 1003 end barrier ; 1003 < ; 1003 <
",
    );
    let said = summary.to_string();
    assert!(
        said.contains(
            "Who made others wait, or idle: nobody stands out (0.000000 s of delay costs, 0.2 % of the time)"
        ),
        "{said}"
    );
}

#[test]
fn shares_are_of_the_time_that_was_recorded() {
    let summary = summary(
        "program prog
rank 0
  0 > main ; 100 off ; 900 on ; 1000 <
rank 1
  0 > main ; 100 off ; 900 on ; 900 > MPI_Comm_size ; 950 < ; 1000 <
",
    );
    let said = summary.to_string();
    assert!(
        said.contains("summed over 2 threads: 0.000000 s recorded; 0.000002 s (80.0 %) were not"),
        "{said}"
    );
    assert!(said.contains("\n   12.5 %      0.000000 s  in MPI"), "{said}");
}

#[test]
fn function_that_calls_no_mpi_has_no_stretch() {
    assert!(summary(&chain()).causes.culprits[0].between.is_none());
}

/// Rank 0 is late to the second barrier, in a function whose lines are known from the call sites.
const LINES: &str = "resolution 1000
program prog
context m5 main line 5
context b5 MPI_Barrier in m5
context m7 main line 7
context m9 main line 9
context b9 MPI_Barrier in m9
rank 0
  0 ctx> b5 unwind 3 ; begin ; 5 end barrier ; 5 ctx< b5 ; 105 ctx> b9 unwind 3 ; begin ; 110 end barrier ; 110 ctx< b9
rank 1
  0 ctx> b5 unwind 3 ; begin ; 5 end barrier ; 5 ctx< b5 ; 10 ctx> b9 unwind 3 ; begin ; 110 end barrier ; 110 ctx< b9
";

#[test]
fn time_behind_a_call_is_said_to_be_after_its_line_and_sampled_time_at_the_line_of_the_sample() {
    let first = |script: &str| culprits(&summary(script)).remove(0);
    let said = first(LINES);
    assert!(
        said.starts_with("rank 0 in prog/main after line 5 (prog.c), between MPI_Barrier and MPI_Barrier"),
        "{said}"
    );
    let samples: String = (1..10).map(|at| format!("; {at}5 sample m7 unwind 2 ")).collect();
    let said = first(&LINES.replace("; 105 ctx>", &format!("{samples}; 105 ctx>")));
    assert!(
        said.starts_with("rank 0 in prog/main (prog.c:7), between MPI_Barrier and MPI_Barrier"),
        "{said}"
    );
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
        // Every other trace has wrong clocks, so that waits depend on themselves.
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
                for culprit in &summary.causes.culprits {
                    named += usize::from(culprit.victims.is_some());
                    for part in [&culprit.victims, &culprit.between].into_iter().flatten() {
                        // A share of all cannot exceed all.
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

#[test]
fn shares_are_of_all_costs_where_idle_threads_have_some() {
    let directory = fresh();
    let report = directory.path().join("report.cubex");
    let archive = crate::support::archive("hybrid.2x3");
    let analysis = crate::support::analyze(&archive, &report, Semantics::Corrected).unwrap();
    let said = analysis.summary.unwrap().to_string();
    assert!(said.contains("summed over 6 threads, without their idle time: 0.690190 s"), "{said}");
    assert!(said.contains("or idle (1.580721 s of delay costs; shares are of them):"), "{said}");
    assert!(said.contains("   19.0 %      0.300551 s  rank 0 in hybrid/main"), "{said}");
}

#[test]
fn each_kind_of_waiting_has_its_words() {
    let expected = [
        ("causes_of_barrier", "waiting at barriers"),
        ("fence", "waiting for one-sided partners"),
        ("late_post", "waiting for one-sided partners"),
        ("lock_contention", "waiting for one-sided partners"),
        ("target_progress", "waiting for one-sided partners"),
        ("window_creation_and_release", "waiting for one-sided partners"),
        ("causes_of_message_progress", "waiting for progress"),
        ("create_wait", "creating or disconnecting communicators"),
        ("file_waits", "waiting in collective file operations"),
        ("neighbor_wait", "waiting for neighbours"),
        ("causes_of_nonblocking_nxn", "waiting at N x N"),
    ];
    for (name, words) in expected {
        assert_named(&golden(name), words);
    }
}

/// Asserts that a culprit of a script comes with words about the waiting in a call of MPI.
fn assert_named(script: &str, words: &str) {
    let summary = culprits(&summary(script));
    let is_named = summary.iter().any(|line| line.contains(&format!(": {words} in MPI_")));
    assert!(is_named, "{words}: {summary:?}\n{script}");
}

/// A script of the golden tests.
fn golden(name: &str) -> String {
    std::fs::read_to_string(project(&format!("tests/golden/{name}.trace"))).unwrap()
}

#[test]
fn waiting_for_progress_is_no_waiting_at_an_operation() {
    // Rank 1 has started its operation long before it computes.
    let script = golden("nonblocking_progress");
    let of = |operation: &str| script.replace("idone allreduce", &format!("idone {operation}"));
    assert_named(&script, "waiting for N x N operations");
    assert_named(&of("barrier"), "waiting for barriers");
    assert_named(&of("bcast root 1"), "waiting for 1-to-N operations");
    assert_named(&of("reduce root 0"), "waiting for N-to-1 operations");
    // Words are the same for all costs of a class, so also for those of members that came late.
    let late = "rank 2\n 0 > MPI_Init ; < ; > late ; 19 < ; > MPI_Iallreduce ; istart 1 ; < ; > MPI_Wait ; 55 idone allreduce req 1 \
                sent 8 received 8 ; < ; > late ; 75 < ; > MPI_Iallreduce ; istart 2 ; < ; > MPI_Wait ; 80 idone allreduce req 2 \
                sent 8 received 8 ; < ; > MPI_Finalize ; 91 <\n\nexpect";
    let summary = culprits(&summary(&script.replacen("expect", late, 1)));
    let named = |place: &str| {
        let words = ": waiting for N x N operations in MPI_Wait of ";
        summary.iter().any(|line| line.starts_with(place) && line.contains(words))
    };
    assert!(named("rank 1 in prog/solve") && named("rank 2 in prog/late"), "{summary:?}");
}

#[test]
fn polling_has_a_line_of_its_own_if_it_takes_a_share_of_the_time() {
    let script = golden("polling");
    let line =
        |summary: &Summary| text(summary).lines().find(|line| line.starts_with("Polling")).map(str::to_owned);
    let of = |polls: &str| line(&summary(polls));
    // Rank 0 tests and probes for 12 ticks each, of 198; of two call paths with as much the first one is named.
    let said = of(script.split_once("expect").unwrap().0).unwrap();
    let words = "12.1 % of the time, which is no wait state: most in prog/main/MPI_Test (50 %)";
    assert!(said.ends_with(words), "{said}");
    // Tests only.
    let probes = script.find("50 > MPI_Iprobe").unwrap();
    let tests =
        format!("{} 70 > MPI_Recv{}", &script[..probes], &script[script.find(" ; 72 recv").unwrap()..]);
    let tests = tests.replace("80 > MPI_Iprobe ; 82 < ; ", "");
    let said = of(tests.split_once("expect").unwrap().0).unwrap();
    assert!(said.ends_with("6.1 % of the time, which is no wait state: in prog/main/MPI_Test"), "{said}");
    // A share that is not worth a line, and tests that are complete at once.
    let long = tests.replace("99 <", "2000 <");
    assert_eq!(of(long.split_once("expect").unwrap().0), None);
    let complete = "program prog\nrank 0\n 0 > main ; 2 > MPI_Irecv ; 3 post 5 ; 4 < ; 40 > MPI_Test ; 41 irecv 1 req 5 ; 90 < ; 99 <\n\
                    rank 1\n 0 > main ; 25 > MPI_Send ; 26 send 0 ; 27 < ; 99 <\n";
    assert_eq!(of(complete), None);
    // The reference knows no polling.
    let directory = fresh();
    write::write(&Case::parse(&script).unwrap().trace, directory.path());
    let report = directory.path().join("report.cubex");
    let analysis = crate::support::analyze(directory.path(), &report, Semantics::Reference).unwrap();
    assert_eq!(line(&analysis.summary.unwrap()), None);
}

#[test]
fn kernel_that_other_ranks_wait_for_is_named_with_its_stream() {
    let script = std::fs::read_to_string(project("tests/golden/offload_late_sender.trace")).unwrap();
    let script: String = script
        .lines()
        .filter(|line| !line.starts_with("expect") && !line.starts_with("none"))
        .fold(String::new(), |text, line| text + line + "\n");
    let summary = summary(&script);
    let first = &summary.causes.culprits[0];
    let said = first.to_string();
    assert!(said.contains("rank 0 stream") && said.contains("KERNELS/k"), "{said}");
    assert!(said.contains("MPI_Recv of rank 1"), "{said}");
}
