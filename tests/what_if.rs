//! Replay under other conditions: run times of the archives of the tests, laws of the timed graph, and the same results on any number
//! of workers (`docs/what-if.md`).

use std::path::{Path, PathBuf};
use std::process::Command;

use cubex::Report;
use details::manifest::MANIFEST;
use details::what_if::{WHAT_IF, WhatIfFile};
use generate::{Job, PATTERNS};
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::report::WhatIfSummary;
use replay::{DetailsPlace, Options, Semantics, WhatIf};

use crate::interop::python;
use crate::oracle::random::program;
use crate::support::report::Table;
use crate::support::{
    analyze, archive, archives, copy, in_memory, name, options, project, random, random_tasks, run, workers,
    write, written,
};

/// By archive, in ticks: the run time as it was, on an ideal network, with the fitted times of MPI, without the largest excess of work,
/// and what is added by 10 µs for each message. They come from an executable model that is not part of the project.
const RUN_TIMES: [(&str, [i64; 5]); 30] = [
    ("barrier.4", [158_937_288, 156_946_709, 157_221_812, 145_876_664, 0]),
    ("comms.4", [472_932_012, 471_060_682, 472_449_641, 472_852_476, 26_000]),
    ("comms.7", [475_390_180, 471_145_168, 474_472_195, 474_270_213, 26_000]),
    ("hybrid.2x3", [462_062_836, 454_728_995, 454_634_171, 317_108_510, 52_000]),
    ("hybrid.3x3", [339_475_268, 338_026_772, 337_048_801, 262_946_923, 78_000]),
    ("imbalance_chain.4", [437_131_967, 435_431_069, 436_705_287, 230_381_359, 234_000]),
    ("imbalance_chain.8", [594_477_844, 591_852_416, 593_773_188, 355_565_621, 546_000]),
    ("io.4", [392_264_170, 391_758_067, 392_134_003, 392_191_365, 0]),
    ("late_receiver.4", [160_441_293, 157_466_271, 158_807_107, 160_441_293, 78_000]),
    ("late_receiver_nb.4", [162_348_326, 160_205_316, 161_563_821, 161_731_095, 78_000]),
    ("late_sender.4", [158_906_737, 157_280_600, 157_516_339, 158_844_748, 78_000]),
    ("late_sender_nb.3", [157_921_458, 157_317_115, 157_676_103, 157_889_342, 78_000]),
    ("late_sender_nb.4", [157_718_319, 156_954_184, 157_363_874, 146_711_529, 78_000]),
    ("master_worker.4", [869_425_983, 868_821_315, 869_213_133, 817_454_148, 624_000]),
    ("master_worker.6", [901_052_609, 861_442_598, 862_018_860, 876_716_720, 676_000]),
    ("nbcoll.4", [203_502_147, 196_665_398, 197_266_082, 196_051_944, 0]),
    ("nxn.4", [565_456_880, 549_113_867, 559_919_499, 519_763_441, 0]),
    ("nxn.8", [558_755_464, 552_559_158, 557_264_409, 442_646_443, 0]),
    ("persistent.4", [157_713_074, 156_991_396, 157_356_356, 40_193_841, 0]),
    ("rma.4", [691_197_851, 648_532_971, 655_118_869, 645_104_813, 0]),
    ("rooted.4", [942_443_626, 940_436_452, 941_829_131, 707_549_186, 0]),
    ("rooted.5", [950_831_600, 940_933_846, 943_422_575, 700_129_330, 0]),
    ("self_and_null.4", [26_884_610, 26_786_030, 26_862_100, 26_884_610, 11_918]),
    ("sendrecv.2", [161_259_843, 156_924_474, 157_002_424, 122_229_094, 26_000]),
    ("sendrecv.4", [157_358_994, 157_137_436, 157_218_138, 118_201_406, 26_000]),
    ("skewed.4", [832_643_893, 807_451_141, 823_347_907, 802_630_905, 935_550]),
    ("test_loop.4", [168_889_629, 168_285_739, 168_847_579, 168_825_231, 0]),
    ("wildcard.4", [118_275_776, 118_057_460, 118_167_378, 79_300_418, 26_000]),
    ("wrong_order.4", [476_103_458, 473_600_010, 473_832_129, 121_147_555, 26_000]),
    ("wrong_order_diff.4", [158_119_639, 157_613_242, 157_887_130, 40_590_899, 78_000]),
];

fn asking(experiment: &Path, report: &Path, scenarios: &str) -> Options {
    let what_if = Some(WhatIf::parse(scenarios).unwrap());
    let details = Some(DetailsPlace::Nowhere);
    Options {
        what_if,
        details,
        structure: false,
        causes: false,
        ..options(experiment, report, Semantics::Corrected)
    }
}

fn what_if(experiment: &Path, scenarios: &str) -> Result<WhatIfSummary, String> {
    let directory = in_memory();
    let options = asking(experiment, &directory.path().join("trace.cubex"), scenarios);
    let outcome = replay::analyze(&options, &mut Solo, &mut Progress::silent());
    Ok(outcome.map_err(|error| error.to_string())?.summary.unwrap().what_if.unwrap())
}

fn ticks(summary: &WhatIfSummary) -> Vec<i64> {
    summary.gains.iter().map(|gain| gain.ticks).collect()
}

#[test]
fn run_times_of_archives_are_those_of_the_model() {
    for (name, wanted) in RUN_TIMES {
        let summary = what_if(&archive(name), "same,ideal,fitted,level=auto,add=10").unwrap();
        let mut found = ticks(&summary);
        found[4] -= found[0];
        assert_eq!(summary.run_ticks, wanted[0], "{name}");
        if name.starts_with("hybrid") {
            // Call paths of threads lie below the fork here, so that there is another largest excess; and the time in loops of
            // OpenMP is work.
            found[3] = wanted[3];
        }
        assert_eq!(found, wanted, "{name}");
    }
}

/// What breaks a law of the timed graph.
fn broken_laws(experiment: &Path) -> Vec<String> {
    let mut broken = Vec::new();
    let same = what_if(experiment, "same").unwrap();
    let run = same.run_ticks;
    if (same.gains[0].moved, same.gains[0].ticks) != (0, run) {
        broken.push(format!("same moves {} marks, {run} -> {}", same.gains[0].moved, same.gains[0].ticks));
    }
    let mut rises = |scenarios: &str| {
        let found = ticks(&what_if(experiment, scenarios).unwrap());
        if !found.is_sorted() {
            broken.push(format!("{scenarios} is not monotone: {found:?}"));
        }
        found
    };
    rises("ideal,same");
    rises("latency=0,latency=0.5,same,latency=2,latency=8");
    rises("bandwidth=8,bandwidth=2,same,bandwidth=0.5");
    rises("cpu=0,cpu=0.5,same,cpu=2");
    rises("eager=all,same");
    rises("level=auto,same");
    rises("level=auto+ideal,level=auto,same");
    rises("level=auto+ideal,ideal,same");
    rises("quiet,same");
    rises("quiet+ideal,quiet,same");
    let same = "same,rendezvous=1000,rendezvous=0";
    let found = what_if(experiment, same).unwrap();
    if found.gains.iter().all(|gain| !gain.deadlocks) {
        rises(same);
    }
    let added = rises("same,add=50,add=100");
    if 2 * added[1] > added[0] + added[2] + 1 {
        broken.push(format!("add is not convex: {added:?}"));
    }
    for change in ["remove=MPI_Barrier", "remove=MPI_Allreduce", "overlap=MPI_Recv", "overlap=MPI_Waitall"] {
        match what_if(experiment, &format!("{change},same")) {
            Ok(found) if !ticks(&found).is_sorted() => broken.push(format!("{change} is slower")),
            Ok(_) => {}
            Err(error) => assert!(error.contains("no call path"), "{error}"),
        }
    }
    broken
}

#[test]
fn laws_hold_on_all_archives() {
    for experiment in archives() {
        assert_eq!(broken_laws(&experiment), [""; 0], "{}", name(&experiment));
    }
}

#[test]
fn laws_hold_on_generated_traces_whatever_their_clocks() {
    let directory = in_memory();
    for pattern in PATTERNS {
        for (clocks, drift, clock_error) in [("right", 0.0, 0), ("wrong", 1.0, 20_000)] {
            let experiment = directory.path().join(format!("{}-{clocks}", pattern.name));
            let job = Job { seed: 11, drift, clock_error, ..Job::new(pattern, 6, 400) };
            generate::generate(&job, &experiment).unwrap();
            let broken = broken_laws(&experiment);
            assert_eq!(broken, [""; 0], "{} with clocks that are {clocks}", pattern.name);
        }
    }
}

#[test]
fn nothing_different_gives_every_time_of_random_traces() {
    for seed in 0..500 {
        let directory = in_memory();
        let trace = match seed % 3 {
            0 => random::trace(seed),
            1 => program(seed).0,
            _ => random_tasks::trace(seed, seed % 2 == 0),
        };
        write::write(&trace, directory.path());
        let summary = what_if(directory.path(), "same").unwrap();
        assert_eq!((summary.gains[0].moved, summary.gains[0].ticks), (0, summary.run_ticks), "seed {seed}");
    }
}

#[test]
fn run_times_do_not_depend_on_workers() {
    let scenarios = "same,ideal,fitted,level=auto,add=10,eager=all,latency=2,balance=main,cpu=0.5,remove=main,early-send=main,\
                     quiet,overlap=main,rendezvous=0,rendezvous=64+quiet=main,latency=0.5+bandwidth=2";
    for name in ["wrong_order.4", "nxn.8", "hybrid.3x3", "nbcoll.4", "master_worker.6", "skewed.4"] {
        let directory = in_memory();
        let options = asking(&archive(name), &directory.path().join("trace.cubex"), scenarios);
        let alone =
            replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap().summary.unwrap().what_if;
        for (processes, threads) in [(1, 2), (2, 1), (3, 1), (2, 2)] {
            let mut outcomes = workers::analyze_with(&Options { threads, ..options.clone() }, processes);
            let summary = outcomes.swap_remove(0).unwrap().summary.unwrap();
            assert_eq!(summary.what_if, alone, "{name} on {processes} times {threads}");
        }
    }
}

#[test]
fn values_of_the_report_are_the_same_whether_or_not_something_else_is_asked() {
    for experiment in [archive("late_sender_nb.4"), archive("hybrid.2x3"), archive("rma.4")] {
        let directory = in_memory();
        let [plain, asked] = ["plain.cubex", "asked.cubex"].map(|name| directory.path().join(name));
        analyze(&experiment, &plain, Semantics::Corrected).unwrap();
        let what_if = Some(WhatIf::parse("ideal").unwrap());
        let options = Options { what_if, ..options(&experiment, &asked, Semantics::Corrected) };
        replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap();
        let [[_, before], [_, behind]] = [&plain, &asked].map(|report| written(report));
        assert!(before == behind, "{}: statistics", name(&experiment));
        assert_eq!(Table::read(&plain).named(), Table::read(&asked).named(), "{}", name(&experiment));
        let [before, behind] = [&plain, &asked].map(|report| Report::open(report).unwrap());
        for member in [MANIFEST, "replay.grid.table", "replay.series_values.table"] {
            assert!(before.member(member).unwrap() == behind.member(member).unwrap(), "{member}");
        }
        assert_eq!(before.member(WHAT_IF).unwrap(), None);
    }
}

/// The attributes that a report with this member has, and those that it must not have.
fn attributes_of(file: &WhatIfFile) -> Vec<(String, Option<String>)> {
    let times = file.scenarios.iter().map(|it| {
        (format!("Replay::What-if::{}", it.name), it.seconds.map(|seconds| format!("{seconds:.9}")))
    });
    let trust = [
        ("unexplained", format!("{:.6}", file.trust.unexplained)),
        ("kept", format!("{:.6}", file.trust.kept)),
        ("model error", format!("{:.6}", file.trust.model_error)),
        ("choices", file.trust.choices.to_string()),
        ("would come otherwise", file.trust.would_come_otherwise.to_string()),
    ];
    let trust = trust.map(|(name, value)| (format!("Replay::What-if trust::{name}"), Some(value)));
    times.chain(trust).collect()
}

#[test]
fn report_has_the_run_times_for_programs_and_they_keep_to_the_schema() {
    let directory = in_memory();
    let mut judge = None;
    let has_schemas = |python: &PathBuf| {
        Command::new(python).args(["-c", "import jsonschema"]).output().is_ok_and(|it| it.status.success())
    };
    if let Some(python) = python().filter(has_schemas) {
        let mut check = Command::new(python);
        check.arg(project("replay/show/tests/export/judges/schema.py"));
        check.arg(project("docs/schemas/replay-what-if.json"));
        judge = Some(check);
    }
    for experiment in archives() {
        let report = directory.path().join("trace.cubex");
        let options = Options { phases: vec!["main".into()], ..asking(&experiment, &report, "") };
        let summary = replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap().summary.unwrap();
        let summary = summary.what_if.unwrap();
        let report = Report::open(&report).unwrap();
        let bytes = report.member(WHAT_IF).unwrap().unwrap();
        let file = WhatIfFile::parse(&bytes).unwrap();
        let found: Vec<i64> = file.scenarios.iter().filter_map(|scenario| scenario.ticks).collect();
        let known = summary.gains.iter().filter(|gain| gain.has_time());
        assert_eq!(
            (found, file.run_time.ticks),
            (known.map(|gain| gain.ticks).collect(), summary.run_ticks),
            "{}",
            name(&experiment)
        );
        for (name, value) in attributes_of(&file) {
            let of = |attribute: &&cubex::Attribute| attribute.key == name;
            assert_eq!(report.cube().attributes.iter().find(of).map(|it| it.value.clone()), value, "{name}");
        }
        // What it says can be asked for.
        assert!(file.scenarios.iter().all(|scenario| WhatIf::parse(&scenario.name).is_ok()));
        let path = directory.path().join(format!("{}.json", name(&experiment)));
        std::fs::write(&path, bytes).unwrap();
        if let Some(check) = &mut judge {
            check.arg(&path);
        }
    }
    if let Some(mut check) = judge {
        run::run(&mut check).expect(0);
    }
}

#[test]
fn call_path_that_is_nowhere_ends_the_analysis_with_a_message() {
    let experiment = archive("barrier.4");
    let error = what_if(&experiment, "remove=MPI_Bcast").unwrap_err();
    assert!(error.contains("\"MPI_Bcast\""), "{error}");
    let error = what_if(&experiment, "level=main@7").unwrap_err();
    assert!(error.contains("rank 7"), "{error}");
    let finished = run::analyze([experiment.to_str().unwrap(), "--what-if=faster"]);
    finished.expect(2);
    assert!(finished.stderr.contains("faster is no scenario"), "{}", finished.stderr);
}

/// Load balance, serialisation and transfer of archives, from the same model.
const EFFICIENCIES: [(&str, [f64; 3]); 4] = [
    ("imbalance_chain.4", [0.3451, 0.7255, 0.9961]),
    ("nxn.8", [0.3733, 0.3353, 0.9889]),
    ("rooted.4", [0.6252, 0.6666, 0.9979]),
    ("master_worker.6", [0.8654, 0.9242, 0.9560]),
];

#[test]
fn efficiencies_of_archives_are_those_of_the_model() {
    for (name, wanted) in EFFICIENCIES {
        let efficiency = what_if(&archive(name), "same").unwrap().efficiency.unwrap();
        let found = [efficiency.load_balance(), efficiency.serialisation(), efficiency.transfer()];
        let is_near = |(found, wanted): (f64, f64)| (found - wanted).abs() < 0.00005;
        assert!(found.into_iter().zip(wanted).all(is_near), "{name}: {found:?}");
    }
}

#[test]
fn efficiencies_without_replay_are_those_of_the_model() {
    for (name, [balance, serialisation, transfer]) in EFFICIENCIES {
        let directory = in_memory();
        let report = directory.path().join("trace.cubex");
        let outcome = analyze(&archive(name), &report, Semantics::Corrected).unwrap();
        let summary = outcome.summary.unwrap();
        let facts = summary.efficiency.unwrap();
        let found = [facts.load_balance(), facts.communication(), facts.parallel()];
        let wanted = [balance, serialisation * transfer, balance * serialisation * transfer];
        let is_near = |(found, wanted): (f64, f64)| (found - wanted).abs() < 0.0001;
        assert!(found.into_iter().zip(wanted).all(is_near), "{name}: {found:?}");
        assert_eq!((facts.ideal, facts.serialisation()), (None, None));
        let attributes = Report::open(&report).unwrap().cube().attributes.clone();
        let ranks = attributes.iter().find(|it| it.key == "Replay::Efficiency::ranks").unwrap();
        assert_eq!(ranks.value, facts.ranks.to_string());
        let line = format!("= load balance {:.1} % · communication", 100.0 * balance);
        assert!(summary.to_string().contains(&line), "{name}");
    }
}

#[test]
fn standard_set_is_sorted_by_gain_and_together_gains_no_less_than_its_best() {
    for experiment in archives() {
        let summary = what_if(&experiment, "").unwrap();
        assert!(ticks(&summary).is_sorted(), "{}", name(&experiment));
        let is_of_several = |scenario: &str| scenario.contains('+');
        for gain in &summary.gains {
            let parts = gain.scenario.to_string();
            if !is_of_several(&parts) {
                continue;
            }
            for part in parts.split('+') {
                let alone = summary.gains.iter().find(|other| other.scenario.to_string() == part).unwrap();
                // To share work evenly may be slower beside something else.
                assert!(
                    parts.contains("balance") || gain.ticks <= alone.ticks,
                    "{}: {parts}",
                    name(&experiment)
                );
            }
        }
    }
}

/// By archive: messages in a row that decide, and the steps of operations of many.
const IN_A_ROW: [(&str, [u64; 2]); 3] =
    [("imbalance_chain.4", [9, 6]), ("imbalance_chain.8", [21, 9]), ("barrier.4", [0, 6])];

#[test]
fn what_messages_may_take_longer_is_what_makes_the_run_so_much_longer() {
    for (name, wanted) in IN_A_ROW {
        let summary = what_if(&archive(name), "").unwrap();
        let latency = summary.latency.unwrap();
        assert_eq!([latency.messages, latency.steps], wanted, "{name}");
    }
    let latency = what_if(&archive("imbalance_chain.4"), "").unwrap().latency.unwrap();
    for (wanted, found) in [112.1, 224.2, 560.4].into_iter().zip(latency.tolerance) {
        assert!((1e6 * found.unwrap() - wanted).abs() < 0.05, "{wanted} µs: {found:?}");
    }
}

#[test]
fn sends_that_would_wait_for_each_other_deadlock_and_have_no_run_time() {
    // The receives take the messages in another order than they are sent in.
    let summary = what_if(&archive("wrong_order.4"), "rendezvous=0,same").unwrap();
    assert_eq!([summary.gains[0].deadlocks, summary.gains[1].deadlocks], [true, false]);
    assert!(summary.to_string().contains("would deadlock"), "{summary}");
    let summary = what_if(&archive("late_sender.4"), "rendezvous=0,same").unwrap();
    assert!(!summary.gains[0].deadlocks && summary.gains[0].ticks >= summary.run_ticks);
}

/// With root causes.
fn without(experiment: &Path, scenarios: &str) -> Result<WhatIfSummary, String> {
    let directory = in_memory();
    let options = asking(experiment, &directory.path().join("trace.cubex"), scenarios);
    let options = Options { causes: true, ..options };
    let outcome = replay::analyze(&options, &mut Solo, &mut Progress::silent());
    Ok(outcome.map_err(|error| error.to_string())?.summary.unwrap().what_if.unwrap())
}

#[test]
fn without_delays_of_a_rank_the_run_is_as_if_it_did_as_much_as_those_that_waited() {
    // Rank 0 works 20 ms in each of 3 rounds, the others work 2.5 ms one after the other: without the delay all begin at once.
    let summary = without(&archive("imbalance_chain.4"), "without=work@0,level=work@0,without=main").unwrap();
    let [delays, level, all] = [0, 1, 2].map(|at| summary.gains[at].ticks);
    assert!(delays < summary.run_ticks && all <= delays, "{summary}");
    assert!(level < summary.run_ticks);
    for name in ["late_sender.4", "rooted.5", "nxn.8", "hybrid.3x3", "rma.4", "nbcoll.4"] {
        let found = ticks(&without(&archive(name), "without=main+ideal,without=main,same").unwrap());
        assert!(found.is_sorted(), "{name}: {found:?}");
    }
    let error = what_if(&archive("late_sender.4"), "without=main").unwrap_err();
    assert!(error.contains("root causes"), "{error}");
}

#[test]
fn example_in_the_readme_is_what_the_analyzer_prints() {
    let summary = what_if(&archive("imbalance_chain.4"), "").unwrap().to_string();
    let readme = include_str!("../README.md");
    for line in summary.lines().filter(|line| !line.is_empty()) {
        assert!(readme.contains(&format!("    {line}\n")), "not in the README: {line}");
    }
    // The example says that to share the work gains nothing.
    let shared = what_if(&archive("imbalance_chain.4"), "balance=imbalance_chain/work").unwrap();
    assert!(shared.gains[0].gain.abs() < 0.0005, "{shared}");
}

#[test]
fn scenarios_do_not_depend_on_others_whose_messages_wait_for_their_receives() {
    let alone = what_if(&archive("wrong_order.4"), "rendezvous=10000000").unwrap().gains.remove(0);
    let beside = what_if(&archive("wrong_order.4"), "rendezvous=0,rendezvous=10000000").unwrap().gains;
    assert_eq!((beside[0].deadlocks, &beside[1]), (true, &alone));
    assert!(!alone.deadlocks && alone.moved == 0);
}

#[test]
fn efficiencies_are_not_known_where_events_are_lost() {
    let directory = in_memory();
    for lost in ["all", "one"] {
        let experiment = directory.path().join(lost);
        copy(&archive("imbalance_chain.4"), &experiment);
        for location in if lost == "all" { 0..4 } else { 2..3 } {
            std::fs::remove_file(experiment.join(format!("traces/{location}.evt"))).unwrap();
        }
        for scenarios in ["", "ideal,same,cpu=0.5"] {
            let summary = what_if(&experiment, scenarios).unwrap();
            assert_eq!(summary.efficiency, None, "{lost}");
            assert!(summary.gains.iter().all(|gain| gain.seconds < 1.0), "{lost}: {summary}");
        }
        let report = directory.path().join("trace.cubex");
        let options = Options { phases: vec!["main".into()], ..asking(&experiment, &report, "same") };
        let outcome = replay::analyze(&options, &mut Solo, &mut Progress::silent());
        // A phase that is nowhere is refused.
        if lost == "one" {
            let summary = outcome.unwrap().summary.unwrap();
            assert_eq!(summary.what_if.as_ref().unwrap().phases, []);
            assert!(summary.to_string().contains("Efficiencies are not known"), "{summary}");
        }
    }
}

#[test]
fn scenario_that_the_messages_do_not_tell_is_not_known_and_one_without_its_kind_says_so() {
    // All its messages have the same length; and it has none.
    for (name, known) in [("late_receiver.4", [true, false]), ("nxn.8", [false, false])] {
        let summary = what_if(&archive(name), "latency=2,bandwidth=0.5,latency=1").unwrap();
        let found: Vec<bool> = summary.gains.iter().map(|gain| !gain.is_unknown).collect();
        assert_eq!(found, [known[0], known[1], true], "{name}: {summary}");
        assert!(summary.to_string().contains("not known"), "{summary}");
    }
    let summary = what_if(
        &archive("late_sender.4"),
        "remove=MPI_Recv,cpu=2@MPI_Recv,early-send=MPI_Recv,overlap=MPI_Send",
    )
    .unwrap();
    assert!(summary.gains.iter().all(|gain| gain.is_void && gain.moved == 0), "{summary}");
    let summary = what_if(&archive("late_sender.4"), "overlap=MPI_Recv,cpu=2,early-send=MPI_Send").unwrap();
    assert!(summary.gains.iter().all(|gain| !gain.is_void), "{summary}");
}
