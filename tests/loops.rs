//! `--loop`: iterations of another loop than that with most time, or visits of a region (structure 2.8, 2.12).

use std::path::Path;

use generate::{Job, Pattern};
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::structure::{FoundStructure, Structure};
use replay::{Focus, LoopChoice, MainLoop, Options, Outcome, Semantics, StructureSummary};
use show::status::Status;

use crate::structure::compare_sums;
use crate::support::parse::Case;
use crate::support::report::Table;
use crate::support::show::show;
use crate::support::tables::Details;
use crate::support::{archive, in_memory, options, run, workers, write};

/// The archive of a script.
fn written(script: &str) -> tempfile::TempDir {
    let case = Case::parse(script).unwrap_or_else(|problem| panic!("{problem}:\n{script}"));
    let directory = in_memory();
    write::write(&case.trace, directory.path());
    directory
}

/// Options of an analysis with a loop, if one is named.
fn with(experiment: &Path, choice: &str) -> Options {
    let report = experiment.join("r.cubex");
    let choice = (!choice.is_empty()).then(|| LoopChoice::parse(choice).unwrap());
    Options { choice, ..options(experiment, &report, Semantics::Corrected) }
}

fn analyzed(options: &Options) -> Result<Outcome, String> {
    let outcome = replay::analyze(options, &mut Solo, &mut Progress::silent());
    outcome.map_err(|error| error.to_string())
}

fn structure(experiment: &Path, choice: &str) -> Structure {
    match analyzed(&with(experiment, choice)).unwrap().structure {
        FoundStructure::Loop(structure) => *structure,
        other => panic!("--loop {choice}: {other:?}"),
    }
}

/// The main loop, and the summary's words for it.
fn summary(experiment: &Path, choice: &str) -> (MainLoop, String) {
    let summary = analyzed(&with(experiment, choice)).unwrap().summary.unwrap();
    let text = summary.structure.to_string();
    match summary.structure {
        StructureSummary::MainLoop(main_loop) => (*main_loop, text),
        other => panic!("{other:?}"),
    }
}

/// What replay-show prints.
fn shown(arguments: &[&str]) -> String {
    let (status, results, messages) = show(arguments, &[]);
    assert_eq!(status, Status::Done, "{messages}");
    results
}

#[test]
fn replay_show_says_what_the_iterations_are_of() {
    let [nested, phases] = [nested(), phases("region step flag phase", 8)].map(|script| written(&script));
    let iterations = |experiment: &Path, choice: &str, says: &str| {
        analyzed(&with(experiment, choice)).unwrap();
        let report = experiment.join("r.cubex").display().to_string();
        let printed = shown(&["iterations", &report]);
        assert!(printed.starts_with(says), "{printed}");
        report
    };
    iterations(nested.path(), "", "4 iterations of the main loop, each ");
    iterations(phases.path(), "", "8 iterations of phase step, each ");
    let report = iterations(nested.path(), "1.1", "20 iterations of the loop of --loop 1.1, each ");
    let of_graph = |number: &str| shown(&["structure", "-g", number, &report]);
    let graphs = ["1", "2", "3"].map(of_graph);
    for graph in graphs {
        let says = match graph.starts_with("rank 2") {
            true => "; none of the loops is the one of replay-analyze --loop",
            false => " of the time is in iterations of LOOP 1.1",
        };
        assert!(graph.contains(says), "{graph}");
    }
}

/// Values of iterations and those outside are together those of the report.
#[test]
fn iterations_and_what_is_outside_sum_up_to_the_report() {
    let [phases, nested] = [phases("region step flag phase", 8), nested()].map(|script| written(&script));
    let comms = archive("comms.7");
    let mut compared = 0;
    for (experiment, choice) in [
        (phases.path(), ""),
        (phases.path(), "1"),
        (phases.path(), "phase=work"),
        (nested.path(), "1.1"),
        (&comms, "1"),
        (&comms, "phase=main"),
    ] {
        let directory = in_memory();
        let report = directory.path().join("r.cubex");
        let options = Options { report: Some(report.clone()), ..with(experiment, choice) };
        let FoundStructure::Loop(structure) = analyzed(&options).unwrap().structure else {
            panic!("{choice}")
        };
        compared += compare_sums(&structure, experiment, &report);
    }
    assert!(compared > 20, "{compared}");
}

fn error(experiment: &Path, choice: &str) -> String {
    analyzed(&with(experiment, choice)).unwrap_err()
}

/// Two ranks with 4 steps: a broadcast and 5 rounds of a message in solve each; a third one has the broadcasts only. Call sites
/// are known.
fn nested() -> String {
    let mut script = String::from(
        "program prog\ncontext main main\ncontext init MPI_Init in main line 1\ncontext step step in main\n\
         context bcast MPI_Bcast in step line 10\ncontext solve solve in step\ncontext send MPI_Send in solve line 20\n\
         context recv MPI_Recv in solve line 21\ncontext finalize MPI_Finalize in main line 30\n",
    );
    for rank in 0..3 {
        script += &format!("rank {rank}\n 0 ctx> init unwind 3 ; 10 ctx< init\n");
        for step in 0..4 {
            let at = 100 + 1000 * step;
            let end = at + 5;
            script += &format!(
                " {at} ctx> bcast unwind 3 ; begin ; {end} end bcast root 0 sent 8 received 8 ; ctx< bcast\n"
            );
            let rounds = if rank < 2 { 5 } else { 0 };
            for round in 0..rounds {
                let at = at + 20 + 100 * round;
                script += &match rank {
                    0 => format!(" {} ctx> send unwind 3 ; send 1 ; {} ctx< send\n", at + 50, at + 52),
                    _ => format!(" {} ctx> recv unwind 3 ; {} recv 0 ; ctx< recv\n", at + 10, at + 60),
                };
            }
        }
        script += " 4100 ctx> finalize unwind 3 ; 4110 ctx< finalize\n";
    }
    script
}

#[test]
fn the_loop_that_is_asked_for_has_the_iterations() {
    let experiment = written(&nested());
    let experiment = experiment.path();
    let chosen = structure(experiment, "");
    assert_eq!((chosen.iterations.len(), chosen.choice.is_none()), (4, true));
    assert_eq!(structure(experiment, "1").iterations, chosen.iterations);
    // Around the calls of a function, and around those of all that it calls.
    for (choice, iterations) in
        [("1", 4), ("step", 4), ("MPI_Bcast", 4), ("1.1", 20), ("solve", 20), ("MPI_Recv", 20)]
    {
        let found = structure(experiment, choice);
        assert_eq!(found.iterations.len(), iterations, "--loop {choice}");
        assert!(found.correspondence.holds(), "--loop {choice}");
    }
    let inner = structure(experiment, "1.1");
    assert_eq!(inner.iterations, structure(experiment, "solve").iterations);
    // The third rank has no such loop; a round takes 100 ticks, the last one of a step until its call is left.
    let times: Vec<(u64, i128)> = inner.iterations.iter().map(|it| (it.locations, it.time.sum)).collect();
    assert_eq!(times[..5], [(2, 200), (2, 200), (2, 200), (2, 200), (2, 52)]);
    // The value of the report, and that of its tables: 50 ticks of each round are waiting.
    let series = inner.series.unwrap();
    let details = Details::open(&experiment.join("r.cubex"));
    assert_eq!(details.manifest.main_loop.unwrap().iterations, 20);
    assert_eq!(series.metrics.values().next().unwrap().values.len(), 21);
}

#[test]
fn summary_describes_what_is_asked_for_however_little_it_is() {
    let experiment = written(&nested());
    let experiment = experiment.path();
    let (main_loop, text) = summary(experiment, "");
    assert_eq!((main_loop.iterations, main_loop.locations), (4, [3, 3]));
    assert!(text.starts_with("\nStructure: ") && text.contains("4 iterations in prog/main/step,"), "{text}");
    let (main_loop, text) = summary(experiment, "1.1");
    assert_eq!((main_loop.iterations, main_loop.locations), (20, [2, 3]));
    let says = "is 20 iterations in prog/main/step/solve, all of them on 2 of 3 ranks\n  20 x 0.000000 s";
    assert!(text.starts_with("\nStructure (--loop 1.1): ") && text.contains(says), "{text}");
    // A loop of two iterations with hardly any time.
    let few = "program prog\nrank 0\n 0 > main ; > MPI_Init ; 10 < ; 20 > early ; > MPI_Barrier ; begin ; 21 end barrier ; < ; \
               22 > MPI_Barrier ; begin ; 23 end barrier ; < ; 24 <\n repeat 9 every 100: 100 > late ; > MPI_Allreduce ; begin ; \
               160 end allreduce sent 8 received 8 ; < ; <\n 1000 > MPI_Finalize ; 1010 < ; <";
    let experiment = written(few);
    let (main_loop, text) = summary(experiment.path(), "");
    assert_eq!(main_loop.iterations, 9, "{text}");
    let (main_loop, text) = summary(experiment.path(), "early");
    assert!(main_loop.share < 0.01, "{text}");
    assert!(text.contains("0.3 % of the time is 2 iterations in prog/main/early, on one rank"), "{text}");
}

#[test]
fn loops_that_do_not_exist_are_refused_with_what_there_is() {
    let experiment = written(&nested());
    let named = |choice: &str| error(experiment.path(), choice);
    let loops = "rank 0 has 1, 1.1 (replay-show structure shows all)";
    assert_eq!(named("2"), format!("--loop 2: there is no loop of this name; {loops}"));
    assert_eq!(named("1.1.1"), format!("--loop 1.1.1: there is no loop of this name; {loops}"));
    assert_eq!(named("0"), format!("--loop 0: there is no loop of this name; {loops}"));
    assert_eq!(named("main"), format!("--loop main: no loop has all calls of MPI below main; {loops}"));
    let unknown = named("nothing");
    assert!(
        unknown.starts_with(
            "--loop nothing: no call of MPI is made below a region named nothing; the trace has "
        ),
        "{unknown}"
    );
    assert!(unknown.contains("step") && unknown.contains("solve"), "{unknown}");
    let unknown = named("phase=nothing");
    assert!(
        unknown.starts_with(
            "--loop phase=nothing: no main thread enters a region named nothing; the trace has "
        ),
        "{unknown}"
    );
    assert!(!experiment.path().join("r.cubex").exists());
    // Without any loop.
    let none = written("program prog\nrank 0\n 0 > main ; > MPI_Init ; 10 < ; 20 > MPI_Finalize ; 30 < ; <");
    assert!(error(none.path(), "1").ends_with("the program has no loop of MPI calls"));
}

#[test]
fn wrong_options_have_status_2() {
    let experiment = archive("comms.4");
    let directory = in_memory();
    let report = directory.path().join("r.cubex");
    for (arguments, says) in [
        (&["--loop", "9.9"][..], "--loop 9.9: there is no loop of this name; rank 0 has 1"),
        (&["--loop", "phase=nothing"], "no main thread enters a region named nothing"),
        (&["--loop", "phase="], "expected the name of a loop"),
        (&["--loop", ""], "expected the name of a loop"),
        (&["--loop", "1", "--structure", "none"], "--loop 1 needs the loops of the program"),
        (&["--loop", "1", "--semantics", "reference"], "--loop 1 needs the loops of the program"),
        (
            &["--loop", "1", "--semantics", "reference", "--focus", "iterations=1"],
            "leave out --structure none and --semantics reference",
        ),
        (&["--loop", "1", "--focus", "time=0-1"], "no such focus is given"),
        (&["--loop", "1", "--loop", "2"], "cannot be used multiple times"),
        (&["--loop", "phase=main", "--focus", "iterations=2"], "phase main has 1 iterations"),
        (&["--loop", "1", "--focus", "iterations=4"], "the loop of --loop 1 has 3 iterations"),
    ] {
        let all = [arguments, &["-o", report.to_str().unwrap(), experiment.to_str().unwrap()]].concat();
        let ended = run::analyze(all);
        ended.expect(2);
        assert!(ended.stderr.contains(says), "{arguments:?}: {}", ended.stderr);
        assert!(!report.exists(), "{arguments:?}");
    }
}

/// Two ranks with steps of 100 ticks, of which every other one has no call of MPI; `regions` says what the regions are.
fn phases(regions: &str, steps: u64) -> String {
    let mut script = format!("program prog\n{regions}\n");
    for rank in 0..2 {
        script += &format!("rank {rank}\n 0 > main ; > MPI_Init ; 10 <\n");
        for step in 0..steps {
            let at = 20 + 100 * step;
            script += &format!(" {at} > step ; > work ; {} < ;", at + 20 + 10 * rank);
            if step % 2 == 0 {
                script += &match rank {
                    0 => format!(" > MPI_Recv ; {} recv 1 ; < ;", at + 40),
                    _ => format!(" > MPI_Send ; {} send 0 ; < ;", at + 40),
                };
            }
            script += &format!(" {} <\n", at + 90);
        }
        let end = 20 + 100 * steps;
        script += &format!(" {end} > MPI_Finalize ; {} < ; <\n", end + 10);
    }
    script
}

#[test]
fn visits_of_a_phase_that_the_program_names_are_the_iterations() {
    let unnamed = written(&phases("", 8));
    let (main_loop, text) = summary(unnamed.path(), "");
    assert_eq!((main_loop.phase, main_loop.iterations), (None, 4), "{text}");
    for flag in ["phase", "dynamic"] {
        let named = written(&phases(&format!("region step file main.c line 40 flag {flag}"), 8));
        let (main_loop, text) = summary(named.path(), "");
        assert_eq!((main_loop.iterations, main_loop.locations), (8, [2, 2]), "{text}");
        let says = "\nStructure: 88.9 % of the time is 8 visits of step, the same on all 2 ranks\n  \
                    Iterations: phase `step` (main.c:40), 8 x 0.000000 s (0.000000 to 0.000000 s)\n";
        assert!(text.starts_with(says), "{text}");
        let structure = structure(named.path(), "");
        let times: Vec<[i128; 2]> = structure.iterations.iter().map(|it| [it.time.sum, it.mpi.sum]).collect();
        // From enter to leave; rank 0 is in MPI for 20 ticks, rank 1 for 10.
        assert_eq!(times, [[180, 30], [180, 0]].repeat(4));
        assert!(structure.iterations.iter().all(|it| it.elapsed() == 90 && !it.is_border));
        // Those with a call are not like those without.
        assert_eq!(structure.signature.unwrap().clusters.len(), 2);
        // Graphs and loops are still there.
        let details = Details::open(&named.path().join("r.cubex"));
        assert_eq!(details.manifest.main_loop.as_ref().unwrap().iterations, 8);
        assert!(!details.rows("structure_loops").unwrap().is_empty());
    }
}

#[test]
fn regions_are_phases_if_visited_three_times_everywhere_with_half_of_the_time() {
    let flagged = |script: &str| summary(written(script).path(), "").0.phase.map(|[name, _]| name);
    let all = "region main flag phase\nregion step flag phase\nregion work flag dynamic";
    // The program is visited once. Of the others the step is around the work, which has less than half of the time.
    assert_eq!(flagged(&phases(all, 8)).as_deref(), Some("step"));
    assert_eq!(flagged(&phases("region work flag phase", 8)), None);
    assert_eq!(flagged(&phases("region step flag phase", 3)).as_deref(), Some("step"));
    let two = written(&phases("region step flag phase", 2));
    assert!(matches!(analyzed(&with(two.path(), "")).unwrap().structure, FoundStructure::NoLoop));
    // On one rank they are too few.
    let mut few = phases("region step flag phase", 8);
    let rank = few.rfind("> step ; > work").unwrap();
    let rest = few.split_off(rank);
    let few = few.replace("> step ; > work", "> other ; > work");
    assert_eq!(flagged(&(few + &rest)), None);
    // Both have half of the time, and one lies in the other.
    let both = phases("region a flag phase\nregion step flag phase", 8);
    let line = |line: &str| match line.contains("> work") {
        true => line.replacen(" < ;", " < ; > a ;", 1) + " ; <\n",
        false => line.to_owned() + "\n",
    };
    assert_eq!(flagged(&both.lines().map(line).collect::<String>()).as_deref(), Some("step"));
}

#[test]
fn of_phases_beside_each_other_the_longest_is_taken() {
    let mut script = String::from("program prog\nregion first flag phase\nregion second flag phase\n");
    script += "rank 0\n 0 > main ; > MPI_Init ; 10 <\n repeat 5 every 100: 10 > MPI_Barrier ; begin ; end barrier ; < ; \
               > first ; 59 < ; > second ; 110 <\n 510 > MPI_Finalize ; < ; <\n";
    let experiment = written(&script);
    assert_eq!(summary(experiment.path(), "").0.phase.unwrap()[0], "second");
    // Only this one has half of the time; the other one may be asked for.
    let structure = structure(experiment.path(), "phase=first");
    assert_eq!((structure.iterations.len(), structure.time), (5, 5 * 49));
}

#[test]
fn any_region_is_a_phase_if_that_is_asked_for() {
    let experiment = written(&phases("region step flag phase", 8));
    let path = experiment.path();
    let (main_loop, text) = summary(path, "phase=work");
    assert_eq!((main_loop.iterations, main_loop.phase.unwrap()[0].as_str()), (8, "work"), "{text}");
    assert!(text.starts_with("\nStructure (--loop phase=work): 24.7 % of the time is 8 visits of work, the same on all 2 ranks\n"), "{text}");
    // A phase that begins before MPI and ends behind it has all of the time.
    let (main_loop, text) = summary(path, "phase=main");
    assert_eq!((main_loop.iterations, main_loop.share), (1, 1.0), "{text}");
    assert!(text.contains("100.0 % of the time is 1 visit of main"), "{text}");
    // And the loop is there, too.
    let (main_loop, text) = summary(path, "1");
    assert_eq!((main_loop.iterations, main_loop.phase), (4, None), "{text}");
}

#[test]
fn visits_are_numbered_as_iterations_of_loops_are() {
    // The last rank has one visit more behind the others.
    let script = phases("region step flag phase", 8) + " 900 > step ; 950 <\n";
    let script = script.replacen("830 < ; <\n 900", "830 < ; 900", 1);
    let experiment = written(&(script + " <\n"));
    let structure = structure(experiment.path(), "");
    let locations: Vec<u64> = structure.iterations.iter().map(|it| it.locations).collect();
    assert_eq!(locations, [2, 2, 2, 2, 2, 2, 2, 2, 1]);
    assert!(structure.correspondence.holds() && structure.correspondence.within == 4, "{structure:?}");
}

#[test]
fn focus_and_short_archives_have_the_iterations_that_are_asked_for() {
    let experiment = written(&phases("region step flag phase", 8));
    let path = experiment.path();
    let focused = |choice: &str, focus: &str| {
        let focus = vec![Focus::parse(focus).unwrap()];
        let options = Options { focus, ..with(path, choice) };
        analyzed(&options).unwrap();
        Table::read(&path.join("r.cubex")).values
    };
    assert_eq!(focused("", "iterations=3-4"), focused("", "phase=step#3-4"));
    assert_eq!(focused("phase=work", "iterations=2"), focused("", "phase=work#2"));
    assert_eq!(focused("1", "iterations=1-"), focused("", "loop=1"));
    let nested = written(&nested());
    let all =
        Options { focus: vec![Focus::parse("iterations=1-5").unwrap()], ..with(nested.path(), "solve") };
    let summary = analyzed(&all).unwrap().summary.unwrap();
    assert_eq!(summary.focus.unwrap().names, "iterations=1-5 of --loop solve");
    let named = Options { report: None, ..all };
    analyzed(&named).unwrap();
    assert!(nested.path().join("trace.focus-iterations-1-5+loop-solve.cubex").exists());
    let table = Table::read(&nested.path().join("r.cubex"));
    let time = table.sum("time", 0) + table.sum("time", 1);
    assert!((time - 852e-9).abs() < 1e-15, "{time}");
    assert_eq!(table.sum("time", 2), 0.0);

    let directory = in_memory();
    let short = directory.path().join("short");
    let report = directory.path().join("r.cubex");
    let arguments =
        ["--short", short.to_str().unwrap(), "-o", report.to_str().unwrap(), path.to_str().unwrap()];
    let ended = run::analyze(arguments);
    ended.expect(0);
    assert!(ended.stdout.contains(", 2 of 8 iterations, "), "{}", ended.stdout);
    // Two visits are too few to be taken without being asked for.
    assert_eq!(structure(&short, "phase=step").iterations.len(), 2);
    std::fs::remove_dir_all(&short).unwrap();
    let ended = run::analyze([&["--loop", "phase=work"][..], &arguments].concat());
    ended.expect(0);
    assert!(ended.stdout.contains("of 8 iterations, "), "{}", ended.stdout);
    // They are called visits whichever iterations are found in it.
    let other = directory.path().join("s.cubex");
    let again = |more: &[&str]| {
        let arguments = ["-o", other.to_str().unwrap(), short.to_str().unwrap()];
        let ended = run::analyze([more, &arguments].concat());
        assert!(ended.stdout.contains("\n  All 8 visits of work took "), "{}", ended.stdout);
        ended.stdout.contains(": waits are not extrapolated (--loop phase=work takes them)\n")
    };
    assert!(again(&[]) && !again(&["--loop", "phase=work"]));
    std::fs::remove_dir_all(&short).unwrap();
    let ended = run::analyze([&["--loop", "phase=main"][..], &arguments].concat());
    ended.expect(2);
    let says = "--short: phase main has fewer than three iterations on all ranks";
    assert!(ended.stderr.contains(says), "{}", ended.stderr);
}

/// A phase in which a thread beside the main one calls MPI, and the main one asks for a message that does not come in it.
#[test]
fn polls_and_calls_of_other_threads_count_in_the_visits_that_they_are_in() {
    let mut script = String::from(
        "program prog\nregion step flag phase\nrank 0\n 0 > main ; > MPI_Init ; 10 < ; > MPI_Irecv ; post 1 ; <\n",
    );
    for step in 0..3 {
        let at = 20 + 100 * step;
        script +=
            &format!(" {at} > step ; {} > MPI_Test ; test 1 ; {} < ; {} <\n", at + 10, at + 15, at + 90);
    }
    script += " 330 > MPI_Wait ; irecv 1 req 1 ; < ; 340 > MPI_Finalize ; 350 < ; <\n";
    script += "rank 0 thread 1\n 20 > !$omp parallel\n";
    for step in 0..3 {
        let at = 20 + 100 * step;
        // The last one goes on until the next visit.
        script += &format!(" {} > MPI_Probe ; {} <\n", at + 60, at + 60 + 20 * (step + 1));
    }
    script += " 345 <\nrank 1\n 0 > main ; > MPI_Init ; 10 <\n repeat 3 every 100: 20 > step ; 110 <\n";
    script += " 325 > MPI_Send ; send 0 ; < ; 340 > MPI_Finalize ; 350 < ; <\n";
    let experiment = written(&script);
    let structure = structure(experiment.path(), "");
    assert_eq!(structure.locations, 3);
    let times: Vec<[i128; 2]> = structure.iterations.iter().map(|it| [it.time.sum, it.mpi.sum]).collect();
    assert_eq!(times, [[270, 5 + 20], [270, 5 + 30], [270, 5 + 30]]);
}

#[test]
fn reports_are_the_same_for_any_number_of_workers() {
    let directory = in_memory();
    let generated = directory.path().join("generated");
    let pattern = Pattern::find("iterations").unwrap();
    let job = Job { iterations: Some(30), call_sites: true, ..Job::new(pattern, 8, 0) };
    generate::generate(&job, &generated).unwrap();
    let [phases, nested] = [phases("region step flag phase", 8), nested()].map(|script| written(&script));
    let report = directory.path().join("r.cubex");
    for (experiment, choice, iterations) in [
        (phases.path(), "", 8),
        (phases.path(), "phase=work", 8),
        (nested.path(), "1.1", 20),
        (nested.path(), "solve", 20),
        (&generated, "1.1", 120),
        (&generated, "exchange", 30),
        (&archive("hybrid.3x3"), "phase=main", 1),
        (&archive("comms.7"), "1", 3),
    ] {
        let mut first: Option<Vec<u8>> = None;
        for (processes, threads) in [(1, 1), (2, 1), (3, 1), (7, 1), (1, 2)] {
            let options = Options { report: Some(report.clone()), threads, ..with(experiment, choice) };
            let outcomes = workers::analyze_with(&options, processes);
            let what = format!("{} --loop {choice} with {processes} x {threads}", experiment.display());
            let outcomes: Vec<Outcome> = outcomes
                .into_iter()
                .map(|outcome| outcome.unwrap_or_else(|error| panic!("{what}: {error}")))
                .collect();
            let FoundStructure::Loop(structure) = &outcomes[0].structure else { panic!("{what}") };
            assert_eq!(structure.iterations.len(), iterations, "{what}");
            let bytes = std::fs::read(&report).unwrap();
            assert!(*first.get_or_insert_with(|| bytes.clone()) == bytes, "{what}");
        }
        // An error is one message for all.
        let options = with(experiment, "77");
        for processes in [1, 3] {
            let own = workers::analyze_with(&options, processes).into_iter();
            let own = own.map(Result::unwrap_err).filter(replay::Error::is_own).count();
            assert_eq!(own, 1, "{}", experiment.display());
        }
    }
}
